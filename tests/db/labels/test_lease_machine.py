"""Leases as a state machine: people with devices, batches with reserves, audit batches, and time that goes on."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from sqlalchemy import ColumnElement, Engine, select
from sqlalchemy.orm import Session

from allpairs.annotate.features.label import queue
from allpairs.annotate.features.label.queue import LEASED, leave, look, record, serve
from allpairs.annotate.features.label.shown_pairs import Pair
from allpairs.db.labels.tasks import newest_audit_batch, newest_round, unanswered
from allpairs.db.labels.withdrawn import open_batch
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Item, Lease, PairLabel, Round, Task
from tests.helpers.factories import drop_project, make_audit_batch, make_design, make_project, make_round
from tests.helpers.machine import examples

PEOPLE = ("ann", "ben", "cem", "dan", "eve", "fay")
ACTS = ("positive", "negative", "unsure", "skip")
START = datetime(2026, 3, 1, 12).astimezone()
Desk = tuple[str, str, bool]  # a person, their device, and whether they label the audit batch
desks = st.tuples(st.sampled_from(PEOPLE), st.sampled_from(["laptop", "phone"]), st.sampled_from([False] * 3 + [True]))


class Labelling(RuleBasedStateMachine):
    """Several people label one project, each on several devices, all that the card and the server do."""

    engine: Engine
    time = START

    @initialize(size=st.integers(1, 12), reserve=st.integers(0, 8))
    def begin(self, size: int, reserve: int) -> None:
        self.project = make_project(self.engine, [f"text {i}" for i in range(40)], evaluation=8, auto_train=False)
        make_design(self.engine, self.project)
        self.shown: dict[Desk, list[Pair]] = {}
        self.answered: dict[str, tuple[str, str]] = {}
        self.keys = count()
        self.batch(size, reserve, 0)
        self.audit(size)

    def teardown(self) -> None:
        if not hasattr(self, "project"):
            return
        with reading(self.engine) as session:
            texts = {item.id: item.text for item in session.scalars(select(Item))}
            stored = {
                answer.key: (texts[answer.left_id], texts[answer.right_id])
                for answer in session.scalars(select(Answer).where(Answer.project_id == self.project))
            }
        drop_project(self.engine, self.project)
        assert stored == self.answered  # what one answered is what one saw, and nothing is lost

    @rule(size=st.integers(1, 12), reserve=st.integers(0, 8), again=st.integers(0, 8))
    def batch(self, size: int, reserve: int, again: int) -> None:
        """Make a new batch; so many of its pairs were in the reserve of the one before, which is over."""
        with writing(self.engine) as session:
            before = newest_round(session, self.project)
            left = [] if before is None else self.open(session, Task.round_id == before.id)[-again:][:again]
            pairs = [(task.left_id, task.right_id) for task in left]
        new = make_round(self.engine, self.project, size, reserve)
        with writing(self.engine) as session:
            tasks = session.scalars(select(Task).where(Task.round_id == new).order_by(Task.position))
            for task, pair in zip(tasks, pairs, strict=False):
                task.left_id, task.right_id = pair
            open_batch(session, session.get_one(Round, new))

    @rule(size=st.integers(1, 6))
    def audit(self, size: int) -> None:
        with reading(self.engine) as session:
            before = newest_audit_batch(session, self.project)
            if before is not None and unanswered(session, before):
                return
        make_audit_batch(self.engine, self.project, size)

    @rule(minutes=st.integers(1, 15))
    def wait(self, minutes: int) -> None:
        type(self).time += timedelta(minutes=minutes)

    @rule(who=st.sampled_from(PEOPLE))
    def go(self, who: str) -> None:
        leave(self.engine, who)

    @rule(acts=st.lists(st.tuples(desks, st.integers(0, 8), st.sampled_from(ACTS)), min_size=1, max_size=6))
    def label(self, acts: list[tuple[Desk, int, str]]) -> None:
        for act in acts:
            self.send(*act)

    def send(self, desk: Desk, number: int, answer: str) -> None:
        """Answer the next pairs that the desk's card has, and get new ones."""
        who, device, audit_batch = desk
        pairs = self.shown.get(desk, [])[:number]
        events = []
        for pair in pairs:
            key = f"key-{next(self.keys)}"
            self.answered[key] = (pair.left, pair.right)
            events.append({"key": key, "task_id": pair.task_id, "answer": answer, "seconds": 1.0})
        assert not record(self.engine, self.project, who, events).refused
        served, standing = serve(self.engine, self.project, who, audit_batch=audit_batch, device=device)
        self.shown[desk] = served
        if not served:  # who waits, and looks every two seconds, sees the same
            assert look(self.engine, self.project, who, audit_batch).reason is standing.reason is not None
        self.check(who, audit_batch, {pair.task_id for pair in served})

    def check(self, who: str, audit_batch: bool, served: set[int]) -> None:
        with reading(self.engine) as session:
            batch = (newest_audit_batch if audit_batch else newest_round)(session, self.project)
            if batch is None:
                assert not served
                return
            live = select(Task, Lease.annotator).join(Lease).where(Lease.expires_at > self.time)
            holders: dict[tuple[int, int], str] = {}
            for task, holder in session.execute(live.where(Task.project_id == self.project)):
                pair = (task.left_id, task.right_id)
                assert holders.setdefault(pair, holder) == holder  # nobody else has it
            for place in (Task.position < batch.size, Task.position >= batch.size):
                part = self.open(session, Task.round_id == batch.id, place)
                others = [holders.get((task.left_id, task.right_id), who) for task in part]
                held_by = Counter(holder for holder in others if holder != who)
                free = {task.id for task, holder in zip(part, others, strict=True) if holder == who}
                if free:
                    assert served == free  # one's own leases never block: all that nobody else has, on each device
                    assert len(free) >= min(LEASED, len(part) // (len(held_by) + 1))
                    return
                assert max(held_by.values(), default=0) <= 1  # only their last ones, which they may be reading

    def open(self, session: Session, *which: ColumnElement[bool]) -> list[Task]:
        """Return the tasks of the project whose pair is unlabelled, in the order of their batch."""
        labelled = select(PairLabel.answer_id).where(
            PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id
        )
        wanted = select(Task).where(Task.project_id == self.project, ~labelled.exists(), *which)
        return list(session.scalars(wanted.order_by(Task.position)))


def test_a_batch_is_shared_and_shown_before_its_reserve(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    Labelling.engine = engine
    monkeypatch.setattr(queue, "now", lambda: Labelling.time)
    chosen = settings(max_examples=examples(25), stateful_step_count=12, deadline=None)
    run_state_machine_as_test(Labelling, settings=chosen)
