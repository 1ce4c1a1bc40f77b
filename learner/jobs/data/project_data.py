"""Read rows of the database as arrays for the learner, and turn results back into rows."""

from array import array
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Result, and_, select
from sqlalchemy.orm import Session

from allpairs.db.corpus.implied import implied
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import AnswerKind, Kind, Purpose, Settings, Side, Split
from allpairs.db.groups.decisions import known_by_decisions, standing_decisions, training_decisions
from allpairs.db.labels.answers import current_labels
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.tables import Gold, Item, Task
from allpairs.db.texts.changes import version_of_texts
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.loop.round import Batch
from allpairs.learner.models.cosine_bert import Labelled

ROWS = 10_000  # of a table, read at once
Alike = list[tuple[int, int, float]]  # left_id, right_id, similarity


@dataclass(frozen=True)
class ProjectData:
    """A project as arrays: row i of the dataset is the item `item_ids[i]` (ascending int64).

    A row never moves: texts that come later have higher ones, and withdrawn texts keep theirs. version: the number of
    the newest change of texts; added_in: (n,) the change that brought each text, 0 for those of the first files; None
    without any change. measuring: the rows of evaluation texts, withdrawn ones among them, ascending.
    """

    settings: Settings
    dataset: Dataset
    item_ids: np.ndarray
    version: int = 0
    added_in: np.ndarray | None = None
    measuring: np.ndarray | None = None

    def rows(self, item_ids: np.ndarray) -> np.ndarray:
        """Return the rows of these items."""
        return np.searchsorted(self.item_ids, item_ids)

    def within(self, rows: np.ndarray) -> "ProjectData":
        """Return the project with only these of its evaluation rows: an earlier population."""
        left, right = (
            np.intersect1d(side, rows) for side in (self.dataset.evaluation_left, self.dataset.evaluation_right)
        )
        return replace(self, dataset=replace(self.dataset, evaluation_left=left, evaluation_right=right))

    def measuring_by(self, version: int) -> np.ndarray:
        """Return the rows of the evaluation texts, withdrawn or not, that changes up to this one have brought."""
        if self.measuring is None or self.added_in is None:
            return np.union1d(self.dataset.evaluation_left, self.dataset.evaluation_right)
        rows: np.ndarray = self.measuring[self.added_in[self.measuring] <= version]
        return rows

    def in_pairs(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return which pairs of rows (n,) have no withdrawn text, (n,) bool."""
        withdrawn = np.concatenate([self.dataset.gone_left, self.dataset.gone_right])
        present: np.ndarray = ~(np.isin(left, withdrawn) | np.isin(right, withdrawn))
        return present


def read_project(session: Session, project_id: int, up_to: int | None = None) -> ProjectData:
    """Return the project's settings, texts, gold positives and known pairs; `up_to`: without items above this id."""
    project = project_of(session, project_id)
    project_items = (
        Item.project_id == project_id if up_to is None else and_(Item.project_id == project_id, Item.id <= up_to)
    )
    columns = TextColumns.read(project.text_columns)
    columns_read = (
        Item.id,
        Item.side,
        Item.split,
        Item.text,
        *([Item.field_lengths] if columns and columns.kinds else []),
    )
    rows = select(*columns_read).where(project_items).order_by(Item.id)
    item_ids, sides, splits, texts, lengths = _columns(session.execute(rows, execution_options={"yield_per": ROWS}))
    records = RecordTexts(texts, lengths, sides, columns) if columns and columns.kinds else None
    known = select(Gold.left_id, Gold.right_id, Gold.positive).where(Gold.project_id == project_id)
    known = known if up_to is None else known.where(Gold.left_id <= up_to, Gold.right_id <= up_to)
    gold = np.array([tuple(pair) for pair in session.execute(known)], dtype=np.int64).reshape(-1, 3)
    gold[:, :2] = np.searchsorted(item_ids, gold[:, :2])
    positives = gold[gold[:, 2] == 1, :2]
    dataset = make_dataset(texts, sides, splits, project.kind == Kind.SYMMETRIC, positives, gold, records)
    data = ProjectData(Settings.model_validate(project.settings), dataset, item_ids)
    return _changed(session, project_id, data, project_items)


def _changed(session: Session, project_id: int, data: ProjectData, project_items: ColumnElement[bool]) -> ProjectData:
    """Return the project without its withdrawn texts, and with what is known of the others' coming."""
    version = version_of_texts(session, project_id)
    later = session.execute(select(Item.id, Item.added_in).where(project_items, Item.added_in.is_not(None))).all()
    withdrawn = data.rows(
        np.array(session.scalars(select(Item.id).where(project_items, Item.withdrawn_at.is_not(None))).all())
    )
    if not (version or later or len(withdrawn)):
        return data
    added_in = np.zeros(len(data.item_ids), dtype=np.int32)
    items, changes = np.array([tuple(row) for row in later], dtype=np.int64).reshape(-1, 2).T
    added_in[data.rows(items)] = changes
    measuring = np.union1d(data.dataset.evaluation_left, data.dataset.evaluation_right)
    return replace(
        data, dataset=data.dataset.without(withdrawn), version=version, added_in=added_in, measuring=measuring
    )


def _columns(rows: Result[Any]) -> tuple[np.ndarray, list[Side], list[Split], list[str], list[list[int] | None]]:
    """Return ids, sides, splits and texts, using little memory besides the texts: there may be many millions.

    Also the lengths of the columns' values, if the rows have them.
    """
    ids = array("q")
    words = {member.value: member for member in (*Side, *Split)}  # one object for each, not one a row
    sides: list[Side] = []
    splits: list[Split] = []
    texts: list[str] = []
    lengths: list[list[int] | None] = []
    for part in rows.partitions():
        of_part = list(zip(*part, strict=True))
        ids.extend(of_part[0])
        sides.extend(words[value] for value in of_part[1])
        splits.extend(words[value] for value in of_part[2])
        texts.extend(of_part[3])
        lengths.extend(chain(*of_part[4:]))
    return np.array(ids, dtype=np.int64), sides, splits, texts, lengths


def read_labels(
    session: Session, project_id: int, data: ProjectData, cutoff: int, as_of: datetime | None = None
) -> Labelled:
    """Return the labels that may train, as of answer `cutoff`: no unsure, audit or evaluation pairs.

    Decisions on groups are labels, too (`training_decisions`), as of this moment. On one pair the newer one counts.
    """
    audits = set(session.scalars(select(Task.id).where(Task.project_id == project_id, Task.purpose == Purpose.AUDIT)))
    labels = {
        (label.left_id, label.right_id): label.answer == AnswerKind.POSITIVE
        for label in current_labels(session, project_id, cutoff)
        if label.answer != AnswerKind.UNSURE and label.task_id not in audits
    }
    standing = standing_decisions(session, project_id, as_of)
    labels |= {decision.pair: decision.same for decision in standing if decision.pair in labels}
    labels |= {decision.pair: decision.same for decision in training_decisions(session, project_id, as_of)}
    rows = [(left, right, answer) for (left, right), answer in labels.items()]
    left, right, answers = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    # one past the end, which no side has, for a text added meanwhile
    left = data.rows(left)
    right = data.rows(right)
    trains = np.isin(left, data.dataset.train_left) & np.isin(right, data.dataset.train_right)
    return Labelled(left[trains], right[trains], answers[trains])


def with_implied(labelled: Labelled, data: ProjectData) -> Labelled:
    """Add the labels implied by transitivity, if the project has one list and its settings ask for them.

    Raises InputError if too many pairs are implied.
    """
    if not (data.settings.implied and data.dataset.symmetric and len(labelled)):
        return labelled
    implied_labels = implied(np.column_stack([labelled.left, labelled.right]), labelled.label == 1)
    left, right = implied_labels.pairs.T
    return labelled.with_pairs(Labelled(left, right, implied_labels.positive.astype(labelled.label.dtype)))


def known_keys(session: Session, project_id: int, data: ProjectData) -> np.ndarray:
    """Return the keys of all answered and decided pairs, unsure ones included, so that no batch contains them again."""
    pairs = [(label.left_id, label.right_id) for label in current_labels(session, project_id)]
    pairs += known_by_decisions(session, project_id)
    pairs = [pair for pair in pairs if max(pair) <= data.item_ids[-1]]  # others are of texts added meanwhile
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return data.dataset.keys(data.rows(left), data.rows(right))


def tasks_of(
    batch: Batch, data: ProjectData, p: np.ndarray | None, alike: list[Alike], project_id: int, round_id: int
) -> list[dict[str, Any]]:
    """Return the columns of the batch's tasks, in order. alike: for each pair the most similar labelled pairs."""
    left = data.item_ids[batch.pairs.left].tolist()
    right = data.item_ids[batch.pairs.right].tolist()
    return [
        {
            "project_id": project_id,
            "round_id": round_id,
            "left_id": left[place],
            "right_id": right[place],
            "position": place,
            "strategy": batch.strategy,
            "score": float(batch.pairs.score[place]),
            "p": None if p is None else float(p[place]),
            "alike": alike[place],
        }
        for place in range(len(left))
    ]
