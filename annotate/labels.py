"""Labels out of a project, as tables for people and as training data for sentence-transformers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotate.tables import write_table, writer_for
from db.domain import AnswerKind, Kind
from db.engine import reading
from db.items import first_identifiers, item_texts
from db.labels import LabelRow, label_rows
from db.projects import project_named


class Form(StrEnum):
    """The forms of an export."""

    LABELS = "labels"  # everything about each label
    PAIRS = "pairs"  # sentence1, sentence2, label
    TRIPLETS = "triplets"  # anchor, positive, negative


COLUMNS: dict[Form, dict[str, type]] = {
    Form.LABELS: {
        "id1": str,
        "id2": str,
        "text1": str,
        "text2": str,
        "label": int,
        "answer": str,
        "annotator": str,
        "round": int,
        "strategy": str,
        "score": float,
        "created_at": str,
    },
    Form.PAIRS: {"sentence1": str, "sentence2": str, "label": int},
    Form.TRIPLETS: {"anchor": str, "positive": str, "negative": str},
}

NUMBERS = {AnswerKind.POSITIVE: 1, AnswerKind.NEGATIVE: 0}  # unsure has none


@dataclass(frozen=True)
class _Labels:
    kind: Kind
    rows: list[LabelRow]
    ids: dict[int, str]
    texts: dict[int, str]


def export_labels(engine: Engine, project: str, path: Path, form: Form = Form.LABELS) -> int:
    """The number of rows written to the file, whose ending chooses CSV, JSON Lines or Parquet.

    Raises InputError where there is no such project, or no such file can be written.
    """
    writer_for(path)
    with reading(engine) as session:
        labels = _read(session, project)
    return write_table(path, COLUMNS[form], _FORMS[form](labels))


def _read(session: Session, project: str) -> _Labels:
    found = project_named(session, project)
    rows = label_rows(session, found.id)
    items = set(chain.from_iterable((row.left_id, row.right_id) for row in rows))
    return _Labels(Kind(found.kind), rows, first_identifiers(session, items), item_texts(session, items))


def _label_table(labels: _Labels) -> Iterator[tuple[Any, ...]]:
    for row in labels.rows:
        ids = labels.ids[row.left_id], labels.ids[row.right_id]
        texts = labels.texts[row.left_id], labels.texts[row.right_id]
        provenance = row.annotator, row.round, row.strategy, row.score, row.created_at.isoformat()
        yield (*ids, *texts, NUMBERS.get(row.answer), row.answer.value, *provenance)


def _pairs(labels: _Labels) -> Iterator[tuple[Any, ...]]:
    for row in labels.rows:
        if row.answer in NUMBERS:
            yield labels.texts[row.left_id], labels.texts[row.right_id], NUMBERS[row.answer]


def _triplets(labels: _Labels) -> Iterator[tuple[Any, ...]]:
    """Every positive and every negative of each anchor at least once; anchors without either give none."""
    partners: dict[int, dict[AnswerKind, list[int]]] = {}
    for row in labels.rows:
        for anchor, partner in _anchored(row, labels.kind):
            partners.setdefault(anchor, {}).setdefault(row.answer, []).append(partner)
    for anchor, of in partners.items():
        positives, negatives = of.get(AnswerKind.POSITIVE, []), of.get(AnswerKind.NEGATIVE, [])
        for positive, negative in _combined(positives, negatives):
            yield labels.texts[anchor], labels.texts[positive], labels.texts[negative]


def _anchored(row: LabelRow, kind: Kind) -> Iterable[tuple[int, int]]:
    both = (row.left_id, row.right_id), (row.right_id, row.left_id)
    return both if kind == Kind.SYMMETRIC else both[:1]


def _combined(positives: list[int], negatives: list[int]) -> Iterator[tuple[int, int]]:
    length = max(len(positives), len(negatives))
    return islice(zip(cycle(positives), cycle(negatives), strict=False), length)


_FORMS = {Form.LABELS: _label_table, Form.PAIRS: _pairs, Form.TRIPLETS: _triplets}
