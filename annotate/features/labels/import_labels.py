"""Import of labels from a file: none is stored twice, and a report covers every row that is not stored."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.labels.import_report import (
    HARMLESS,
    ImportProblem,
    ImportReport,
    Recorder,
    Trouble,
    recording,
)
from allpairs.annotate.frame.access.other_projects import project_for
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.corpus.cells import Ids, bad, plain_label, present_columns, shown
from allpairs.db.corpus.files import TableRow, column_names, read_rows
from allpairs.db.domain import LONGEST_NOTE, AnswerKind, EventKind, Kind, Side
from allpairs.db.labels.answers import Label, current_labels, store_answers, votes
from allpairs.db.people.people import IMPORTED, folded, known_names
from allpairs.db.projects.events import add_event
from allpairs.db.projects.items import CHUNK, items_by_identifier
from allpairs.db.schema.engine import person_of, reading
from allpairs.db.schema.tables import now as present

ANSWERS = {"1": AnswerKind.POSITIVE, "true": AnswerKind.POSITIVE, "positive": AnswerKind.POSITIVE} | {
    "0": AnswerKind.NEGATIVE,
    "false": AnswerKind.NEGATIVE,
    "negative": AnswerKind.NEGATIVE,
    "unsure": AnswerKind.UNSURE,
}
OPTIONAL = ("annotator", "note")
MAX_ANNOTATOR = 200

Act = tuple[int, int, str]  # left item, right item, annotator


@dataclass(frozen=True)
class Choices:
    """How to treat rows with problems.

    skip: leave out rows with mistakes; otherwise the first one stops the import and nothing is stored. replace: also
    store labels that differ from the current one, and replace it. dry: store nothing, only report.
    """

    skip: bool = False
    replace: bool = False
    dry: bool = False


def import_labels(
    engine: Engine, project: str, path: Path, choices: Choices | None = None, problems: Path | None = None
) -> ImportReport:
    """Import a file with id1, id2, label (1, 0 or unsure) and optionally annotator and note; return a report.

    A column `answer`, as in exports, takes precedence over `label`. problems: write all rows that were not stored to
    this CSV file. Raises InputError, and stores nothing, for an unreadable file and for the first row with a mistake,
    unless such rows are to be skipped.
    """
    choices = choices or Choices()
    report = ImportReport()
    columns = _columns(path)
    with reading(engine) as session:
        stored_project = project_for(session, Right.CHANGE, project)  # a report also reveals its labels
    # Before the transaction: a long file must not block annotators.
    rows = list(read_rows(path, columns, optional=OPTIONAL))
    with _deciding(engine, stored_project.id, choices.dry) as session, recording(report, problems) as recorder:
        known = _read_known(session, stored_project.id, stored_project.kind == Kind.SYMMETRIC)
        reader = _Reader(path, columns, known, choices, recorder)
        for row in rows:
            reader.add(row)
        new = reader.rows(stored_project.id)
        report.stored = len(new)
        if new and not choices.dry:
            for start in range(0, len(new), CHUNK):
                store_answers(session, new[start : start + CHUNK])
            labels = {"labels": len(new)}
            add_event(session, person_of(engine), EventKind.IMPORTED, stored_project.id, path.name, new=labels)
    return report


@contextmanager
def _deciding(engine: Engine, project_id: int, dry: bool) -> Iterator[Session]:
    """Open a session in which the project's labels stay as they are read; dry: for reading alone."""
    if dry:
        with reading(engine) as session:
            yield session
    else:
        with acting(engine, Right.CHANGE, project_id) as session:
            yield session


def _columns(path: Path) -> Sequence[str]:
    present = column_names(path)
    answer = next(iter(present_columns(["answer"], present, path.name)), "label")
    return ("id1", "id2", answer, *present_columns(OPTIONAL, present, path.name))


@dataclass(frozen=True)
class _KnownLabels:
    """The project's items by id for both sides, current labels, and each annotator's answers."""

    items: tuple[Ids, Ids]
    symmetric: bool
    labels: dict[tuple[int, int], Label]
    own_answers: dict[Act, AnswerKind]
    names: dict[str, str]  # of annotators, as they are written, by their form for comparison


def _read_known(session: Session, project_id: int, symmetric: bool) -> _KnownLabels:
    left = Ids(items_by_identifier(session, project_id, Side.LEFT))
    right = left if symmetric else Ids(items_by_identifier(session, project_id, Side.RIGHT))
    labels = {(label.left_id, label.right_id): label for label in current_labels(session, project_id)}
    return _KnownLabels((left, right), symmetric, labels, votes(session, project_id), known_names(session))


class _Wrong(Exception):
    """A row that cannot be stored: why, and in which column."""

    def __init__(self, trouble: Trouble, message: str, column: int) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.what = message
        self.column = column


@dataclass
class _Reader:
    """Sorts rows into those to store and problems."""

    path: Path
    columns: Sequence[str]
    known: _KnownLabels
    choices: Choices
    recorder: Recorder
    acts: dict[Act, tuple[AnswerKind, int, str]] = field(default_factory=dict)  # answer, row of the file, note
    contradicted: set[Act] = field(default_factory=set)

    def add(self, row: TableRow) -> None:
        """Take the row up for storing, or record it as a problem."""
        try:
            act = self._act(row)
            answer = self._answer(row)
            note = self._note(row)
            self._check(act, answer)
        except _Wrong as wrong:
            if wrong.trouble not in HARMLESS and not self.choices.skip:
                raise bad(wrong.what, self.path, row.number, self.columns[wrong.column]) from None
            annotator = self._optional(row, "annotator")
            left_id, right_id, label = row.values[:3]
            self.recorder.add(ImportProblem(row.number, wrong.trouble, wrong.what, left_id, right_id, label, annotator))
        else:
            self.acts[act] = answer, row.number, note

    def rows(self, project_id: int) -> list[dict[str, Any]]:
        """Return the answers to store, in the order of the file."""
        time = present()
        accepted = ((act, answer, note) for act, (answer, _, note) in self.acts.items() if act not in self.contradicted)
        return [
            _row(project_id, act, answer, note, time) | {"settles": self._overrules_review(act, answer)}
            for act, answer, note in accepted
        ]

    def _overrules_review(self, act: Act, answer: AnswerKind) -> bool:
        """Return whether the answer replaces a settled label: it must settle the pair, too."""
        label = self.known.labels.get(act[:2])
        return label is not None and label.settles and label.answer != answer

    def _optional(self, row: TableRow, column: str) -> str:
        """Return the cell of an optional column."""
        return row.values[self.columns.index(column)] if column in self.columns else ""

    def _act(self, row: TableRow) -> Act:
        items = []
        for side in (0, 1):
            name = row.values[side].strip()
            item = self.known.items[side].get(name)
            if item is None:
                place = "the project" if self.known.symmetric else f"the project's {('left', 'right')[side]} list"
                message = f"{place} has no id {shown(name)}; correct it or remove the row"
                raise _Wrong(Trouble.UNKNOWN, message, side)
            items.append(item)
        if items[0] == items[1]:
            raise self._same_text(row)
        left, right = sorted(items) if self.known.symmetric else items
        return left, right, self._annotator(row)

    def _same_text(self, row: TableRow) -> _Wrong:
        """Return the problem with a label on a single text: equal texts match already."""
        names = {value.strip() for value in row.values[:2]}
        if len(names) > 1 and self._answer(row) == AnswerKind.POSITIVE:
            return _Wrong(Trouble.DOUBLE, "both ids have the same text, so they match already", 1)
        return _Wrong(Trouble.UNUSABLE, "both ids name the same text, which is not a pair; remove the row", 1)

    def _annotator(self, row: TableRow) -> str:
        name = self._optional(row, "annotator").strip()
        if len(name) > MAX_ANNOTATOR:
            message = f"the name has {len(name):,} characters, but the limit is {MAX_ANNOTATOR}; shorten it"
            raise _Wrong(Trouble.UNUSABLE, message, 3)
        return self.known.names.setdefault(folded(name), name) if name else IMPORTED

    def _note(self, row: TableRow) -> str:
        note = self._optional(row, "note").strip()
        if len(note) > LONGEST_NOTE:
            message = f"the note has {len(note):,} characters, but the limit is {LONGEST_NOTE:,}; shorten it"
            raise _Wrong(Trouble.UNUSABLE, message, self.columns.index("note"))
        return note

    def _answer(self, row: TableRow) -> AnswerKind:
        word = plain_label(row.values[2])
        if not word:
            raise _Wrong(Trouble.UNLABELLED, "the row has no label", 2)
        answer = ANSWERS.get(word)
        if answer is None:
            message = f"the label is {shown(row.values[2])}; write one of {', '.join(ANSWERS)}"
            raise _Wrong(Trouble.UNUSABLE, message, 2)
        return answer

    def _check(self, act: Act, answer: AnswerKind) -> None:
        """Raise _Wrong for a row that repeats or contradicts another row or the project."""
        if act in self.acts:
            before, number, _ = self.acts[act]
            if before == answer:
                raise _Wrong(Trouble.DOUBLE, f"the same as row {number}", 2)
            self.contradicted.add(act)
            message = f"{act[2]!r} labels this pair {answer} here but {before} in row {number}; keep one of the rows"
            raise _Wrong(Trouble.CONTRADICTION, message, 2)
        if self.known.own_answers.get(act) == answer:
            raise _Wrong(Trouble.DOUBLE, "already stored", 2)
        label = self.known.labels.get(act[:2])
        if label is not None and label.answer != answer and not self.choices.replace:
            raise _Wrong(Trouble.CONFLICT, f"the project's label of this pair is {label.answer} and stays", 2)


def _row(project_id: int, act: Act, answer: AnswerKind, note: str, time: Any) -> dict[str, Any]:
    left, right, annotator = act
    return {
        "project_id": project_id,
        "left_id": left,
        "right_id": right,
        "annotator": annotator,
        "answer": answer,
        "key": f"import-{uuid4().hex}",  # one transaction stores all or nothing, so nothing is sent again
        "note": note or None,
        "guidelines": None,  # the file does not say which guidelines its annotators had
        "created_at": time,
    }
