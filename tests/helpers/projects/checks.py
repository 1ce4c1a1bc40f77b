"""A hidden check and fast answers as rows, for tests of their effects."""

from itertools import count
from typing import Any

from sqlalchemy import Engine, select

from allpairs.annotate.labelling.queue import record
from allpairs.annotate.labelling.shown_pairs import Pair
from allpairs.db.domain import AnswerKind, CheckKind
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Answer, Check, CheckAnswer, FastAnswers, FastAnswersTask, Gold, Item, Task
from tests.helpers.factories import make_project, make_round


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


KEYS = count()


def project_of(engine: Engine, n: int = 60, texts: int = 20, **settings: Any) -> int:
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


def say(engine: Engine, project: int, who: str, pair: Pair, answer: AnswerKind) -> None:
    assert record(engine, project, who, [event(pair, answer)]).refused == {}


def checks_among(pairs: list[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.task_id < 0]
