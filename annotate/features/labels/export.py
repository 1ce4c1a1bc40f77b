"""Export of labels: as one table, or as a folder that Hugging Face's `datasets` loads."""

import shutil
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.labels.dataset_card import CONFIGS, SPLITS, dataset_card
from allpairs.annotate.features.labels.formats import COLUMNS, NUMBERS, Form, LabelExport, table
from allpairs.db.corpus.implied import implied
from allpairs.db.corpus.table_files import write_table, writer_for
from allpairs.db.domain import AnswerKind, DesignKind, Kind, Purpose, Settings, Split
from allpairs.db.errors import InputError
from allpairs.db.labels.audits import audit_labels, designs_of
from allpairs.db.labels.labels import LabelRow, history_rows, label_rows
from allpairs.db.labels.pairs import splits_of
from allpairs.db.labels.withdrawn import withdrawn_items
from allpairs.db.projects.items import item_texts, known_identifiers
from allpairs.db.projects.projects import project_named, project_of
from allpairs.db.raters.verdicts import all_verdicts
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import PairVerdict, Project


def export_labels(
    engine: Engine, project: str, path: Path, form: Form = Form.LABELS, noted: bool = False, for_people: bool = False
) -> int:
    """Write the labels to the file as CSV, JSON Lines or Parquet, by its suffix; return the number of rows.

    noted: only answers with a note; for_people: as in `write_table`. Raises InputError if there is no such
    project or the file cannot be written.
    """
    writer_for(path)
    with reading(engine) as session:
        labels = _read(session, project, form, noted)
    return write_table(path, COLUMNS[form], table(labels, form), for_people)


def export_dataset(engine: Engine, project: str, folder: Path) -> dict[str, int]:
    """Write a folder that `datasets.load_dataset(folder)` loads; return the number of labels in each split.

    It has one configuration for each form, and a separate split for audit labels; a split without rows has no file.
    Raises InputError if there is no such project or no label, and if the folder exists.
    """
    if folder.exists():
        raise InputError(f"{folder}: this folder exists already; name a new one")
    with reading(engine) as session:
        labels = _read(session, project, Form.LABELS)
        settings = Settings.model_validate(project_named(session, project).settings)
    if not labels.rows:
        raise InputError(f"{project!r} has no labels yet: label some pairs first")
    partial = folder.with_name(f".{folder.name}.part")
    try:
        partial.mkdir(parents=True)
        counts = {(form, split): _write_split(labels, partial, form, split) for form in CONFIGS for split in SPLITS}
        card = dataset_card(project, settings, {part: count for part, count in counts.items() if count})
        (partial / "README.md").write_text(card, encoding="utf-8")
        partial.replace(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot write the folder ({error.strerror or error})") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {split: counts[Form.LABELS, split] for split in SPLITS}


class Page(NamedTuple):
    """Rows with the columns of an export, where the next page starts, and whether there may be more now."""

    rows: list[dict[str, Any]]
    cursor: int
    more: bool


def page_of_labels(engine: Engine, project_id: int, after: int, limit: int) -> Page:
    """Return the first labels after the answer `after`, each for all ids of its texts.

    The cursor is the last answer's id; later it finds labels that were given or changed since.
    """
    with reading(engine) as session:
        rows = label_rows(session, project_id, after, limit)
        labels = _with_texts(session, project_of(session, project_id), rows, rows=rows)
    return _page(labels, Form.LABELS, rows[-1].answer_id if rows else after, len(rows) == limit)


def page_of_verdicts(engine: Engine, project_id: int, after: int, limit: int) -> Page:
    """Return the first verdicts after the verdict `after`."""
    with reading(engine) as session:
        rows = all_verdicts(session, project_id, after, limit)
        verdicts = [verdict for verdict, _ in rows]
        labels = _with_texts(session, project_of(session, project_id), verdicts, verdicts=rows)
    return _page(labels, Form.VERDICTS, verdicts[-1].id if verdicts else after, len(rows) == limit)


def _page(labels: LabelExport, form: Form, cursor: int, more: bool) -> Page:
    return Page([dict(zip(COLUMNS[form], row, strict=True)) for row in table(labels, form)], cursor, more)


def _write_split(labels: LabelExport, folder: Path, form: Form, split: str) -> int:
    part = labels.of(SPLITS[split])
    path = folder / form / f"{split}.parquet"
    if not any(True for _ in table(part, form)):
        return 0
    path.parent.mkdir(exist_ok=True)
    return write_table(path, COLUMNS[form], table(part, form))


def _read(session: Session, name: str, form: Form, noted: bool = False) -> LabelExport:
    project = project_named(session, name)
    if form == Form.VERDICTS:
        verdicts = all_verdicts(session, project.id)
        return _with_texts(session, project, [verdict for verdict, _ in verdicts], verdicts=verdicts)
    rows = list(history_rows(session, project.id)) if form == Form.HISTORY else label_rows(session, project.id)
    rows = [row for row in rows if row.note] if noted else rows
    audits = audit_labels(session, project.id, DesignKind.AUDIT)
    designs = designs_of(session, project.id, DesignKind.AUDIT)
    labels = _with_texts(session, project, rows, rows=rows, audits=audits, designs=designs)
    return replace(labels, implied=_implied(session, project, rows)) if form == Form.IMPLIED else labels


def _with_texts(
    session: Session, project: Project, pairs: Iterable[LabelRow | PairVerdict], **parts: Any
) -> LabelExport:
    """Return what to write, with the ids and texts of these pairs."""
    items = set(chain.from_iterable((pair.left_id, pair.right_id) for pair in pairs))
    ids = known_identifiers(session, items)
    texts = item_texts(session, items)
    withdrawn = frozenset(withdrawn_items(session, project.id))
    labels = LabelExport(Kind(project.kind), [], [], [], ids, texts, withdrawn=withdrawn)
    return replace(labels, **parts)


def _implied(session: Session, project: Project, rows: list[LabelRow]) -> list[tuple[int, int, bool]]:
    """Return the pairs that follow from training labels, and whether they match. Raises InputError for two lists."""
    if project.kind != Kind.SYMMETRIC:
        raise InputError(f"{project.name!r} compares two lists, but only labels within one list imply others")
    splits = splits_of(session, project.id, {item for row in rows for item in (row.left_id, row.right_id)})
    labels = [
        (row.left_id, row.right_id, row.answer == AnswerKind.POSITIVE)
        for row in rows
        if row.answer in NUMBERS
        and row.purpose == Purpose.TRAIN
        and splits.get(row.left_id) == splits.get(row.right_id) == Split.TRAIN
    ]
    left, right, positive = np.array(labels, dtype=np.int64).reshape(-1, 3).T
    follows = implied(np.column_stack([left, right]), positive == 1)
    return [(*pair, match) for pair, match in zip(follows.pairs.tolist(), follows.positive.tolist(), strict=True)]
