"""Labels into a project, from a file: all of them or none, and none twice."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from db.answers import current_labels, known_keys, store_answers
from db.corpus.cells import bad, shown
from db.corpus.files import Row, column_names, read_rows
from db.domain import AnswerKind, Kind, Side
from db.engine import reading, writing
from db.items import CHUNK, items_by_identifier
from db.models import Project
from db.models import now as present
from db.projects import project_named

ANSWERS = {"1": AnswerKind.POSITIVE, "true": AnswerKind.POSITIVE, "positive": AnswerKind.POSITIVE} | {
    "0": AnswerKind.NEGATIVE,
    "false": AnswerKind.NEGATIVE,
    "negative": AnswerKind.NEGATIVE,
    "unsure": AnswerKind.UNSURE,
}
ANNOTATOR = "import"  # of labels that name none
MAX_ANNOTATOR = 200

Act = tuple[int, int, str]  # left item, right item, annotator


@dataclass(frozen=True)
class Imported:
    """How many labels a file brought, and how many were there already."""

    stored: int
    known: int


def import_labels(engine: Engine, project: str, path: Path) -> Imported:
    """What came of importing a file with id1, id2, label (1, 0 or unsure) and optionally annotator.

    A column `answer`, as exports have it, goes before `label`. Raises InputError, and stores nothing, for unknown
    ids and labels and for two different labels of one annotator on one pair.
    """
    columns = _columns(path)
    with reading(engine) as session:  # a long file must not keep annotators from writing
        found = project_named(session, project)
        acts = _read(session, found, path, columns)
    with writing(engine) as session:
        new = _new(session, found.id, acts)
        for chunk in _chunks(new):
            store_answers(session, chunk)
    return Imported(len(new), len(acts) - len(new))


def _columns(path: Path) -> Sequence[str]:
    present = column_names(path)
    answer = "answer" if "answer" in present else "label"
    return ("id1", "id2", answer, *(["annotator"] if "annotator" in present else []))


def _read(session: Session, project: Project, path: Path, columns: Sequence[str]) -> dict[Act, AnswerKind]:
    left = items_by_identifier(session, project.id, Side.LEFT)
    symmetric = project.kind == Kind.SYMMETRIC
    known = left, left if symmetric else items_by_identifier(session, project.id, Side.RIGHT)
    acts: dict[Act, AnswerKind] = {}
    rows: dict[Act, int] = {}
    for row in read_rows(path, columns):
        act, answer = _act(row, known, symmetric, path, columns), _answer(row, path, columns)
        if acts.setdefault(act, answer) != answer:
            what = f"{act[2]!r} calls this pair {answer} here and {acts[act]} in row {rows[act]}; keep one of the rows"
            raise bad(what, path, row.number, columns[2])
        rows.setdefault(act, row.number)
    return acts


def _act(
    row: Row, known: tuple[dict[str, int], dict[str, int]], symmetric: bool, path: Path, columns: Sequence[str]
) -> Act:
    items = []
    for which in (0, 1):
        name = row.values[which].strip()
        if name not in known[which]:
            where = "the project" if symmetric else f"the project's {('left', 'right')[which]} list"
            what = f"{where} has no id {shown(name)}; correct it or remove the row"
            raise bad(what, path, row.number, columns[which])
        items.append(known[which][name])
    if items[0] == items[1]:
        raise bad("both ids name the same text, which is no pair; remove the row", path, row.number, columns[1])
    left, right = sorted(items) if symmetric else items
    return left, right, _annotator(row, path)


def _annotator(row: Row, path: Path) -> str:
    name = row.values[3].strip() if len(row.values) > 3 else ""
    if len(name) > MAX_ANNOTATOR:
        what = f"a name of {len(name):,} characters, and the limit is {MAX_ANNOTATOR}; shorten it"
        raise bad(what, path, row.number, "annotator")
    return name or ANNOTATOR


def _answer(row: Row, path: Path, columns: Sequence[str]) -> AnswerKind:
    answer = ANSWERS.get(row.values[2].strip().lower())
    if answer is None:
        what = f"the label is {shown(row.values[2])}; write one of {', '.join(ANSWERS)}"
        raise bad(what, path, row.number, columns[2])
    return answer


def _new(session: Session, project_id: int, acts: dict[Act, AnswerKind]) -> list[dict[str, Any]]:
    """The rows of the acts that are not stored yet, neither by an import nor as the label that counts now."""
    labels = {(at.left_id, at.right_id, at.annotator): at.answer for at in current_labels(session, project_id)}
    time = present()
    rows = [_row(project_id, act, answer, time) for act, answer in acts.items() if labels.get(act) != answer]
    known = {key for chunk in _chunks(rows) for key in known_keys(session, [row["key"] for row in chunk])}
    return [row for row in rows if row["key"] not in known]


def _row(project_id: int, act: Act, answer: AnswerKind, time: Any) -> dict[str, Any]:
    left, right, annotator = act
    named = "\0".join((str(project_id), str(left), str(right), annotator, answer))
    return {
        "project_id": project_id,
        "left_id": left,
        "right_id": right,
        "annotator": annotator,
        "answer": answer,
        "key": f"import-{hashlib.sha256(named.encode()).hexdigest()}",
        "created_at": time,
    }


def _chunks(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]
