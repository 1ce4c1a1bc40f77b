"""Files of texts for tests: products in several columns, questions, and changes of a project's texts."""

import csv
import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy import Engine

from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.features.texts.change_texts import Act, Outcome, TextFile
from allpairs.annotate.kit import uploads as import_files
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Settings, Side
from tests.helpers.factories import make_round

PRODUCTS = "Products"
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
    source = import_files.Source(left, Columns("id", LEFT), right, Columns("id", RIGHT))
    project_id = create_project(
        engine, PRODUCTS, import_files.load(source), Settings(auto_train=False, evaluation_share=0.0)
    )
    make_round(engine, project_id, 4)
    return project_id


QUESTIONS = "id,text\n" + "".join(f"q{i},How do I do *{i}*?\n" for i in range(8)) + "q8,How do I do *1*?\n"


def write_questions(folder: Path) -> Path:
    """Write questions, known pairs, wrong ones, and a second list, and return the folder."""
    (folder / "q.csv").write_text(QUESTIONS)
    (folder / "gold.csv").write_text("id1,id2,label\nq0,q1,1\nq1,q2,1\nq3,q4,0\n")
    (folder / "bad.csv").write_text("id1,id2\nq0,q99\n")
    (folder / "right.csv.gz").write_bytes(gzip.compress(b"key,body\nr0,answer\n"))
    return folder


def source_of(folder: Path, texts: dict[str, str] | list[str], side: Side = Side.LEFT) -> TextFile:
    """Write a file of texts by id to add and change, or of ids to withdraw."""
    path, adds = folder / "texts.csv", isinstance(texts, dict)
    rows = [["id", "text"], *map(list, texts.items())] if isinstance(texts, dict) else [["id"], *([x] for x in texts)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return TextFile(path, Act.ADD if adds else Act.WITHDRAW, side)


def change(
    engine: Engine, folder: Path, texts: dict[str, str] | list[str], side: Side = Side.LEFT, name: str = "Questions"
) -> Outcome:
    """Add and change these texts by id, or withdraw these ids."""
    return change_texts.apply(engine, name, source_of(folder, texts, side))
