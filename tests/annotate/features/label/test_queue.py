"""Serving pairs and recording answers, as the labelling page does."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.label import queue
from allpairs.annotate.features.label.queue import (
    AuditBatch,
    ChoiceScore,
    Reason,
    ask_if_due,
    audit_batch_of,
    leave,
    look,
    record,
    serve,
)
from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.labels.answers import current_labels
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Job, Lease, Round, Task, now
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project with a batch of three pairs and a reserve of two."""
    project_id = make_project(engine, [f"text {i}" for i in range(6)])
    make_round(engine, project_id, 3, reserve=2)
    return project_id


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the projects whose next batch was requested; after each request a job is waiting."""
    projects: list[int] = []

    def ask(engine: Engine, project_id: int) -> None:
        projects.append(project_id)
        set_job(engine, project_id, "waiting")

    monkeypatch.setattr(queue, "request_round", ask)
    return projects


@pytest.fixture
def measured(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return the arguments of each measurement requested by a complete audit batch; no job stays open."""
    asked: list[tuple[Any, ...]] = []

    def audit(engine: Engine, project_id: int, draw: int) -> None:
        asked.append((project_id, draw))
        set_job(engine, project_id, "done", kind="audit")

    def correction(engine: Engine, project_id: int, number: int, recall: float, draw: int) -> None:
        asked.append((project_id, number, recall, draw))
        set_job(engine, project_id, "done", kind="correction")

    monkeypatch.setattr(queue, "request_audit", audit)
    monkeypatch.setattr(queue, "request_correction", correction)
    return asked


def set_job(
    engine: Engine, project_id: int, state: str, age: timedelta = timedelta(), kind: str = "next_round"
) -> None:
    """Set the state of the project's only job of this kind."""
    with writing(engine) as session:
        job = Job(id=f"{kind}-{project_id}", project_id=project_id, kind=kind, state=state, created_at=now() - age)
        session.merge(job)


def event(task_id: int, answer: str = "positive", key: str = "", **more: Any) -> dict[str, Any]:
    return {"key": key or f"{task_id}-{answer}", "task_id": task_id, "answer": answer, "seconds": 1.5} | more


def task_ids(engine: Engine, project_id: int) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Task.id).where(Task.project_id == project_id).order_by(Task.position)))


def ids_of(engine: Engine, round_id: int) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Task.id).where(Task.round_id == round_id).order_by(Task.position)))


def answers(engine: Engine) -> list[Answer]:
    with reading(engine) as session:
        return list(session.scalars(select(Answer).order_by(Answer.id)))


def test_serving_gives_texts_and_leases(engine: Engine, project: int) -> None:
    pairs, standing = serve(engine, project, "ann", 2)
    assert [(pair.left, pair.right, pair.in_batch) for pair in pairs] == [
        ("text 0", "text 1", True),
        ("text 0", "text 2", True),
    ]
    assert standing.reason is None
    with reading(engine) as session:
        assert {lease.annotator for lease in session.scalars(select(Lease))} == {"ann"}


def test_a_replay_stores_nothing_twice_and_is_acknowledged(engine: Engine, project: int, asked: list[int]) -> None:
    first, second, _ = task_ids(engine, project)[:3]
    log = [event(first), event(second, "negative")]
    assert record(engine, project, "ann", log[:1]).stored == [log[0]["key"]]
    assert record(engine, project, "ann", [*log, log[0]]).stored == [entry["key"] for entry in log]
    assert [answer.answer for answer in answers(engine)] == ["positive", "negative"]
    assert [answer.seconds for answer in answers(engine)] == [1.5, 1.5]


def test_a_key_is_known_in_its_own_project_alone(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    make_round(engine, other, 1)
    for project_id in (project, other):
        task = task_ids(engine, project_id)[0]
        assert record(engine, project_id, "ann", [event(task, key="k")]).stored == ["k"]
    assert [answer.project_id for answer in answers(engine)] == [project, other]


def test_undo_is_a_row_and_the_pair_is_served_again(engine: Engine, project: int) -> None:
    first = task_ids(engine, project)[0]
    record(engine, project, "ann", [event(first), event(first, "retract")])
    with reading(engine) as session:
        assert current_labels(session, project) == []
    assert len(answers(engine)) == 2
    assert serve(engine, project, "ann", 1)[0][0].task_id == first


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"answer": "maybe"}, "answer"),
        ({"answer": None}, "answer"),
        ({"task_id": "one"}, "task_id"),
        ({"task_id": 2**70}, "task_id"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": -1}, "seconds"),
        ({"task_id": 999}, "task 999 does not belong to this project"),
    ],
)
def test_a_bad_event_is_refused_and_the_others_are_stored(
    engine: Engine, project: int, change: dict[str, Any], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    first, second, _ = task_ids(engine, project)[:3]
    receipt = record(engine, project, "ann", [event(first), event(second, key="bad") | change])
    assert receipt.stored == [event(first)["key"]]
    assert why in receipt.refused["bad"]
    assert "bad" in caplog.text
    assert len(answers(engine)) == 1


def test_what_is_no_event_at_all_is_refused(engine: Engine, project: int) -> None:
    assert list(record(engine, project, "ann", ["text", None, {}]).refused) == [""]
    assert answers(engine) == []


def test_a_task_of_another_project_is_refused(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    make_round(engine, other, 1)
    foreign = task_ids(engine, other)[0]
    assert record(engine, project, "ann", [event(foreign, key="k")]).refused.keys() == {"k"}
    assert answers(engine) == []


def test_an_answer_after_the_lease_is_stored(engine: Engine, project: int) -> None:
    first = serve(engine, project, "ann", 1)[0][0].task_id
    with writing(engine) as session:
        session.get_one(Lease, first).expires_at = now() - timedelta(minutes=1)
    serve(engine, project, "bob", 1)
    record(engine, project, "ann", [event(first)])
    assert [answer.annotator for answer in answers(engine)] == ["ann"]


def test_a_browsers_wrong_clock_is_not_believed(engine: Engine, project: int, asked: list[int]) -> None:
    batch = task_ids(engine, project)[:3]
    with writing(engine) as session:
        session.add(Job(id="last", project_id=project, kind="next_round", state="done"))
    before, slow = now(), now() - timedelta(hours=2)
    record(engine, project, "ann", [event(id_, at=slow.isoformat()) for id_ in batch])
    assert all(answer.created_at >= before for answer in answers(engine))
    assert asked == [project]


def test_the_last_answer_of_the_batch_asks_for_the_next_one(engine: Engine, project: int, asked: list[int]) -> None:
    *batch, reserve, last = task_ids(engine, project)
    record(engine, project, "ann", [event(id_) for id_ in batch[:2]])
    record(engine, project, "ann", [event(reserve), event(batch[2], "skip")])
    assert asked == []
    record(engine, project, "bob", [event(batch[2], "unsure")])
    assert asked == [project]
    record(engine, project, "bob", [event(batch[2], "unsure"), event(last, "negative")])
    assert asked == [project]


@pytest.mark.parametrize(("state", "times"), [("failed", 0), ("cancelled", 0), ("waiting", 0), ("done", 1)])
def test_only_a_job_that_is_done_is_followed_by_another(
    engine: Engine, project: int, asked: list[int], state: str, times: int
) -> None:
    set_job(engine, project, state)
    record(engine, project, "ann", [event(id_) for id_ in task_ids(engine, project)[:3]])
    assert len(asked) == times


def test_a_batch_completed_during_a_job_is_not_forgotten(engine: Engine, project: int, asked: list[int]) -> None:
    set_job(engine, project, "running", age=timedelta(minutes=1))
    record(engine, project, "ann", [event(id_) for id_ in task_ids(engine, project)[:3]])
    ask_if_due(engine, project)
    assert asked == []
    set_job(engine, project, "done", age=timedelta(minutes=1))  # and it made no new batch
    ask_if_due(engine, project)
    assert asked == [project]
    set_job(engine, project, "done")  # this one has seen all answers: another would only do the same
    ask_if_due(engine, project)
    assert asked == [project]


def test_a_project_without_automatic_training_asks_for_nothing(engine: Engine, asked: list[int]) -> None:
    project_id = make_project(engine, ["a", "b"], auto_train=False)
    make_round(engine, project_id, 1)
    record(engine, project_id, "ann", [event(task_ids(engine, project_id)[0])])
    assert asked == []


def test_answers_are_stored_even_if_the_next_batch_request_fails(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(engine: Engine, project_id: int) -> str:
        raise OSError("the queue is away")

    monkeypatch.setattr(queue, "request_round", fail)
    log = [event(id_) for id_ in task_ids(engine, project)[:3]]
    assert len(record(engine, project, "ann", log).stored) == 3
    assert "the queue is away" in caplog.text


def test_reasons_for_having_nothing_to_label(engine: Engine, asked: list[int]) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(4)])
    assert look(engine, project_id, "ann").reason is Reason.NO_BATCH
    make_round(engine, project_id, 2, reserve=1)
    assert look(engine, project_id, "ann").reason is None
    serve(engine, project_id, "bob")
    assert look(engine, project_id, "ann").reason is None  # a fair part of the batch
    serve(engine, project_id, "cat")
    assert look(engine, project_id, "ann").reason is None  # the reserve
    serve(engine, project_id, "dan")
    standing = look(engine, project_id, "ann")
    assert standing.reason is Reason.LEASED
    assert standing.free_at is not None and standing.free_at > now()
    record(engine, project_id, "bob", [event(id_, "negative") for id_ in task_ids(engine, project_id)])
    assert look(engine, project_id, "ann").reason is Reason.COMPLETE


def test_looking_leases_nothing(engine: Engine, project: int) -> None:
    look(engine, project, "ann")
    with reading(engine) as session:
        assert session.scalars(select(Lease)).all() == []


def test_the_newest_job_and_the_note_of_the_batch_are_shown(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        session.scalars(select(Round)).one().note = "All answers so far are negative."
        for number in range(2):
            at = now() + timedelta(seconds=number)
            session.add(Job(id=f"job-{number}", project_id=project, kind="next_round", created_at=at))
    standing = look(engine, project, "ann")
    assert standing.job is not None and standing.job.id == "job-1"
    assert "answers so far are negative" in standing.note


def test_a_batch_without_pairs_means_that_nothing_is_left(engine: Engine, asked: list[int]) -> None:
    project_id = make_project(engine, ["a", "b"])
    make_round(engine, project_id, 0)
    assert look(engine, project_id, "ann").reason is Reason.EMPTY
    ask_if_due(engine, project_id)
    assert asked == []


def test_skip_and_retract_are_no_labels(engine: Engine, project: int, asked: list[int]) -> None:
    batch = task_ids(engine, project)[:3]
    record(engine, project, "ann", [event(id_, AnswerKind.SKIP) for id_ in batch])
    assert asked == []
    assert look(engine, project, "ann").progress.answered == 0


def test_who_leaves_holds_nothing(engine: Engine, project: int) -> None:
    serve(engine, project, "me")
    leave(engine, "me")
    assert [pair.in_batch for pair in serve(engine, project, "ann")[0]] == [True] * 3


@pytest.fixture
def audited(engine: Engine) -> int:
    """Return a project with an audit design and a batch of four pairs, the second and last being audit pairs."""
    project_id = make_project(engine, [f"text {i}" for i in range(12)], evaluation=6)
    make_design(engine, project_id)
    make_round(engine, project_id, 4, audits=(1, 3))
    return project_id


def test_nothing_that_is_served_tells_an_audit_pair(engine: Engine, audited: int) -> None:
    pairs, _ = serve(engine, audited, "ann")
    told = {"task_id", "in_batch", "left", "right", "likely", "repeated", "rows"}
    assert [set(vars(pair)) for pair in pairs] == [told] * 4
    assert [pair.in_batch for pair in pairs] == [True] * 4


def test_why_a_pair_was_chosen_is_shown_only_with_its_label(engine: Engine, audited: int, asked: list[int]) -> None:
    train, audit, other, last = task_ids(engine, audited)
    log = [event(train), event(audit), event(other, "skip"), event(last, "retract")]
    receipt = record(engine, audited, "ann", log)
    assert receipt.choices == {train: ChoiceScore(0.95, None), audit: ChoiceScore()}
    assert len(receipt.stored) == 4


def test_a_batch_is_due_even_if_an_audit_pair_comes_last(engine: Engine, audited: int, asked: list[int]) -> None:
    set_job(engine, audited, "done", age=timedelta(minutes=1))
    first, audit, other, last = task_ids(engine, audited)
    record(engine, audited, "ann", [event(first), event(other), event(last)])
    assert asked == []
    record(engine, audited, "ann", [event(audit)])
    assert asked == [audited]


def test_audit_answers_alone_never_ask_for_training(engine: Engine, audited: int, asked: list[int]) -> None:
    first, audit, other, last = task_ids(engine, audited)
    record(engine, audited, "ann", [event(first), event(audit), event(other)])
    set_job(engine, audited, "done")  # somebody trained before the batch was complete, and no new one could be made
    record(engine, audited, "ann", [event(last)])
    assert asked == []


def test_a_measuring_job_does_not_hide_answers_from_training(engine: Engine, project: int, asked: list[int]) -> None:
    set_job(engine, project, "done", age=timedelta(minutes=1))
    set_job(engine, project, "running", kind="audit")
    record(engine, project, "ann", [event(id_) for id_ in task_ids(engine, project)[:3]])
    assert asked == []
    set_job(engine, project, "failed", kind="audit")
    ask_if_due(engine, project)
    assert asked == [project]


def test_an_audit_batch_is_served_apart_from_the_batch(engine: Engine, audited: int) -> None:
    batch_ids = task_ids(engine, audited)
    audit_batch = make_audit_batch(engine, audited, 3)
    pairs, standing = serve(engine, audited, "ann", audit_batch=True)
    assert [pair.task_id for pair in pairs] == ids_of(engine, audit_batch)
    assert (standing.progress.round_id, standing.progress.size, standing.reason) == (audit_batch, 3, None)
    assert standing.audit_batch == AuditBatch(audit_batch, DesignKind.AUDIT, 3) == audit_batch_of(engine, audited)
    assert len(serve(engine, audited, "bob", audit_batch=True)[0]) == 1  # of three, a fair part
    assert len(serve(engine, audited, "cat", audit_batch=True)[0]) == 1
    assert look(engine, audited, "dan", audit_batch=True).reason is Reason.LEASED
    assert look(engine, audited, "bob").progress.number == 1
    assert [pair.task_id for pair in serve(engine, audited, "bob")[0]] == batch_ids


def test_a_project_without_an_audit_batch_has_none(engine: Engine, project: int) -> None:
    assert audit_batch_of(engine, project) is None
    pairs, standing = serve(engine, project, "ann", audit_batch=True)
    assert (pairs, standing.reason, standing.audit_batch) == ([], Reason.NO_BATCH, None)


def test_a_complete_audit_batch_is_measured_once(
    engine: Engine, audited: int, asked: list[int], measured: list[tuple[Any, ...]]
) -> None:
    first, second = ids_of(engine, make_audit_batch(engine, audited, 2))
    record(engine, audited, "ann", [event(first, "negative"), event(second, "skip")])
    assert measured == []
    record(engine, audited, "ann", [event(second, "unsure")])
    assert measured == [(audited, 0)]
    assert look(engine, audited, "ann", audit_batch=True).reason is Reason.COMPLETE
    record(engine, audited, "ann", [event(task_ids(engine, audited)[0])])
    ask_if_due(engine, audited)
    assert measured == [(audited, 0)]
    record(engine, audited, "ann", [event(second, key="undo") | {"answer": "retract"}, event(second, key="again")])
    assert measured == [(audited, 0)] * 2
    assert asked == []


def test_an_audit_batch_completed_during_a_job_is_measured_later(
    engine: Engine, audited: int, measured: list[tuple[Any, ...]]
) -> None:
    set_job(engine, audited, "running")
    record(engine, audited, "ann", [event(id_) for id_ in ids_of(engine, make_audit_batch(engine, audited, 2))])
    assert measured == []
    set_job(engine, audited, "done")
    ask_if_due(engine, audited)
    assert measured == [(audited, 0)]


def test_a_failed_measurement_is_not_tried_again_by_itself(
    engine: Engine, audited: int, measured: list[tuple[Any, ...]]
) -> None:
    record(engine, audited, "ann", [event(id_) for id_ in ids_of(engine, make_audit_batch(engine, audited, 1))])
    set_job(engine, audited, "failed", kind="audit")
    ask_if_due(engine, audited)
    assert len(measured) == 1


def test_a_complete_check_is_measured_for_its_round_and_recall(
    engine: Engine, audited: int, measured: list[tuple[Any, ...]]
) -> None:
    make_design(engine, audited, DesignKind.CORRECTION, round=3, recall=0.5)
    audit_batch = make_audit_batch(engine, audited, 1, DesignKind.CORRECTION)
    assert audit_batch_of(engine, audited) == AuditBatch(audit_batch, DesignKind.CORRECTION, 1)
    record(engine, audited, "ann", [event(id_) for id_ in ids_of(engine, audit_batch)])
    assert measured == [(audited, 3, 0.5, 0)]
