"""Whoever answers and whoever sends are killed: each event arrives, under one id."""

import threading
import time
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind, DeliveryState, NoticeKind
from allpairs.db.labels.answers import answer_at_once
from allpairs.db.labels.disputes import disputed_among
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import Answer, Delivery, Item, now
from allpairs.learner.jobs.webhooks.sender import LEASE, Sender
from benchmarks.scale.faults import Victim
from tests.helpers.factories import make_project
from tests.helpers.services.receiver import Receiver, receiving
from tests.helpers.services.webhooks import add_webhook
from tests.helpers.services.workers import wait_for

PAIRS, KILLS, DELAY = 12, 3, 0.5  # pairs answered differently; kills of each; seconds until the receiver answers


def items_of(engine: Engine) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).order_by(Item.id)))


def answer_all(project: int) -> None:
    """Contradict Ann's answers one after another, as an app that was killed does: from the beginning."""
    engine = make_engine()
    first, *others = items_of(engine)
    for other in others:
        with writing(engine) as session:
            answer_at_once(session, project, "bob", [(first, other)], AnswerKind.NEGATIVE, f"bob-{other}")
        time.sleep(0.2)


def send_all(starts: int) -> None:
    """Send for ever; each start is later than what the one before has claimed."""
    Sender(make_engine(), np.random.default_rng(0), [ip_network("127.0.0.1")], lambda: now() + starts * LEASE).run(
        threading.Event()
    )


@pytest.mark.parametrize(
    "database_kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)
def test_each_event_arrives_under_one_id_whoever_is_killed(engine: Engine, home: Path, tmp_path: Path) -> None:
    project = make_project(engine, [f"text {at}" for at in range(PAIRS + 1)])
    first, *others = items_of(engine)
    pairs = [(first, other) for other in others]
    with writing(engine) as session:
        answer_at_once(session, project, "ann", pairs, AnswerKind.POSITIVE, "ann")
    log = tmp_path / "log"
    with receiving() as receiver:
        receiver.delay = DELAY
        add_webhook(engine, project, NoticeKind.DISAGREEMENT, url=receiver.url)
        for starts in range(KILLS + 1):
            victims = [Victim(answer_all, (project,), log), Victim(send_all, (starts,), log)]
            for victim in victims:
                victim.start()
            if starts < KILLS:
                wait_for(partial(more_than, receiver, len(receiver.got) + 1))
            else:
                wait_for(lambda: count_answers(engine) == 2 * PAIRS and not waiting(engine))
            for victim in victims:
                victim.kill()
    with reading(engine) as session:
        assert disputed_among(session, project, pairs) == set(pairs)
    assert sum(body["data"]["number"] for body in bodies(receiver).values()) == PAIRS
    assert {named(body) for body in bodies(receiver).values()} == {f"left-{at + 1}" for at in range(PAIRS)}
    assert len(receiver.times) == PAIRS < receiver.times.total() <= PAIRS + KILLS  # repeats keep their id


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
