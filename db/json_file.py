"""Files of JSON that one process writes and others read."""

import json
import os
from pathlib import Path
from typing import Any


def write_json(path: Path, content: Any) -> None:
    """Nothing; the file holds this, and its folder is there. Whoever reads meanwhile sees a whole file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(f".{os.getpid()}.tmp")
    aside.write_text(json.dumps(content))
    aside.replace(path)
