"""Write a project's texts, known pairs and split as files, so that an experiment reads them like any others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.corpus.fields import joined_values
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import Kind, Side, Split
from allpairs.db.labels.withdrawn import texts_present
from allpairs.db.projects.items import present
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.tables import Answer, Gold, Item
from allpairs.learner.jobs.data.project_data import read_labels, read_project

Files = dict[str, Any]
Row = tuple[Any, ...]


def write_project_files(session: Session, project_id: int, folder: Path) -> Files:
    """Write the project's files and return them by role, as an experiment names them; ids are the item ids.

    Records keep their columns, as `columns`, if it is known what these hold. Positives that follow from others by
    closure are left out: every reader computes the closure again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    item_rows = select(Item.id, Item.side, Item.split, Item.text, Item.field_lengths).where(*present(project_id))
    items: list[Row] = [tuple(row) for row in session.execute(item_rows.order_by(Item.id))]
    project = project_of(session, project_id)
    columns = TextColumns.read(project.text_columns)
    columns = columns if columns and columns.kinds else None
    project_gold = Gold.project_id == project_id, ~Gold.closure, texts_present(Gold, project_id)
    known = select(Gold.left_id, Gold.right_id, Gold.positive).where(*project_gold)
    gold = [(str(left), str(right), int(positive)) for left, right, positive in session.execute(known)]
    id_ = _free_column_name(columns)
    files = {"left": _texts(folder / "left.parquet", items, Side.LEFT, columns, id_)}
    if project.kind == Kind.BIPARTITE:
        files["right"] = _texts(folder / "right.parquet", items, Side.RIGHT, columns, id_)
    if gold:
        files["gold"] = write_parquet(folder / "gold.parquet", ("id1", "id2", "label"), gold)
    splits = [(str(item), Side(side).value, Split(split).value) for item, side, split, *_ in items]
    files["split"] = write_parquet(folder / "split.parquet", ("id", "side", "split"), splits)
    paths: Files = {name: str(path) for name, path in files.items()}
    return paths | ({"columns": columns.as_dict(), "id_column": id_} if columns else {})


def write_labels(session: Session, project_id: int, folder: Path) -> str:
    """Write the labels that train and return the file's path; ids are the item ids."""
    data = read_project(session, project_id)
    newest = session.scalar(select(func.max(Answer.id)).where(Answer.project_id == project_id)) or 0
    labelled = read_labels(session, project_id, data, newest)
    left = data.item_ids[labelled.left].astype(str)
    right = data.item_ids[labelled.right].astype(str)
    rows = list(zip(left.tolist(), right.tolist(), labelled.label.tolist(), strict=True))
    return str(write_parquet(folder / "labels.parquet", ("id1", "id2", "label"), rows))


def _free_column_name(columns: TextColumns | None) -> str:
    """Return a name for the column of ids that no text column has."""
    column_names = {name for names in columns.names.values() for name in names} if columns else set()
    name = "id"
    while name in column_names:
        name += "_"
    return name


def _texts(path: Path, items: list[Row], side: Side, columns: TextColumns | None, id_column: str) -> Path:
    names = ("text",) if columns is None else tuple(columns.names[side])
    several = len(names) > 1
    rows = [
        (str(id_), *(joined_values(text, lengths) if several else [text]))
        for id_, item_side, _, text, lengths in items
        if item_side == side
    ]
    return write_parquet(path, (id_column, *names), rows)


def write_parquet(path: Path, names: tuple[str, ...], rows: Sequence[Row]) -> Path:
    """Write the rows under these column names and return the path."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    pyarrow.parquet.write_table(pyarrow.table([pyarrow.array(column) for column in columns], names=list(names)), path)
    return path
