"""Write a project's texts, known pairs and split as files, so that an experiment reads them like any others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import Kind, Side, Split
from allpairs.db.schema.tables import Gold, Item, Project

Files = dict[str, Any]
Row = tuple[Any, ...]


def write_data(session: Session, project_id: int, folder: Path) -> Files:
    """Write the project's files and return them by role, as an experiment names them; ids are the item ids.

    Positives that follow from others by closure are left out: every reader computes the closure again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    columns = select(Item.id, Item.side, Item.split, Item.text).where(Item.project_id == project_id)
    items: list[Row] = [tuple(row) for row in session.execute(columns.order_by(Item.id))]
    known = select(Gold.left_id, Gold.right_id, Gold.positive).where(Gold.project_id == project_id, ~Gold.closure)
    gold = [(str(left), str(right), int(positive)) for left, right, positive in session.execute(known)]
    kind = session.get_one(Project, project_id).kind
    files = {"left": _texts(folder / "left.parquet", items, Side.LEFT)}
    if kind == Kind.BIPARTITE:
        files["right"] = _texts(folder / "right.parquet", items, Side.RIGHT)
    files["gold"] = write_parquet(folder / "gold.parquet", ("id1", "id2", "label"), gold)
    splits = [(str(id_), Side(side).value, Split(split).value) for id_, side, split, _ in items]
    files["split"] = write_parquet(folder / "split.parquet", ("id", "side", "split"), splits)
    return {name: str(path) for name, path in files.items()}


def _texts(path: Path, items: list[Row], wanted: Side) -> Path:
    return write_parquet(path, ("id", "text"), [(str(id_), text) for id_, side, _, text in items if side == wanted])


def write_parquet(path: Path, names: tuple[str, ...], rows: Sequence[Row]) -> Path:
    """Write the rows under these column names and return the path."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    pyarrow.parquet.write_table(pyarrow.table([pyarrow.array(column) for column in columns], names=list(names)), path)
    return path
