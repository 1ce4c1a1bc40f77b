"""What all commands share: the database, results on stdout, remarks and errors on stderr."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NoReturn

import typer
from sqlalchemy import Engine

from db.errors import InputError
from db.maintenance.error_messages import in_words
from db.maintenance.upgrade import upgrade
from db.schema.engine import make_engine

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def group(about: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(help=about, add_completion=False, rich_markup_mode=None)


def database() -> Engine:
    """Upgrade the tables if needed, and return the engine."""
    upgrade()
    return make_engine()


def print_json(result: Any) -> None:
    """Print the result as JSON on stdout."""
    print(json.dumps(result, indent=2, ensure_ascii=False))


def print_columns(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with aligned columns on stdout."""
    table = [list(header), *([" ".join(str(cell).split()) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def remark(text: str) -> None:
    """Print a note on stderr."""
    print(f"note: {text}", file=sys.stderr)


def progress_line(stage: str, done: float) -> None:
    """Show progress on stderr if it is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{stage}: {done:.0%}\r", end="", file=sys.stderr, flush=True)


def run(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Run the command line; without arguments show its help.

    Exits with code 0, 1 (failed) or 2 (bad input), and prints an error in one line.
    """
    try:
        raise SystemExit(app(list(arguments) or ["--help"], standalone_mode=False))
    except InputError as error:
        _fail(str(error), 2)
    except typer.TyperException as error:
        _fail(error.format_message(), error.exit_code)
    except Exception as error:  # a traceback is of no use to whoever typed the command
        _fail(in_words(error) or f"{type(error).__name__}: {error}", 1)


def _fail(message: str, code: int) -> NoReturn:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    raise SystemExit(code)
