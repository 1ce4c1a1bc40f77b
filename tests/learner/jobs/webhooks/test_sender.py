"""Deliveries: claimed, sent, tried again, given up, and none lost."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.db.domain import DeliveryState, NoticeKind
from allpairs.db.projects.notices import add_notice
from allpairs.db.projects.webhooks import LOG_AGE, claim, mark_delivered, mark_failed, send_again
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Delivery, Notice, Project, Webhook
from allpairs.learner.jobs.webhooks.sender import (
    JITTER,
    LEASE,
    OF_PROJECT,
    TURN,
    WAITS,
    Sender,
    next_attempt,
    signature,
)
from tests.helpers.factories import make_project
from tests.helpers.services.webhooks import Receiver, add_webhook, receiving
from tests.helpers.services.workers import wait_for

HERE = [ip_network("127.0.0.0/8")]
SECOND = timedelta(seconds=1)


@dataclass
class Clock:
    """A clock that tests move, beginning after everything that they store."""

    at: datetime = field(default_factory=lambda: datetime.now(UTC) + timedelta(hours=1))

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def project(engine: Engine) -> int:
    return make_project(engine, ["a", "b"])


@pytest.fixture
def webhook(engine: Engine, project: int, receiver: Receiver) -> int:
    return add_webhook(engine, project, url=receiver.url)


def tell(engine: Engine, project: int, number: int = 1) -> None:
    with writing(engine) as session:
        for at in range(number):
            add_notice(session, project, NoticeKind.BATCH_READY, {"batch": at})


def the_delivery(engine: Engine) -> Delivery:
    with reading(engine) as session:
        return session.scalars(select(Delivery)).one()


def sender(engine: Engine, clock: Clock) -> Sender:
    return Sender(engine, np.random.default_rng(0), HERE, clock)


def test_a_delivered_message_is_signed_and_not_sent_again(
    engine: Engine, project: int, webhook: int, receiver: Receiver
) -> None:
    tell(engine, project)
    clock = Clock()
    assert sender(engine, clock).send_one(webhook)
    assert not sender(engine, clock).send_one(webhook)
    (got,), row = receiver.got, the_delivery(engine)
    assert (row.state, row.status, row.attempts, row.delivered_at) == (DeliveryState.DELIVERED, 204, 1, clock.at)
    with reading(engine) as session:
        secret, key = session.scalars(select(Webhook.secret)).one(), session.scalars(select(Notice.key)).one()
    at = int(clock.at.timestamp())
    assert got.headers["webhook-id"] == key and got.headers["webhook-timestamp"] == str(at)
    assert got.headers["webhook-signature"] == signature(secret, key, at, got.payload)
    assert got.body["type"] == "batch.ready" and got.body["data"] == {"batch": 0}


def test_a_failing_receiver_is_tried_more_rarely_then_dropped(
    engine: Engine, project: int, webhook: int, receiver: Receiver
) -> None:
    receiver.status, receiver.said = 503, b"busy"
    tell(engine, project)
    clock = Clock()
    began, one = clock.at, sender(engine, clock)
    for wait in WAITS:
        assert not one.send_one(webhook)
        row = the_delivery(engine)
        assert (row.state, row.status, row.error) == (DeliveryState.WAITING, 503, "HTTP 503: busy")
        assert wait <= (row.next_at - clock.at).total_seconds() <= wait * (1 + JITTER)
        before = len(receiver.got)
        clock.at = row.next_at - SECOND
        assert not one.send_one(webhook) and len(receiver.got) == before  # not due yet
        clock.at = row.next_at
    assert not one.send_one(webhook)
    assert timedelta(hours=22) < clock.at - began < timedelta(hours=29)
    row = the_delivery(engine)
    assert (row.state, row.attempts, len(receiver.got)) == (DeliveryState.GIVEN_UP, len(WAITS) + 1, len(WAITS) + 1)
    clock.at += timedelta(days=1)
    assert not one.send_one(webhook) and set(receiver.times.values()) == {len(WAITS) + 1}
    receiver.status = 200
    with writing(engine) as session:
        assert send_again(session, project, row.id, clock.at)
    assert one.send_one(webhook) and the_delivery(engine).attempts == 1 and len(receiver.times) == 1


def test_waits_differ_and_can_be_repeated() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    drawn = [next_attempt(2, at, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2] and next_attempt(len(WAITS) + 1, at, np.random.default_rng(0)) is None


def test_a_killed_workers_claims_are_sent_again_with_the_same_id(
    engine: Engine, project: int, webhook: int, receiver: Receiver
) -> None:
    tell(engine, project)
    clock = Clock()
    with writing(engine) as session:
        claimed = claim(session, webhook, clock.at, LEASE)
    assert claimed is not None
    assert not sender(engine, clock).send_one(webhook)  # the other one has it
    clock.at += LEASE
    assert sender(engine, clock).send_one(webhook)
    assert receiver.times == {claimed.key: 1} and the_delivery(engine).attempts == 2
    with writing(engine) as session:  # the first one was not dead
        mark_failed(session, claimed, 500, "late", clock.at)
    assert the_delivery(engine).state == DeliveryState.DELIVERED


def test_a_late_failure_does_not_overrule_a_later_attempt(engine: Engine, project: int, webhook: int) -> None:
    tell(engine, project)
    at = Clock().at
    with writing(engine) as session:
        first = claim(session, webhook, at, LEASE)
        second = claim(session, webhook, at + LEASE, LEASE)
        assert first is not None and second is not None
        mark_failed(session, first, 500, "late", None)
    assert (the_delivery(engine).state, the_delivery(engine).error) == (DeliveryState.WAITING, None)
    with writing(engine) as session:
        mark_delivered(session, first, 200, at)  # but the receiver has it, whoever sent it
    assert the_delivery(engine).state == DeliveryState.DELIVERED


def test_many_senders_at_once_send_each_message_once(
    engine: Engine, project: int, webhook: int, receiver: Receiver
) -> None:
    tell(engine, project, 20)
    clock = Clock()

    def work() -> None:
        one = sender(engine, clock)
        while one.send_one(webhook):
            pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receiver.times) == 20 and set(receiver.times.values()) == {1}


def test_a_dead_receiver_delays_nobody_else(engine: Engine, project: int, receiver: Receiver) -> None:
    add_webhook(engine, project, url="http://127.0.0.1:1/")
    add_webhook(engine, project, url=receiver.url)
    tell(engine, project, 3)
    stopping = threading.Event()
    thread = threading.Thread(target=sender(engine, Clock()).run, args=(stopping,))
    thread.start()
    wait_for(lambda: len(receiver.times) == 3, 20)
    stopping.set()
    thread.join()


def test_a_project_with_slow_receivers_delays_no_other_project(
    engine: Engine, project: int, receiver: Receiver
) -> None:
    with receiving() as slow:
        slow.delay = 1
        for _ in range(20):
            add_webhook(engine, project, url=slow.url)
        tell(engine, project)
        other = make_project(engine, ["a", "b"], name="Other")
        add_webhook(engine, other, url=receiver.url)
        tell(engine, other)
        sending = sender(engine, Clock())
        sending.look()
        assert len(sending.busy) == OF_PROJECT + 1
        wait_for(lambda: len(receiver.got) == 1, 20)
        sending.pool.shutdown()
        assert len(slow.got) == OF_PROJECT


def test_a_long_list_of_messages_is_told_in_turns(
    engine: Engine, project: int, webhook: int, receiver: Receiver
) -> None:
    tell(engine, project, 5)
    clock = Clock()
    sending = sender(engine, clock)
    sending.clock = lambda: clock.at + len(receiver.got) * SECOND  # each message takes a second
    sending.look()
    sending.pool.shutdown()
    assert len(receiver.got) == TURN / SECOND


@pytest.mark.parametrize("what", ["off", "in the bin"])
def test_nothing_is_sent_while_a_webhook_is_off_or_in_the_bin(
    engine: Engine, project: int, webhook: int, receiver: Receiver, what: str
) -> None:
    tell(engine, project)
    clock = Clock()
    with writing(engine) as session:
        if what == "off":
            session.get_one(Webhook, webhook).active = False
        else:
            session.get_one(Project, project).deleted_at = clock.at
    assert not sender(engine, clock).send_one(webhook)
    with writing(engine) as session:
        session.get_one(Webhook, webhook).active, session.get_one(Project, project).deleted_at = True, None
    assert sender(engine, clock).send_one(webhook) and len(receiver.got) == 1


def test_old_deliveries_are_removed(engine: Engine, project: int, webhook: int) -> None:
    tell(engine, project)
    clock = Clock()
    one = sender(engine, clock)
    one.look()
    wait_for(lambda: the_delivery(engine).state == DeliveryState.DELIVERED, 20)
    clock.at += LOG_AGE
    one.look()
    with reading(engine) as session:
        assert session.scalars(select(Notice)).all() == session.scalars(select(Delivery)).all() == []
