"""Files of JSON that one process writes and others read."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from allpairs.db.files.artifacts import held, publishing
from allpairs.db.files.atomic import atomic_write


def write_json(path: Path, content: Any) -> None:
    """Write the file atomically and create its folder; readers always see a complete file. Dataclasses are objects."""
    with publishing(path), atomic_write(path) as part:
        part.write_text(json.dumps(content, default=asdict), encoding="utf-8")


def read_json(path: Path) -> Any:
    """Return the content of the file. Raises FileNotFoundError if there is none."""
    with held(path):
        return json.loads(path.read_text(encoding="utf-8"))
