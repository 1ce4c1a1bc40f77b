"""Audit tasks, audit batches and designs: how they are sampled and labelled, and that they never train."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, func, select

from allpairs.annotate.features.label.end_audit import drop_audit_batch
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.projects.projects import delete_project, list_projects
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.jobs.requests import request_audit, request_correction, request_round
from allpairs.db.domain import AnswerKind, DesignKind, Purpose
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import current_labels, newest_answer, purpose_counts, store_answers
from allpairs.db.labels.audits import (
    AuditLabel,
    add_audit_tasks,
    audit_labels,
    design_by_id,
    design_of,
    designs_of,
    drop_unanswered,
    newest_design,
)
from allpairs.db.labels.label_counts import label_tally
from allpairs.db.labels.tasks import (
    add_tasks,
    batch_progress,
    lease_tasks,
    newest_audit_batch,
    newest_round,
    open_audit_batch,
)
from allpairs.db.labels.training_labels import training_labels_changed
from allpairs.db.projects.rounds import batches_of, last_answer_at
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Design, Job, Lease, PairLabel, Round, Task, now
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round
from tests.helpers.machine import examples

P, N, U, S, R = AnswerKind  # positive, negative, unsure, skip, retract


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project with an audit design, a batch of four pairs, two of them audit pairs, and a reserve of one."""
    project_id = make_project(engine, [f"text {i}" for i in range(12)], evaluation=6)
    make_design(engine, project_id)
    make_round(engine, project_id, 4, reserve=1, audits=(1, 3))
    return project_id


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, ...]]]:
    """Yield what was queued as jobs: kind and arguments."""
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(jobs, "enqueue_workflow", lambda engine, job_id, *arguments: sent.append(arguments))
    yield sent


def tasks_of(engine: Engine, round_id: int) -> list[Task]:
    with reading(engine) as session:
        return list(session.scalars(select(Task).where(Task.round_id == round_id).order_by(Task.position)))


def batch_of(engine: Engine, project_id: int) -> Round:
    with reading(engine) as session:
        batch = newest_round(session, project_id)
        assert batch is not None
        return batch


def act(engine: Engine, task: Task, answer: AnswerKind, annotator: str = "ann", by_task: bool = True) -> None:
    with writing(engine) as session:
        count = session.scalar(select(func.count(Answer.id)))
        store_answers(session, [{
            "project_id": task.project_id, "task_id": task.id if by_task else None, "left_id": task.left_id,
            "right_id": task.right_id, "annotator": annotator, "answer": answer, "key": f"key-{count}",
            "seconds": None, "created_at": now(),
        }])  # fmt: skip


def set_job(engine: Engine, project_id: int, kind: str, state: str) -> None:
    with writing(engine) as session:
        session.merge(Job(id=kind, project_id=project_id, kind=kind, state=state, created_at=now()))


def test_an_audit_batch_is_no_batch(engine: Engine, project: int) -> None:
    first = batch_of(engine, project).id
    audit_batch = make_audit_batch(engine, project, 3)
    make_round(engine, project, 2)
    last = make_audit_batch(engine, project, 1)
    with reading(engine) as session:
        assert [batch.number for batch in batches_of(session, project)] == [1, 2]
        newest = newest_round(session, project)
        assert newest is not None and newest.number == 2
        found = newest_audit_batch(session, project)
        assert found is not None and (found.id, found.number) == (last, None)
    assert len({first, audit_batch, last}) == 3
    assert list_projects(engine)[0].rounds == 2


def test_an_audit_batch_is_open_while_a_pair_of_it_has_no_label(engine: Engine, project: int) -> None:
    with reading(engine) as session:
        assert open_audit_batch(session, project) is None
    audit_batch = make_audit_batch(engine, project, 2)
    first, second = tasks_of(engine, audit_batch)
    act(engine, first, U)
    act(engine, second, S)
    with reading(engine) as session:
        found = open_audit_batch(session, project)
        assert found is not None and found.id == audit_batch
    act(engine, second, N)
    with reading(engine) as session:
        assert open_audit_batch(session, project) is None


def test_each_queue_serves_its_own_and_no_labelled_pair(engine: Engine, project: int) -> None:
    audit_batch = make_audit_batch(engine, project, 3)
    taken = tasks_of(engine, audit_batch)[1]
    act(engine, taken, P, by_task=False)  # the pair was labelled elsewhere
    with writing(engine) as session:
        at = now()
        batch = lease_tasks(session, project, "ann", 40, at)
        audits = lease_tasks(session, project, "ann", 40, at, audit_batch=True)
    assert [task.position for task in batch] == [0, 1, 2, 3]
    assert [(task.round_id, task.position) for task in audits] == [(audit_batch, 0), (audit_batch, 2)]
    with reading(engine) as session:
        progress = batch_progress(session, project, audit_batch=True)
    assert (progress.round_id, progress.number, progress.size, progress.answered) == (audit_batch, 0, 3, 1)


def test_audit_pairs_count_in_the_batch_but_not_for_training(engine: Engine, project: int) -> None:
    for task, answer in zip(tasks_of(engine, batch_of(engine, project).id), (P, P, N, U), strict=False):
        act(engine, task, answer)
    with reading(engine) as session:
        progress = batch_progress(session, project)
        training = [one for one in label_tally(session, project) if one.purpose == Purpose.TRAIN]
        counts = purpose_counts(session, project)
    assert {(one.round_id, one.answer): one.count for one in training} == {
        (batch_of(engine, project).id, P): 1,
        (batch_of(engine, project).id, N): 1,
    }
    assert counts == {(Purpose.TRAIN, P): 1, (Purpose.TRAIN, N): 1, (Purpose.AUDIT, P): 1, (Purpose.AUDIT, U): 1}
    assert (progress.size, progress.answered, progress.positives) == (4, 4, 2)
    assert progress.complete
    assert progress.all_positives == 2


def test_imported_labels_count_as_training_labels(engine: Engine, project: int) -> None:
    act(engine, tasks_of(engine, batch_of(engine, project).id)[0], P, by_task=False)
    with reading(engine) as session:
        assert purpose_counts(session, project) == {(Purpose.TRAIN, P): 1}


def test_audit_answers_are_no_news_for_training(engine: Engine, project: int) -> None:
    train, audit = tasks_of(engine, batch_of(engine, project).id)[:2]
    act(engine, audit, P)
    with reading(engine) as session:
        assert not training_labels_changed(session, project, 0)
        assert last_answer_at(session, audit.round_id) is not None
    act(engine, train, P)
    with reading(engine) as session:
        assert training_labels_changed(session, project, 0)
        assert not training_labels_changed(session, project, newest_answer(session, project))


def test_ids_do_not_tell_which_tasks_of_a_batch_are_audits(engine: Engine, project: int) -> None:
    tasks = tasks_of(engine, batch_of(engine, project).id)
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)
    assert [task.purpose for task in tasks] == ["train", "audit", "train", "audit", "train"]


def test_audit_tasks_carry_their_design(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        design = newest_design(session, project, DesignKind.AUDIT)
        assert design is not None
        audit_batch = Round(project_id=project, number=None, strategy="audit", size=2)
        session.add(audit_batch)
        session.flush()
        columns = {"score": 0.5, "inclusion": 0.25, "stratum": 1}
        add_audit_tasks(session, audit_batch, design, [
            {"left_id": 8, "right_id": 9, "position": 1} | columns,
            {"left_id": 7, "right_id": 9, "position": 0} | columns,
        ])  # fmt: skip
        add_audit_tasks(session, audit_batch, design, [])
        add_tasks(session, [])
    first, second = tasks_of(engine, audit_batch.id)
    assert (first.left_id, first.right_id, first.position) == (7, 9, 0)
    assert (second.design_id, second.purpose, second.strategy, second.p) == (design.id, "audit", "audit", None)
    assert (second.inclusion, second.stratum) == (0.25, 1)
    with reading(engine) as session:
        found = design_of(session, session.get_one(Round, audit_batch.id))
        assert found is not None and found.id == design.id
        assert design_of(session, Round(id=999)) is None


def test_designs_are_found_by_kind_and_id(engine: Engine, project: int) -> None:
    second = make_design(engine, project)
    check = make_design(engine, project, DesignKind.CORRECTION)
    other = make_project(engine, ["a", "b"], name="Other")
    with reading(engine) as session:
        newest = {kind: newest_design(session, project, kind) for kind in DesignKind}
        assert {kind: design.id for kind, design in newest.items() if design} == {
            DesignKind.AUDIT: second,
            DesignKind.CORRECTION: check,
        }
        assert newest_design(session, other, DesignKind.AUDIT) is None
        assert [design.number for design in designs_of(session, project, DesignKind.AUDIT)] == [1, 2]
        found = design_by_id(session, check)
        assert found is not None and found.kind == "correction"
        assert design_by_id(session, 999) is None


def labels(engine: Engine, project_id: int, kind: DesignKind = DesignKind.AUDIT) -> set[Any]:
    with reading(engine) as session:
        found = audit_labels(session, project_id, kind)
    assert len({(label.left_id, label.right_id) for label in found}) == len(found)
    assert all(isinstance(label, AuditLabel) for label in found)
    return set(found)


def test_an_audit_label_counts_whoever_gave_it_and_wherever(engine: Engine, project: int) -> None:
    batch = tasks_of(engine, batch_of(engine, project).id)
    mixed, unsure = batch[1], batch[3]
    audit_batch = make_audit_batch(engine, project, 2)
    imported, unanswered = tasks_of(engine, audit_batch)
    act(engine, batch[0], P)
    act(engine, mixed, P)
    act(engine, unsure, U)
    act(engine, imported, N, annotator="import", by_task=False)
    act(engine, unanswered, S)

    def label(task: Task, answer: AnswerKind) -> AuditLabel:
        assert task.design_id is not None and task.stratum is not None and task.inclusion is not None
        return AuditLabel(task.left_id, task.right_id, answer, task.design_id, task.stratum, task.inclusion)

    assert labels(engine, project) == {label(mixed, P), label(unsure, U), label(imported, N)}
    assert labels(engine, project, DesignKind.CORRECTION) == set()
    act(engine, mixed, N, annotator="bob")
    assert label(mixed, N) in labels(engine, project)


def test_a_pair_that_two_designs_drew_has_the_first_ones_values(engine: Engine, project: int) -> None:
    first = tasks_of(engine, make_audit_batch(engine, project, 1))[0]
    make_design(engine, project)
    check = make_design(engine, project, DesignKind.CORRECTION, true=1)
    again = tasks_of(engine, make_audit_batch(engine, project, 1))[0]
    checked = tasks_of(engine, make_audit_batch(engine, project, 1, DesignKind.CORRECTION))[0]
    with writing(engine) as session:
        for id_ in (again.id, checked.id):
            task = session.get_one(Task, id_)
            task.left_id, task.right_id, task.inclusion, task.stratum = first.left_id, first.right_id, 0.01, 2
    act(engine, first, P)
    pair = (first.left_id, first.right_id, P)
    assert labels(engine, project) == {(*pair, first.design_id, 0, 0.5)}
    assert labels(engine, project, DesignKind.CORRECTION) == {(*pair, check, 2, 0.01)}


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.sampled_from(AnswerKind)), max_size=12))
def test_audit_labels_are_the_current_labels_of_audited_pairs(
    engine: Engine, project: int, acts: list[tuple[int, str, AnswerKind]]
) -> None:
    with writing(engine) as session:
        for table in (PairLabel, Answer):
            session.execute(delete(table))
    tasks = tasks_of(engine, batch_of(engine, project).id)
    for place, annotator, answer in acts:
        act(engine, tasks[place], answer, annotator, by_task=annotator == "a")
    audited = {(task.left_id, task.right_id) for task in tasks if task.purpose == Purpose.AUDIT}
    with reading(engine) as session:
        expected = {(at.left_id, at.right_id, at.answer) for at in current_labels(session, project)
                    if (at.left_id, at.right_id) in audited}  # fmt: skip
    assert {label[:3] for label in labels(engine, project)} == expected


def answered_by_an_entity_audit(engine: Engine, project: int, places: list[int], size: int) -> list[Task]:
    """Label pairs in an entity audit, and return an audit batch that has drawn these pairs at these places."""
    make_design(engine, project, DesignKind.ENTITIES, weights=[1.0])
    asked = tasks_of(engine, make_audit_batch(engine, project, len(places), DesignKind.ENTITIES))
    drawn = tasks_of(engine, make_audit_batch(engine, project, size))
    with writing(engine) as session:
        for at, task in zip(places, asked, strict=True):
            same = session.get_one(Task, drawn[at].id)
            same.left_id, same.right_id = task.left_id, task.right_id
    for task in asked:
        act(engine, task, P)
    return tasks_of(engine, drawn[0].round_id)


def counted(engine: Engine, project: int, tasks: list[Task]) -> list[int]:
    """Return the places of the tasks whose label counts."""
    found = {(one.left_id, one.right_id) for one in labels(engine, project)}
    return [at for at, task in enumerate(tasks) if (task.left_id, task.right_id) in found]


def test_an_entity_audit_label_counts_with_the_next_question(engine: Engine, project: int) -> None:
    tasks = answered_by_an_entity_audit(engine, project, [0, 2, 3, 5], 6)
    assert counted(engine, project, tasks) == []
    with writing(engine) as session:
        assert {task.id for task in lease_tasks(session, project, "ann", 9, now(), audit_batch=True)} == {
            tasks[1].id, tasks[4].id,
        }  # fmt: skip
    act(engine, tasks[1], N)
    assert counted(engine, project, tasks) == [0, 1]
    act(engine, tasks[4], U)
    assert counted(engine, project, tasks) == list(range(6))
    act(engine, tasks[1], R)
    assert counted(engine, project, tasks) == [2, 3, 4, 5]


def test_the_rest_of_an_audit_batch_takes_waiting_pairs_along(engine: Engine, project: int) -> None:
    tasks = answered_by_an_entity_audit(engine, project, [0, 2, 3, 5], 6)
    act(engine, tasks[1], N)
    with writing(engine) as session:
        assert drop_unanswered(session, session.get_one(Round, tasks[0].round_id)) == 2
    assert [task.id for task in tasks_of(engine, tasks[0].round_id)] == [tasks[0].id, tasks[1].id]
    assert counted(engine, project, tasks) == [0, 1]


def test_only_unlabelled_pairs_of_an_audit_batch_are_dropped(engine: Engine, project: int) -> None:
    audit_batch = make_audit_batch(engine, project, 4)
    tasks = tasks_of(engine, audit_batch)
    act(engine, tasks[2], N)
    act(engine, tasks[0], S)
    act(engine, tasks[3], P, by_task=False)
    with writing(engine) as session:
        lease_tasks(session, project, "ann", 40, now(), audit_batch=True)
        assert drop_unanswered(session, session.get_one(Round, audit_batch)) == 2
    assert [task.id for task in tasks_of(engine, audit_batch)] == [tasks[2].id, tasks[3].id]
    with reading(engine) as session:
        assert session.get_one(Round, audit_batch).size == 2
        assert open_audit_batch(session, project) is None
        assert session.scalars(select(Lease)).all() == []
    assert len(tasks_of(engine, batch_of(engine, project).id)) == 5


def test_dropping_an_audit_batch_measures_what_is_left_of_it(
    engine: Engine, project: int, queue: list[tuple[Any, ...]]
) -> None:
    drop_audit_batch(engine, project)
    assert queue == []
    audit_batch = make_audit_batch(engine, project, 2)
    act(engine, tasks_of(engine, audit_batch)[0], P)
    drop_audit_batch(engine, project)
    assert queue == [("audit", project, 0)]
    drop_audit_batch(engine, project)
    assert len(queue) == 1


def test_an_audit_batch_without_answers_is_gone_when_dropped(
    engine: Engine, project: int, queue: list[tuple[Any, ...]]
) -> None:
    make_audit_batch(engine, project, 2)
    drop_audit_batch(engine, project)
    with reading(engine) as session:
        assert newest_audit_batch(session, project) is None
    assert queue == []


def test_an_open_page_answers_no_pair_of_a_later_audit_batch(
    engine: Engine, project: int, queue: list[tuple[Any, ...]]
) -> None:
    ended = make_audit_batch(engine, project, 2)
    shown, _ = serve(engine, project, "ann", audit_batch=True)
    drop_audit_batch(engine, project)
    assert make_audit_batch(engine, project, 2) != ended
    acts = [{"key": f"late-{pair.task_id}", "task_id": pair.task_id, "answer": P} for pair in shown]
    receipt = record(engine, project, "ann", acts)
    assert (len(receipt.refused), receipt.stored) == (2, [])
    with reading(engine) as session:
        assert session.scalar(select(func.count(Answer.id))) == 0


def test_an_audit_is_asked_for_with_its_arguments(engine: Engine, project: int, queue: list[tuple[Any, ...]]) -> None:
    job_id = request_audit(engine, project, 60)
    assert queue == [("audit", project, 60)]
    with reading(engine) as session:
        job = session.get_one(Job, job_id)
        assert (job.kind, job.state, job.project_id) == ("audit", "waiting", project)
    with pytest.raises(InputError, match="another job is running"):
        request_audit(engine, project, 60)
    assert request_audit(engine, project, 0) == job_id  # it brings the figures up to date as well


def test_a_correction_is_asked_for_with_its_arguments(
    engine: Engine, project: int, queue: list[tuple[Any, ...]]
) -> None:
    request_correction(engine, project, 3, 0.5, 50)
    assert queue == [("correction", project, 3, 0.5, 50)]
    with pytest.raises(InputError, match="another job is running"):
        request_correction(engine, project, 3, 0.5, 0)


@pytest.mark.parametrize("kind", ["next_round", "audit", "correction"])
def test_one_job_of_a_project_is_at_work(engine: Engine, project: int, queue: list[tuple[Any, ...]], kind: str) -> None:
    ask = {
        "next_round": lambda: request_round(engine, project),
        "audit": lambda: request_audit(engine, project, 0),
        "correction": lambda: request_correction(engine, project, 0, 0.5, 0),
    }
    set_job(engine, project, kind, "running")
    for other in ask.keys() - {kind}:
        with pytest.raises(InputError, match="another job is running"):
            ask[other]()
    set_job(engine, project, kind, "failed")
    for other in ask:
        ask[other]()
        with writing(engine) as session:
            session.execute(delete(Job))
    assert len(queue) == 3


def test_nothing_is_drawn_while_an_audit_batch_is_open(
    engine: Engine, project: int, queue: list[tuple[Any, ...]]
) -> None:
    audit_batch = make_audit_batch(engine, project, 2)
    act(engine, tasks_of(engine, audit_batch)[0], N)
    with pytest.raises(InputError, match=r"1 unlabelled pair.* drop"):
        request_audit(engine, project, 60)
    with pytest.raises(InputError, match="1 unlabelled pair"):
        request_correction(engine, project, 1, 0.5, 50)
    assert queue == []
    request_audit(engine, project, 0)
    assert queue == [("audit", project, 0)]


def test_training_needs_a_training_answer_since_the_last_one(
    engine: Engine, project: int, queue: list[tuple[Any, ...]]
) -> None:
    train, audit = tasks_of(engine, batch_of(engine, project).id)[:2]
    set_job(engine, project, "next_round", "done")
    act(engine, audit, P)
    with pytest.raises(InputError, match="no new answers to train on since batch 1"):
        request_round(engine, project)
    act(engine, train, P)
    set_job(engine, project, "audit", "done")  # a job that measures in between has trained on nothing
    assert request_round(engine, project).startswith("next_round")


def test_jobs_of_each_kind_reach_the_queue(engine: Engine, project: int) -> None:
    ids = []
    for ask in (lambda: request_audit(engine, project, 5), lambda: request_correction(engine, project, 0, 0.5, 5)):
        ids.append(ask())
        with writing(engine) as session:
            session.get_one(Job, ids[-1]).state = "done"
    with open_jobs.closing_client() as client:
        found = {row.workflow_id: (row.name, list(row.input["args"])) for row in client.list_workflows()}
    assert found == {ids[0]: ("audit", [project, 5]), ids[1]: ("correction", [project, 0, 0.5, 5])}


def test_a_deleted_project_leaves_no_design(engine: Engine, project: int) -> None:
    make_audit_batch(engine, project, 1)
    with writing(engine) as session:
        folder = artifacts() / designs_of(session, project, DesignKind.AUDIT)[0].folder
        folder.mkdir(parents=True)
        session.add(Job(id="old", project_id=project, kind="audit", state="done", created_at=now() - timedelta(days=1)))
    delete_project(engine, project)
    with reading(engine) as session:
        for table in (Design, Round, Task):
            assert session.scalar(select(func.count()).select_from(table)) == 0
    assert not folder.exists()
