"""Files of JSON that one process writes and others read."""

import json
from pathlib import Path
from typing import Any

from db.files.artifacts import held, publishing
from db.files.atomic import atomic_write


def write_json(path: Path, content: Any) -> None:
    """Nothing; the file holds this, and its folder is there. Whoever reads meanwhile sees a whole file."""
    with publishing(path), atomic_write(path) as part:
        part.write_text(json.dumps(content))


def read_json(path: Path) -> Any:
    """What the file holds. Raises FileNotFoundError where there is none."""
    with held(path):
        return json.loads(path.read_text())
