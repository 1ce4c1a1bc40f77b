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
from db.audits import AuditLabel, audit_labels, designs_of
from db.domain import AnswerKind, DesignKind, Kind, Purpose
from db.engine import reading
from db.items import first_identifiers, item_texts
from db.labels import LabelRow, label_rows
from db.models import Design
from db.projects import project_named


class Form(StrEnum):
    """The forms of an export."""

    LABELS = "labels"  # everything about each label
    PAIRS = "pairs"  # sentence1, sentence2, label
    TRIPLETS = "triplets"  # anchor, positive, negative
    AUDIT = "audit"  # labels that measure, with how each pair was drawn: what `learner evaluate --audit` reads


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
        "purpose": str,
    },
    Form.PAIRS: {"sentence1": str, "sentence2": str, "label": int},
    Form.TRIPLETS: {"anchor": str, "positive": str, "negative": str},
    Form.AUDIT: {"id1": str, "id2": str, "label": int, "inclusion": float, "stratum": int, "size": int},
}

NUMBERS = {AnswerKind.POSITIVE: 1, AnswerKind.NEGATIVE: 0}  # unsure has none


@dataclass(frozen=True)
class _Labels:
    kind: Kind
    rows: list[LabelRow]
    audits: list[AuditLabel]
    designs: list[Design]
    ids: dict[int, str]
    texts: dict[int, str]

    @property
    def training(self) -> Iterator[LabelRow]:
        """The labels that may train."""
        return (row for row in self.rows if row.purpose == Purpose.TRAIN)


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
    return _Labels(
        Kind(found.kind),
        rows,
        audit_labels(session, found.id, DesignKind.AUDIT),
        designs_of(session, found.id, DesignKind.AUDIT),
        first_identifiers(session, items),
        item_texts(session, items),
    )


def _label_table(labels: _Labels) -> Iterator[tuple[Any, ...]]:
    for row in labels.rows:
        ids = labels.ids[row.left_id], labels.ids[row.right_id]
        texts = labels.texts[row.left_id], labels.texts[row.right_id]
        provenance = row.annotator, row.round, row.strategy, row.score, row.created_at.isoformat(), row.purpose.value
        yield (*ids, *texts, NUMBERS.get(row.answer), row.answer.value, *provenance)


def _pairs(labels: _Labels) -> Iterator[tuple[Any, ...]]:
    for row in labels.training:
        if row.answer in NUMBERS:
            yield labels.texts[row.left_id], labels.texts[row.right_id], NUMBERS[row.answer]


def _triplets(labels: _Labels) -> Iterator[tuple[Any, ...]]:
    """Every positive and every negative of each anchor at least once; anchors without either give none."""
    partners: dict[int, dict[AnswerKind, list[int]]] = {}
    for row in labels.training:
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


def _audit_table(labels: _Labels) -> Iterator[tuple[Any, ...]]:
    """The pairs of the audited pool as the last update of the figures placed them in the newest design's strata."""
    if not labels.designs:
        return
    newest = labels.designs[-1]
    answers = {(label.left_id, label.right_id): label.answer for label in labels.audits}
    for left, right, stratum, inclusion in newest.details.get("sample", []):
        if answers.get((left, right)) in NUMBERS:
            label, size = NUMBERS[answers[left, right]], newest.strata[stratum]["size"]
            yield labels.ids[left], labels.ids[right], label, inclusion, stratum, size


_FORMS = {Form.LABELS: _label_table, Form.PAIRS: _pairs, Form.TRIPLETS: _triplets, Form.AUDIT: _audit_table}
