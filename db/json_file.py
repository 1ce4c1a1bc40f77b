"""Files of JSON that one process writes and others read."""

import json
from pathlib import Path
from typing import Any

from db.aside import aside


def write_json(path: Path, content: Any) -> None:
    """Nothing; the file holds this, and its folder is there. Whoever reads meanwhile sees a whole file."""
    with aside(path) as part:
        part.write_text(json.dumps(content))
