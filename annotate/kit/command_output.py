"""What all commands share: the database, results on stdout, remarks on stderr."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from sqlalchemy import Engine

from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.schema.engine import make_engine

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


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
