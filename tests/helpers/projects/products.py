"""A project of two lists of products whose files have several text columns, partly of the same names."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy import Engine

from allpairs.annotate.projects.import_files import Source, load
from allpairs.annotate.projects.projects import create_project
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Settings
from tests.helpers.factories import make_round

NAME = "Products"
LEFT, RIGHT = ("title", "maker", "list_price"), ("name", "List price", "maker", "year")
SHOP = [("Paint 5", "Corel", "9.99"), ("  Draw . 2 ", "", "10")]
OTHER = [("Paint", "9.9", "corel", "2004"), ("Sketch", "", "", "")]
# The columns of the first pair and of the last one.
FIRST = (
    ("title / name", "Paint 5", "Paint"),
    ("maker", "Corel", "corel"),
    ("list_price", "9.99", "9.9"),
    ("year", "", "2004"),
)
LAST = (("title / name", "Draw . 2", "Sketch"), ("list_price", "10", ""))


def write_list(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    """Write a file with an id and these columns."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("id", *columns))
        writer.writerows((f"{path.stem}-{place}", *row) for place, row in enumerate(rows))
    return path


def make_products(engine: Engine, folder: Path) -> int:
    """Make the project from its files, with a batch of all four pairs, and return its id."""
    left, right = write_list(folder / "a.csv", LEFT, SHOP), write_list(folder / "b.csv", RIGHT, OTHER)
    source = Source(left, Columns("id", LEFT), right, Columns("id", RIGHT))
    project_id = create_project(engine, NAME, load(source), Settings(auto_train=False, evaluation_share=0.0))
    make_round(engine, project_id, 4)
    return project_id
