"""What counts as a label, who is served which task, and the progress of the batch."""

import multiprocessing
from collections.abc import Callable
from datetime import datetime, timedelta
from multiprocessing.pool import Pool, ThreadPool

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, func, select

from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.labels.answers import current_labels, label_counts, store_answers
from allpairs.db.labels.leases import LEASE
from allpairs.db.labels.tasks import batch_progress, lease_tasks, next_lease_end
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Lease, PairLabel, Task, now
from tests.helpers.factories import claim_tasks, make_project, make_round
from tests.helpers.machine import examples

P, N, U, S, R = AnswerKind  # positive, negative, unsure, skip, retract
PROCESSES = multiprocessing.get_context("spawn").Pool


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project of ten texts with a batch of six pairs and a reserve of three."""
    project_id = make_project(engine, [f"text {i}" for i in range(10)])
    make_round(engine, project_id, 6, reserve=3)
    return project_id


def tasks_of(engine: Engine, project_id: int) -> list[Task]:
    with reading(engine) as session:
        return list(session.scalars(select(Task).where(Task.project_id == project_id).order_by(Task.id)))


def act(engine: Engine, task: Task, answer: AnswerKind, annotator: str = "ann", settles: bool = False) -> None:
    with writing(engine) as session:
        count = session.scalar(select(func.count(Answer.id)))
        store_answers(session, [{
            "project_id": task.project_id, "task_id": task.id, "left_id": task.left_id, "right_id": task.right_id,
            "annotator": annotator, "answer": answer, "key": f"key-{count}", "seconds": None, "created_at": now(),
            "settles": settles,
        }])  # fmt: skip


def labels(engine: Engine, project_id: int, up_to: int | None = None) -> dict[tuple[int, int], AnswerKind]:
    with reading(engine) as session:
        return {(label.left_id, label.right_id): label.answer for label in current_labels(session, project_id, up_to)}


def lease(engine: Engine, project_id: int, annotator: str, n: int, at: datetime) -> list[int]:
    """Return the positions of the tasks served to the annotator."""
    with writing(engine) as session:
        return [task.position for task in lease_tasks(session, project_id, annotator, n, at)]


def expected_labels(acts: list[tuple[int, str, AnswerKind, bool]]) -> dict[int, AnswerKind]:
    """Replay the events, keep each annotator's last answer, and let the last that settles win, or else the last."""
    last: dict[tuple[int, str], tuple[bool, int, AnswerKind]] = {}
    for order, (pair, annotator, answer, settles) in enumerate(acts):
        if answer != S:
            last[pair, annotator] = (settles, order, answer)
    kept: dict[int, tuple[bool, int, AnswerKind]] = {}
    for (pair, _), vote in last.items():
        if vote[2] != R:
            kept[pair] = max(vote, kept.get(pair, vote))
    return {pair: answer for pair, (*_, answer) in kept.items()}


ACTS = st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.sampled_from(AnswerKind), st.booleans())


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(ACTS, max_size=14))
def test_the_last_annotators_last_act_counts_unless_settled(
    engine: Engine, project: int, acts: list[tuple[int, str, AnswerKind, bool]]
) -> None:
    with writing(engine) as session:
        for table in (PairLabel, Answer):
            session.execute(delete(table))
    tasks = tasks_of(engine, project)[:3]
    for pair, annotator, answer, settles in acts:
        act(engine, tasks[pair], answer, annotator, settles)
    found = labels(engine, project)
    assert found == {(tasks[i].left_id, tasks[i].right_id): answer for i, answer in expected_labels(acts).items()}
    with reading(engine) as session:
        counts = label_counts(session, project)
    assert counts == {answer: n for answer in LABELS if (n := list(found.values()).count(answer))}
    assert labels(engine, project, 10**9) == found  # worked out from the answers, and not kept beside them


def test_a_cutoff_gives_the_labels_as_they_were(engine: Engine, project: int) -> None:
    first, second = tasks_of(engine, project)[:2]
    act(engine, first, P)
    act(engine, first, R)
    act(engine, first, N)
    act(engine, second, U)
    pair = (first.left_id, first.right_id)
    with reading(engine) as session:
        ids = list(session.scalars(select(Answer.id).order_by(Answer.id)))
    assert [labels(engine, project, id_).get(pair) for id_ in ids] == [P, None, N, N]
    assert labels(engine, project, 0) == {}


def test_labels_of_other_projects_stay_apart(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b", "c"], name="Other")
    make_round(engine, other, 2)
    act(engine, tasks_of(engine, other)[0], P)
    assert labels(engine, project) == {}
    assert list(labels(engine, other).values()) == [P]


def test_the_batch_is_served_in_order_and_then_its_reserve(engine: Engine, project: int) -> None:
    at = now()
    assert lease(engine, project, "ann", 4, at) == [0, 1, 2, 3]
    assert lease(engine, project, "bob", 2, at) == [4, 5]
    parts = [lease(engine, project, waiting, 1, at) for waiting in ("cat", "dan", "eve", "fay")]
    assert parts[:2] == [[3], [2]] and sorted(parts[2:]) == [[1], [5]]  # the last ones of whoever has most
    assert lease(engine, project, "guy", 2, at) == [6, 7]  # nobody has two
    for task in tasks_of(engine, project)[:6]:
        act(engine, task, N)
    assert lease(engine, project, "ann", 40, at) == [8]


def test_own_leased_tasks_come_first_and_leases_are_renewed(engine: Engine, project: int) -> None:
    at = now()
    lease(engine, project, "ann", 2, at)
    assert lease(engine, project, "bob", 2, at) == [2, 3]
    assert lease(engine, project, "bob", 3, at + timedelta(minutes=9)) == [2, 3, 4]
    later = at + timedelta(minutes=11)  # ann's leases have run out, bob's are renewed
    assert lease(engine, project, "bob", 40, later) == [2, 3, 4, 0, 1, 5]


def test_a_lease_of_another_ends_after_ten_minutes(engine: Engine, project: int) -> None:
    at = now()
    lease(engine, project, "ann", 40, at)
    with reading(engine) as session:
        assert next_lease_end(session, project, "bob", at) == at + LEASE - timedelta(microseconds=5)  # of six
        assert next_lease_end(session, project, "ann", at) is None
    assert lease(engine, project, "bob", 1, at + LEASE - timedelta(seconds=1)) == [5]  # a fair part
    assert lease(engine, project, "bob", 40, at + LEASE) == [5, 0, 1, 2, 3, 4]


def test_skipped_tasks_go_to_the_back_of_this_annotators_queue(engine: Engine, project: int) -> None:
    at, tasks = now(), tasks_of(engine, project)
    lease(engine, project, "ann", 40, at)
    act(engine, tasks[1], S)
    act(engine, tasks[0], S)
    assert lease(engine, project, "ann", 40, at) == [2, 3, 4, 5, 1, 0]
    act(engine, tasks[1], R)  # an undone skip
    assert lease(engine, project, "ann", 40, at) == [1, 2, 3, 4, 5, 0]
    assert lease(engine, project, "bob", 2, at + LEASE) == [0, 1]


def test_only_the_newest_round_is_served_and_no_labelled_pair(engine: Engine, project: int) -> None:
    old = tasks_of(engine, project)[0]
    newest = make_round(engine, project, 2)
    assert lease(engine, project, "ann", 40, now()) == [0, 1]
    with writing(engine) as session:
        again = session.scalars(select(Task).where(Task.round_id == newest)).first()
        assert again is not None
        again.left_id, again.right_id = old.left_id, old.right_id
    act(engine, old, U, "bob")
    assert lease(engine, project, "ann", 40, now()) == [1]


def test_progress_counts_the_batch_and_the_project(engine: Engine, project: int) -> None:
    tasks = tasks_of(engine, project)
    for task, answer in zip(tasks[:7], (P, N, N, U, S, P, P), strict=True):
        act(engine, task, answer)
    act(engine, tasks[0], R)
    act(engine, tasks[0], N, "bob")
    with reading(engine) as session:
        progress = batch_progress(session, project)
    assert (progress.number, progress.size, progress.answered) == (1, 6, 5)
    assert progress.positives == 1
    assert progress.all_positives == 2
    assert not progress.complete
    act(engine, tasks[4], N)
    with reading(engine) as session:
        assert batch_progress(session, project).complete


def test_progress_before_the_first_batch(engine: Engine) -> None:
    project_id = make_project(engine, ["a", "b"])
    with reading(engine) as session:
        progress = batch_progress(session, project_id)
    assert (progress.number, progress.complete) == (0, False)
    assert lease(engine, project_id, "ann", 40, now()) == []


@pytest.mark.parametrize(
    "pool_of", [ThreadPool, pytest.param(PROCESSES, marks=pytest.mark.slow)], ids=["threads", "processes"]
)
def test_four_at_once_never_lease_a_task_twice(engine: Engine, pool_of: Callable[[int], Pool]) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(25)])
    make_round(engine, project_id, 200)
    url = engine.url.render_as_string(hide_password=False)
    with pool_of(4) as pool:
        claims = pool.starmap(claim_tasks, [(url, project_id, f"annotator {i}") for i in range(4)], chunksize=1)
    claimed = [task_id for claim_tasks in claims for task_id in claim_tasks]
    assert [len(claim_tasks) for claim_tasks in claims] == [50] * 4
    assert len(set(claimed)) == 200
    with reading(engine) as session:
        assert session.scalar(select(func.count()).select_from(Lease)) == 200
