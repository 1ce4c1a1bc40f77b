"""Labels, hidden checks and fast answers, for tests of their effects."""

import csv
import json
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.label.shown_pairs import Pair
from allpairs.db.domain import AnswerKind, CheckKind, DesignKind, Purpose
from allpairs.db.labels.answers import answer_at_once, current_labels
from allpairs.db.labels.audits import newest_design
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Check, CheckAnswer, FastAnswers, FastAnswersTask, Gold, Item, Task
from tests.helpers.factories import first_ids, make_project, make_round

KEYS = count()

POSITIVE, NEGATIVE, UNSURE, SKIP, RETRACT = AnswerKind
P, N, U, S, R = AnswerKind


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


def make_check_and_fast_answers(engine: Engine, project_id: int) -> None:
    """Store the first annotator's yes to a check, and two fast answers no."""
    with writing(engine) as session:
        answers = session.scalars(select(Answer).where(Answer.project_id == project_id).order_by(Answer.id)).all()
        tasks = session.scalars(select(Task).where(Task.project_id == project_id).order_by(Task.id)).all()
        about = {"project_id": project_id, "annotator": answers[0].annotator}
        check = Check(**about, kind=CheckKind.REPEAT, left_id=tasks[0].left_id, right_id=tasks[0].right_id,
                      expected=AnswerKind.NEGATIVE, task_id=tasks[0].id, before_id=tasks[1].id)  # fmt: skip
        fast = FastAnswers(
            **about, answer=AnswerKind.NEGATIVE, first_id=answers[0].id, last_id=answers[1].id, answers=2, seconds=0.5
        )
        session.add_all([check, fast])
        session.flush()
        session.add(CheckAnswer(project_id=project_id, check_id=check.id, answer=AnswerKind.POSITIVE, key="a check"))
        session.add(FastAnswersTask(project_id=project_id, rush_id=fast.id, task_id=tasks[0].id))


def project_with_batch(engine: Engine, n: int = 60, texts: int = 20, **settings: Any) -> int:
    """Make a project with a batch of n pairs and return its id."""
    project = make_project(engine, [f"text {i}" for i in range(texts)], auto_train=False, **settings)
    make_round(engine, project, n)
    return project


def know(engine: Engine, project: int, positive: int, negative: int) -> dict[tuple[int, int], bool]:
    """Store known pairs, the last ones of all, which are not tasks, and return them."""
    with writing(engine) as session:
        items = list(session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)))
        pairs = [(left, right) for left in items for right in items if left < right][::-1][: positive + negative]
        known = {pair: place < positive for place, pair in enumerate(pairs)}
        for (left, right), is_match in known.items():
            session.add(Gold(project_id=project, left_id=left, right_id=right, positive=is_match))
    return known


def event(pair: Pair, answer: AnswerKind, **more: Any) -> dict[str, Any]:
    return {"key": f"check-{next(KEYS)}", "task_id": pair.task_id, "answer": answer, "seconds": 9.0} | more


def answer_pair(engine: Engine, project: int, who: str, pair: Pair, answer: AnswerKind) -> None:
    assert record(engine, project, who, [event(pair, answer)]).refused == {}


def checks_among(pairs: list[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.task_id < 0]


FAST, SLOW = 0.3, 5.0
AHEAD = 10  # pairs that are served at a time


def project_of_long_texts(engine: Engine, n: int = 60, **settings: object) -> int:
    texts = [f"How do I do the thing that has the number {i}?" for i in range(12)]
    project = make_project(engine, texts, auto_train=False, **settings)
    make_round(engine, project, n)
    return project


def answer_in_messages(
    engine: Engine, project: int, who: str, answers: list[tuple[AnswerKind, float]], at_once: int = 1
) -> list[int]:
    """Answer tasks in messages of so many answers, and return them."""
    tasks: list[int] = []
    pairs: list[Pair] = []
    while len(tasks) < len(answers):
        part = answers[len(tasks) : len(tasks) + at_once]
        if len(pairs) < len(part):
            pairs = serve(engine, project, who, min(max(AHEAD, at_once), len(answers) - len(tasks)))[0]
        events = [
            {"key": f"fast-{next(KEYS)}", "task_id": pair.task_id, "answer": answer, "seconds": seconds}
            for pair, (answer, seconds) in zip(pairs[: len(part)], part, strict=True)
        ]
        assert record(engine, project, who, events).refused == {}
        tasks += [event["task_id"] for event in events]
        pairs = pairs[len(events) :]
    return tasks


def label_pairs(engine: Engine, project: int, labels: dict[tuple[int, int], AnswerKind]) -> None:
    """Store Ann's labels of these pairs of texts, given by position."""
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
        for (one, other), answer in labels.items():
            answer_at_once(session, project, "ann", [(items[one], items[other])], answer, f"t{next(KEYS)}")
