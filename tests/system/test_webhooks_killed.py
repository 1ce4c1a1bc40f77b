"""Whoever answers and whoever sends are killed: each event arrives, under one id."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind, DeliveryState, NoticeKind
from allpairs.db.labels.answers import answer_at_once
from allpairs.db.labels.disputes import disputed_among
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Delivery
from tests.helpers.factories import make_project
from tests.helpers.services import webhooks
from tests.helpers.services.webhooks import Receiver, add_webhook, items_of, receiving
from tests.helpers.services.workers import started, wait_for

PAIRS, KILLS, DELAY = 12, 2, 0.5  # pairs answered differently; kills of each; seconds until the receiver answers


@pytest.mark.parametrize(
    "database_kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)
def test_each_event_arrives_under_one_id_whoever_is_killed(engine: Engine, home: Path) -> None:
    project = make_project(engine, [f"text {at}" for at in range(PAIRS + 1)])
    first, *others = items_of(engine)
    pairs = [(first, other) for other in others]
    with writing(engine) as session:
        answer_at_once(session, project, "ann", pairs, AnswerKind.POSITIVE, "ann")
    with receiving() as receiver:
        receiver.delay = DELAY
        add_webhook(engine, project, NoticeKind.DISAGREEMENT, url=receiver.url)
        for starts in range(KILLS + 1):
            with started(calling("answer_all", project)), started(calling("send_all", starts)):
                if starts < KILLS:
                    wait_for(partial(more_than, receiver, len(receiver.got) + 1))
                else:
                    wait_for(lambda: count_answers(engine) == 2 * PAIRS and not waiting(engine))
    with reading(engine) as session:
        assert disputed_among(session, project, pairs) == set(pairs)
    assert sum(body["data"]["number"] for body in bodies(receiver).values()) == PAIRS
    assert {named(body) for body in bodies(receiver).values()} == {f"left-{at + 1}" for at in range(PAIRS)}
    assert len(receiver.times) == PAIRS < receiver.times.total() <= PAIRS + KILLS  # repeats keep their id


def calling(function: str, argument: int) -> list[str]:
    """Return the command that calls a function of the helpers."""
    return [sys.executable, "-c", f"from {webhooks.__name__} import {function}; {function}({argument})"]


def more_than(receiver: Receiver, number: int) -> bool:
    return len(receiver.got) > number


def count_answers(engine: Engine) -> int:
    with reading(engine) as session:
        return len(session.scalars(select(Answer.id)).all())


def waiting(engine: Engine) -> bool:
    with reading(engine) as session:
        return session.scalar(select(Delivery.id).where(Delivery.state == DeliveryState.WAITING).limit(1)) is not None


def bodies(receiver: Receiver) -> dict[str, Any]:
    return {one.headers["webhook-id"]: one.body for one in receiver.got}


def named(body: Any) -> str:
    (pair,) = body["data"]["pairs"]
    return str(pair["id2"])
