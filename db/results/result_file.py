"""The file that a job wrote, as the value it holds."""

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from allpairs.db.files.json_file import read_json

Result = TypeVar("Result")
_adapter: Any = cache(TypeAdapter)


def read_result(path: Path, kind: type[Result]) -> Result | None:
    """Return the content of the file as this kind of value, such as a dataclass; None if there is no file."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        return None
    result: Result = _adapter(kind).validate_python(content)
    return result
