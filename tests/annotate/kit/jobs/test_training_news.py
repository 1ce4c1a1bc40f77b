"""What is new to a training: each act after a round, and whether the next round may be requested for it."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from allpairs.annotate.kit.jobs.requests import request_round, why_not_train
from allpairs.db.domain import EventKind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import newest_answer, store_answers
from allpairs.db.projects.events import add_event
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Item, Job, Round, StoredModel, Task
from tests.helpers.factories import make_project, make_round
from tests.helpers.projects.rounds import NEGATIVE, POSITIVE, RETRACT, SKIP, UNSURE, answer

Act = Callable[[Engine, int], None]


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project whose first batch is labelled, and whose second one was made from these labels."""
    project_id = make_project(engine, [f"text {i}" for i in range(9)], evaluation=3)
    make_round(engine, project_id, 3, reserve=2)
    for task in _tasks(engine, project_id)[:3]:
        answer(engine, task, POSITIVE if task.position else NEGATIVE)
    _finish_round(engine, project_id)
    return project_id


def _finish_round(engine: Engine, project_id: int) -> None:
    """Add what the job `next_round` leaves: its row, a matcher that has seen all answers, and the next batch."""
    with writing(engine) as session:
        session.add(Job(id="done", project_id=project_id, kind="next_round", state="done"))
        cutoff = newest_answer(session, project_id)
        matcher = StoredModel(project_id=project_id, number=1, encoder="tiny", w=1.0, b=0.0, cutoff=cutoff)
        session.add(matcher)
        session.flush()
        matcher_id = matcher.id
    batch = make_round(engine, project_id, 4, reserve=1)
    with writing(engine) as session:
        session.get_one(Round, batch).matcher_id = matcher_id


def _tasks(engine: Engine, project_id: int) -> list[Task]:
    with reading(engine) as session:
        return list(session.query(Task).where(Task.project_id == project_id).order_by(Task.id))


def _old(kind: str) -> Act:
    return lambda engine, project_id: answer(engine, _tasks(engine, project_id)[1], kind)  # type: ignore[arg-type]


def _new(*kinds: str, first: int = 5) -> Act:
    def act(engine: Engine, project_id: int) -> None:
        for place, kind in enumerate(kinds):
            answer(engine, _tasks(engine, project_id)[first + place], kind)  # type: ignore[arg-type]

    return act


def _undone(engine: Engine, project_id: int) -> None:
    for kind in (POSITIVE, RETRACT):
        answer(engine, _tasks(engine, project_id)[5], kind)


def _imported(evaluation: bool) -> Act:
    def act(engine: Engine, project_id: int) -> None:
        with writing(engine) as session:
            items = session.query(Item.id).where(Item.project_id == project_id).order_by(Item.id).all()
            left, right = (items[-2][0], items[-1][0]) if evaluation else (items[4][0], items[5][0])
            row = {"project_id": project_id, "task_id": None, "left_id": left, "right_id": right, "answer": POSITIVE}
            store_answers(session, [row | {"annotator": "import", "key": "import-1", "seconds": None, "note": None}])

    return act


def _event(kind: EventKind, **changes: tuple[object, object]) -> Act:
    def act(engine: Engine, project_id: int) -> None:
        old, new = ({name: values[side] for name, values in changes.items()} for side in (0, 1))
        with writing(engine) as session:
            add_event(session, None, kind, project_id, "x", old, new)

    return act


def _both(*acts: Act) -> Act:
    def act(engine: Engine, project_id: int) -> None:
        for part in acts:
            part(engine, project_id)

    return act


NOTHING = _both()
NO_NEWS = {
    "nothing": NOTHING,
    "skipped": _new(SKIP),
    "unsure": _new(UNSURE),
    "an answer that was taken back": _undone,
    "the same answer again": _old(POSITIVE),
    "a label that measures": _imported(evaluation=True),
    "another question": _event(EventKind.SETTINGS, question=("a", "b")),
    "a setting changed and changed back": _both(
        _event(EventKind.SETTINGS, epochs=(2, 3)), _event(EventKind.SETTINGS, epochs=(3, 2))
    ),
}
NEWS = {
    "an answer": _new(POSITIVE),
    "a correction": _old(NEGATIVE),
    "an old answer that is unsure now": _old(UNSURE),
    "an old answer that was taken back": _old(RETRACT),
    "an imported label": _imported(evaluation=False),
    "a complete batch of which nobody was sure": _new(UNSURE, UNSURE, UNSURE, UNSURE),
    "other epochs": _event(EventKind.SETTINGS, epochs=(2, 3)),
    "texts": _event(EventKind.TEXTS),
    "texts that came back": _event(EventKind.TEXTS_BACK),
}


@pytest.mark.parametrize("name", NO_NEWS)
def test_without_news_no_round_may_be_requested(engine: Engine, project: int, name: str) -> None:
    NO_NEWS[name](engine, project)
    assert "no new answers to train on since batch 2" in why_not_train(engine, project)
    with pytest.raises(InputError, match="no new answers"):
        request_round(engine, project)
    with reading(engine) as session:
        assert session.query(Job).count() == 1


@pytest.mark.parametrize("name", NEWS)
def test_with_news_a_round_may_be_requested(engine: Engine, project: int, name: str) -> None:
    NEWS[name](engine, project)
    assert why_not_train(engine, project) == ""


def test_an_answer_that_came_while_the_job_waited_is_no_news(engine: Engine, project: int) -> None:
    """The job was asked for first and has seen the answer all the same."""
    with writing(engine) as session:
        session.get_one(Job, "done").created_at = min(row.created_at for row in session.query(Answer))
    assert why_not_train(engine, project)
