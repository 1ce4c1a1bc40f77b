"""Leases: renewed by every message of a page, released by a silent one, and shared by all tabs of a person."""

import unicodedata
from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.label.queue import Reason, look, record, serve
from allpairs.annotate.features.label.ui.card import why_empty
from allpairs.annotate.frame.access.mode import annotator_named
from allpairs.db.labels.leases import LEASE, end_leases, end_leases_before
from allpairs.db.labels.tasks import free_tasks, lease_tasks, next_lease_end
from allpairs.db.labels.withdrawn import open_batch
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Lease, PairLabel, Round, Task, now
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round

START = datetime(2026, 3, 1, 12).astimezone()


@pytest.fixture
def project(engine: Engine) -> int:
    project_id = make_project(engine, [f"text {i}" for i in range(9)], evaluation=3, auto_train=False)
    make_round(engine, project_id, 3)
    return project_id


def ask(engine: Engine, project: int, who: str, minutes: float) -> list[int]:
    """Return the tasks that this annotator's page gets so many minutes after the start."""
    with writing(engine) as session:
        return [task.id for task in lease_tasks(session, project, who, 10, START + timedelta(minutes=minutes))]


def free_for(engine: Engine, project: int, who: str, minutes: float) -> list[int]:
    with reading(engine) as session:
        return [task.id for task in free_tasks(session, project, who, 10, START + timedelta(minutes=minutes))]


def test_whoever_signals_presence_keeps_the_pairs(engine: Engine, project: int) -> None:
    tasks = ask(engine, project, "ann", 0)
    for minute in range(2, 31, 2):
        assert ask(engine, project, "ann", minute) == tasks
        assert free_for(engine, project, "ben", minute + 1) == tasks[-1:]  # a fair part of three
    last = 30 + LEASE.total_seconds() / 60
    assert free_for(engine, project, "ben", last - 0.1) == tasks[-1:]
    assert ask(engine, project, "ben", last + 0.1) == tasks
    assert ask(engine, project, "ann", last + 1) == tasks[-1:]  # who comes back gets a fair part


def event(task_id: int, answer: str, key: str) -> dict[str, object]:
    return {"key": key, "task_id": task_id, "answer": answer, "seconds": 2.0}


def test_two_devices_of_one_person_begin_with_different_pairs(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(40)], auto_train=False)
    make_round(engine, project, 100)
    laptop, phone = (partial(serve, engine, project, "ann", device=device) for device in ("laptop", "phone"))
    first, second = ([pair.task_id for pair in device()[0]] for device in (laptop, phone))
    assert sorted(first) == sorted(second)  # either can do it all, if the other one is left behind
    assert not set(first[:40]) & set(second[:40])
    for turn in range(50):
        for name, device in (("laptop", laptop), ("phone", phone)):
            task = device()[0][0].task_id
            record(engine, project, "ann", [event(task, "positive", f"{name}-{turn}")])
    with reading(engine) as session:
        assert session.scalar(select(func.count()).select_from(Answer)) == 100  # 100 acts,
        assert session.scalar(select(func.count()).select_from(PairLabel)) == 100  # 100 pairs: none twice


def test_two_devices_that_meet_late_begin_with_different_pairs(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(40)], auto_train=False)
    make_round(engine, project, 100)
    laptop, phone = (partial(serve, engine, project, "ann", device=device) for device in ("laptop", "phone"))
    laptop()
    second = [pair.task_id for pair in phone()[0]]
    first = [pair.task_id for pair in laptop()[0]]  # the last that it hears
    assert not set(first[:60]) & set(second[:30])
    assert not set(first[:80]) & set(second[:10]) and not set(first[:20]) & set(second[:70])
    other = make_project(engine, [f"text {i}" for i in range(40)], name="Other", auto_train=False)
    make_round(engine, other, 100)
    elsewhere = [pair.task_id for pair in serve(engine, other, "ann", device="phone")[0]]
    assert elsewhere == sorted(elsewhere)  # devices share what they both label


def test_two_tabs_of_one_person_hold_the_same_pairs(engine: Engine, project: int) -> None:
    first_tab, second_tab = (partial(serve, engine, project, "ann") for _ in range(2))
    tasks = [pair.task_id for pair in first_tab()[0]]
    assert [pair.task_id for pair in second_tab()[0]] == tasks
    record(engine, project, "ann", [event(tasks[0], "positive", "first-1")])
    assert [pair.task_id for pair in second_tab()[0]] == tasks[1:]  # what one tab answered, the other one drops
    record(engine, project, "ann", [event(tasks[0], "negative", "second-1"), event(tasks[1], "negative", "second-2")])
    assert [pair.task_id for pair in first_tab()[0]] == tasks[2:]
    with reading(engine) as session:
        assert set(session.scalars(select(Lease.task_id))) == {tasks[2]}  # a heartbeat revives nothing that is answered


def test_the_time_a_pair_is_free_follows_the_leases_of_others(engine: Engine, project: int) -> None:
    for who in ("ann", "cem", "dan"):
        serve(engine, project, who)
    told = look(engine, project, "ben")
    assert told.reason is Reason.LEASED and told.free_at is not None
    with writing(engine) as session:
        for lease in session.scalars(select(Lease)):
            lease.expires_at = now() + timedelta(minutes=4)
    assert "free in 10 minutes" in why_empty(told)
    assert "free in 4 minutes" in why_empty(look(engine, project, "ben"))


def test_a_pair_held_from_the_batch_before_is_not_served_twice(engine: Engine, project: int) -> None:
    old = ask(engine, project, "ann", 0)[0]
    newest = make_round(engine, project, 2)
    with writing(engine) as session:  # a new batch has one of the pairs again: it had no label when it was made
        pair = session.get_one(Task, old)
        again = session.scalars(select(Task).where(Task.round_id == newest)).first()
        assert again is not None
        again.left_id, again.right_id = pair.left_id, pair.right_id
        twice = again.id
    assert twice not in ask(engine, project, "ben", 1)
    with reading(engine) as session:
        assert next_lease_end(session, project, "ben", START + timedelta(minutes=1)) == START + LEASE
    assert twice in ask(engine, project, "ann", 1)  # one's own leases never block
    with writing(engine) as session:
        end_leases(session, "ann", [twice])
        end_leases_before(session, session.get_one(Round, newest))
    assert twice in ask(engine, project, "ben", 1)  # nobody has the old one any more
    record(engine, project, "ann", [event(old, "positive", "a")])
    assert twice not in ask(engine, project, "ben", 1)  # it is labelled now


def test_own_leases_are_free_for_oneself_in_the_audit_batch(engine: Engine, project: int) -> None:
    make_design(engine, project)
    audit_batch = make_audit_batch(engine, project, 2)
    in_batch = ask(engine, project, "ann", 0)
    with writing(engine) as session:  # an audit batch may have a pair of the batch that nobody has labelled yet
        pair = session.get_one(Task, in_batch[0])
        again = session.scalars(select(Task).where(Task.round_id == audit_batch)).all()
        again[0].left_id, again[0].right_id = pair.left_id, pair.right_id
        in_audit_batch = [task.id for task in again]
    with writing(engine) as session:
        at = START + timedelta(minutes=1)
        assert [task.id for task in lease_tasks(session, project, "ben", 10, at, audit_batch=True)] == in_audit_batch[
            1:
        ]
        assert next_lease_end(session, project, "ben", at, audit_batch=True) == START + LEASE
        end_leases(session, "ben")
        assert [task.id for task in lease_tasks(session, project, "ann", 10, at, audit_batch=True)] == in_audit_batch
        assert next_lease_end(session, project, "ann", at, audit_batch=True) is None
    assert ask(engine, project, "ann", 2) == in_batch


def test_six_people_share_a_small_batch_and_a_new_audit_batch(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(60)], evaluation=20, auto_train=False)
    make_round(engine, project, 40, reserve=40)
    make_design(engine, project)
    make_audit_batch(engine, project, 12)
    people = ["ann", "ben", "cem", "dan", "eve", "fay"]
    for audit_batch, least in ((False, 6), (True, 2)):
        first = {who: serve(engine, project, who, audit_batch=audit_batch)[0] for who in people}
        assert all(len(pairs) >= least and pairs[0].in_batch for pairs in first.values())
        shown = [{pair.task_id for pair in serve(engine, project, who, audit_batch=audit_batch)[0]} for who in people]
        assert len(set.union(*shown)) == sum(map(len, shown)) == (12 if audit_batch else 40)  # nobody has another's
        for who, pairs in first.items():  # the first that each one saw is still theirs
            assert pairs[0].task_id in shown[people.index(who)]


def test_pairs_of_the_old_reserve_are_shown_in_the_new_batch(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(20)], auto_train=False)
    make_round(engine, project, 4, reserve=6)
    for pair in serve(engine, project, "ann")[0]:
        record(engine, project, "ann", [event(pair.task_id, "negative", f"first-{pair.task_id}")])
    reserve = [pair.task_id for pair in serve(engine, project, "ann")[0]]
    newest = make_round(engine, project, 6)
    with writing(engine) as session:
        for old, new in zip(reserve, session.scalars(select(Task).where(Task.round_id == newest)), strict=True):
            pair = session.get_one(Task, old)
            new.left_id, new.right_id = pair.left_id, pair.right_id
        open_batch(session, session.get_one(Round, newest))
    assert [len(serve(engine, project, who)[0]) for who in ("ann", "ben")] == [6, 3]


def test_a_typed_name_is_one_person_whatever_its_case(engine: Engine, project: int) -> None:
    assert annotator_named(engine, " Zoë ") == "Zoë"
    serve(engine, project, annotator_named(engine, "Zoë"))
    alike = unicodedata.normalize("NFD", "ZOË")
    assert annotator_named(engine, alike) == "Zoë"  # by her leases, before she has answered
    task = serve(engine, project, annotator_named(engine, alike))[0][0].task_id
    record(engine, project, annotator_named(engine, "zoë"), [event(task, "positive", "first")])
    assert annotator_named(engine, "ZOË") == "Zoë" and annotator_named(engine, "Zoe") == "Zoe"
    with reading(engine) as session:
        assert set(session.scalars(select(Answer.annotator))) == {"Zoë"}
