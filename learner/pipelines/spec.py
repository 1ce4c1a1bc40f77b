"""A pipeline's configuration as a TOML file: a table `inputs`, and the keys of the catalog's model."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from allpairs.db.errors import InputError, first_wrong
from allpairs.learner.light.catalog import PIPELINES
from allpairs.learner.light.catalog.section import Section


def read_spec(name: str, path: Path) -> tuple[Section, Section]:
    """Return inputs and configuration from the file; paths are relative to it. Raises InputError, naming the key."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the file ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name}: not valid TOML ({error})") from None
    return make_spec(name, content, path)


def make_spec(name: str, content: dict[str, Any], path: Path) -> tuple[Section, Section]:
    """Return inputs and configuration of this content, as if read from the file at this path. Raises InputError."""
    entry = PIPELINES.get(name)
    if entry is None:
        raise InputError(f"there is no pipeline {name!r}: choose one of {', '.join(PIPELINES)}")
    inputs = content.get("inputs")
    if not isinstance(inputs, dict):
        required = ", ".join(name for name, field in entry.inputs.model_fields.items() if field.is_required())
        raise InputError(f"{path.name}: the table [inputs] is missing; it names the files: {required}")
    try:
        files = entry.inputs.model_validate(inputs)
    except ValidationError as error:
        raise InputError(f"{path.name}: inputs.{first_wrong(error, model=entry.inputs)}") from None
    try:
        config = entry.config.model_validate({key: value for key, value in content.items() if key != "inputs"})
    except ValidationError as error:
        raise InputError(f"{path.name}: {first_wrong(error, model=entry.config)}") from None
    placed = {
        key: str((path.parent / value).resolve()) if isinstance(value, str) else value
        for key, value in files.model_dump().items()
    }
    return entry.inputs.model_validate(placed), config
