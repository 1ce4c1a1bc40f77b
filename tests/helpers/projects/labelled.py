"""Labels for tests of exporting and importing them."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select

from allpairs.db.domain import AnswerKind, DesignKind, Purpose
from allpairs.db.labels.answers import current_labels
from allpairs.db.labels.audits import newest_design
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Task
from tests.helpers.projects.first_ids import first_ids

P, N, U, S, R = (
    AnswerKind.POSITIVE,
    AnswerKind.NEGATIVE,
    AnswerKind.UNSURE,
    AnswerKind.SKIP,
    AnswerKind.RETRACT,
)


def answer(
    engine: Engine, project_id: int, *answers: tuple[int, AnswerKind], who: str = "ann", in_round: int | None = None
) -> None:
    """Answer tasks, by position in the only round or in the named one."""
    with writing(engine) as session:
        mine = Task.project_id == project_id if in_round is None else Task.round_id == in_round
        tasks = session.scalars(select(Task).where(mine).order_by(Task.position)).all()
        count = session.scalar(select(func.count(Answer.id))) or 0
        for number, (position, kind) in enumerate(answers):
            task = tasks[position]
            pair = {"left_id": task.left_id, "right_id": task.right_id, "task_id": task.id}
            session.add(Answer(project_id=project_id, annotator=who, answer=kind, key=f"key {count + number}", **pair))
            session.flush()


def labelled(engine: Engine, project_id: int) -> set[tuple[str, str, AnswerKind, str]]:
    with reading(engine) as session:
        labels = current_labels(session, project_id)
        ids = first_ids(session, [item for at in labels for item in (at.left_id, at.right_id)])
        return {(ids[at.left_id], ids[at.right_id], at.answer, at.annotator) for at in labels}


def stored(engine: Engine) -> int:
    with reading(engine) as session:
        return session.scalar(select(func.count(Answer.id))) or 0


def read(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with path.open(encoding="utf-8", newline="") as stream:
        return [{key: value or None for key, value in row.items()} for row in csv.DictReader(stream)]


def place(engine: Engine, project_id: int, stratum: int, inclusion: float) -> None:
    """Put all audit pairs into this stratum of the newest design, as an update of the figures does."""
    with writing(engine) as session:
        tasks = session.scalars(select(Task).where(Task.project_id == project_id, Task.purpose == Purpose.AUDIT))
        design = newest_design(session, project_id, DesignKind.AUDIT)
        assert design is not None
        design.details = {"sample": [[task.left_id, task.right_id, stratum, inclusion] for task in tasks]}


STARTS = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "'=x", "''-x", "-5", "1,5", '"', "a\nb", "🎈")

TEXTS = st.one_of(
    st.sampled_from(STARTS),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=30),
    st.text("'=+-@\t\r\n,\"x1\x01\x1f\u2028", min_size=1, max_size=8),
)
