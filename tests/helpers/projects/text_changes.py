"""Changes of a project's texts in tests, from files as people upload them."""

import csv
from pathlib import Path

from sqlalchemy import Engine

from allpairs.annotate.projects import change_texts
from allpairs.annotate.projects.change_texts import Act, Outcome, Source
from allpairs.db.domain import Side

NAME = "Questions"


def source_of(folder: Path, texts: dict[str, str] | list[str], side: Side = Side.LEFT) -> Source:
    """Write a file of texts by id to add and change, or of ids to withdraw."""
    path, adds = folder / "texts.csv", isinstance(texts, dict)
    rows = [["id", "text"], *map(list, texts.items())] if isinstance(texts, dict) else [["id"], *([x] for x in texts)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return Source(path, Act.ADD if adds else Act.WITHDRAW, side)


def change(
    engine: Engine, folder: Path, texts: dict[str, str] | list[str], side: Side = Side.LEFT, name: str = NAME
) -> Outcome:
    """Add and change these texts by id, or withdraw these ids."""
    return change_texts.apply(engine, name, source_of(folder, texts, side))
