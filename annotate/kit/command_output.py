"""What all commands share: the database, results on stdout, remarks on stderr."""

import json
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from sqlalchemy import Engine

from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.schema.engine import make_engine

Command = TypeVar("Command", bound=Callable[..., None])
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def upgraded_engine() -> Engine:
    """Upgrade the tables if needed, and return the engine."""
    upgrade()
    return make_engine()


def with_options(model: type[BaseModel], without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Give a command an option for each field of a model, with the field's description and default."""

    def decorate(command: Command) -> Command:
        parameters = [part for part in signature(command).parameters.values() if part.kind != Parameter.VAR_KEYWORD]
        for name, field in model.model_fields.items():
            if name not in without:
                default = Parameter.empty if field.is_required() else field.default
                option = Annotated[field.annotation, typer.Option(help=field.description)]  # type: ignore[name-defined]
                parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option))
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return command

    return decorate


def print_json(result: Any) -> None:
    """Print the result, which may hold models and times, as JSON on stdout."""
    print(json.dumps(to_jsonable_python(result), indent=2, ensure_ascii=False))


def print_columns(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with aligned columns on stdout."""
    table = [list(header), *([" ".join(str(cell).split()) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def remark(text: str) -> None:
    """Print a note on stderr."""
    print(f"note: {text}", file=sys.stderr)


def progress_line(stage: str, fraction: float) -> None:
    """Show progress on stderr if it is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{stage}: {fraction:.0%}\r", end="", file=sys.stderr, flush=True)
