"""Several annotators per pair: who gets it, how often, when, and what becomes of it after a review."""

import shutil
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import Reason, look, record, serve
from allpairs.annotate.features.label.ui.card import why_empty
from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.labels.answers import store_answers
from allpairs.db.labels.tasks import batch_progress, tasks_by_id
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import now
from tests.helpers.factories import make_project, make_round, require_votes
from tests.helpers.machine import examples

YES, NO, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE
KEYS = count()


def project_of(engine: Engine, n: int = 6, votes: int = 1, **about: object) -> int:
    """Return a project with a batch of n pairs, each for so many annotators."""
    project = make_project(engine, [f"text {i}" for i in range(8)], auto_train=False, **about)
    make_round(engine, project, n)
    require_votes(engine, votes)
    return project


def offered(engine: Engine, project: int, who: str) -> set[int]:
    """Return what this annotator would be given now if nobody held a lease."""
    pairs = serve(engine, project, who, 40)[0]
    return {pair.task_id for pair in pairs}


def say(engine: Engine, project: int, who: str, task: int, answer: AnswerKind) -> None:
    event = {"key": f"k{next(KEYS)}", "task_id": task, "answer": answer}
    assert record(engine, project, who, [event]).refused == {}


def free(engine: Engine) -> None:
    with writing(engine) as session:
        session.connection().exec_driver_sql("DELETE FROM leases")


def test_a_pair_for_two_goes_to_two_and_to_nobody_twice(engine: Engine) -> None:
    project = project_of(engine, votes=2)
    tasks = offered(engine, project, "ann")
    assert len(tasks) == 6
    for task in tasks:
        say(engine, project, "ann", task, NO)
    assert offered(engine, project, "ann") == set()
    assert offered(engine, project, "ben") == tasks  # at once: who has answered holds the pair no longer
    first = min(tasks)
    say(engine, project, "ben", first, YES)
    free(engine)
    assert offered(engine, project, "cem") == tasks - {first}


def test_a_pair_for_one_is_not_given_again(engine: Engine) -> None:
    project = project_of(engine)
    for task in offered(engine, project, "ann"):
        say(engine, project, "ann", task, YES)
    free(engine)
    assert offered(engine, project, "ben") == set()


def test_a_retracted_vote_is_wanted_again(engine: Engine) -> None:
    project = project_of(engine, n=1, votes=2)
    (task,) = offered(engine, project, "ann")
    for who, answer in (("ann", YES), ("ben", YES), ("ben", AnswerKind.RETRACT)):
        say(engine, project, who, task, answer)
    free(engine)
    assert offered(engine, project, "ann") == set()
    assert offered(engine, project, "ben") == {task}


def test_what_is_called_a_match_or_unsure_is_double_checked(engine: Engine) -> None:
    project = project_of(engine, double_check=True)
    answers = [YES, NO, UNSURE, NO, NO, NO]
    tasks = sorted(offered(engine, project, "ann"))
    for task, answer in zip(tasks, answers, strict=True):
        say(engine, project, "ann", task, answer)
    free(engine)
    assert offered(engine, project, "ben") == {tasks[0], tasks[2]}
    say(engine, project, "ben", tasks[0], NO)
    free(engine)
    assert offered(engine, project, "cem") == {tasks[2]}


def test_a_batch_is_complete_with_all_labels_and_takes_votes(engine: Engine) -> None:
    project = project_of(engine, n=3, votes=2)
    tasks = offered(engine, project, "ann")
    for task in tasks:
        say(engine, project, "ann", task, NO)
    with reading(engine) as session:
        assert batch_progress(session, project).complete
    make_round(engine, project, 2)
    free(engine)
    newest = offered(engine, project, "ben")
    assert len(newest) == 2 and not newest & tasks
    for task in newest:
        say(engine, project, "ben", task, NO)
    free(engine)
    assert offered(engine, project, "ben") == tasks  # nothing of the new batch is left: earlier pairs want his vote
    assert all(not pair.in_batch for pair in serve(engine, project, "ben")[0])


def test_whoever_waits_for_earlier_votes_hears_of_a_free_one(engine: Engine) -> None:
    project = project_of(engine, n=3, votes=2)
    for task in offered(engine, project, "ann"):
        say(engine, project, "ann", task, NO)
    make_round(engine, project, 1)
    for task in offered(engine, project, "ann"):
        say(engine, project, "ann", task, NO)
    assert len(offered(engine, project, "ben")) == 3
    assert [len(offered(engine, project, who)) for who in ("dan", "eve")] == [1, 1]  # they share
    told = look(engine, project, "cem")
    assert told.reason is Reason.LEASED and told.free_at is not None
    assert why_empty(told).endswith("free in 10 minutes.")
    told = look(engine, project, "ann")  # who has a vote on each of them waits for nothing
    assert told.reason is Reason.COMPLETE and told.free_at is None
    assert "administrator" in why_empty(told)


def test_a_settled_pair_wants_no_vote(engine: Engine) -> None:
    project = project_of(engine, n=1, votes=3)
    (task,) = offered(engine, project, "ann")
    say(engine, project, "ann", task, YES)
    with writing(engine) as session:
        found = tasks_by_id(session, project, [task])[task]
        row = {"project_id": project, "task_id": task, "left_id": found.left_id, "right_id": found.right_id}
        settled = {"annotator": "eve", "answer": NO, "key": "r", "settles": True, "created_at": now()}
        store_answers(session, [row | settled])
    free(engine)
    assert offered(engine, project, "ben") == set()


def test_votes_lie_scattered_among_new_pairs(engine: Engine) -> None:
    project = project_of(engine, n=20, votes=2)
    tasks = [pair.task_id for pair in serve(engine, project, "ann", 10)[0]]
    for task in tasks:
        say(engine, project, "ann", task, NO)
    free(engine)
    order = [pair.task_id in tasks for pair in serve(engine, project, "ben", 20)[0]]
    assert len(order) == 20
    changes = int(np.abs(np.diff(order)).sum())
    assert changes > 4, order


def test_matches_and_unsure_pairs_get_their_second_vote_first(engine: Engine) -> None:
    project = project_of(engine, n=20, votes=2)
    tasks = [pair.task_id for pair in serve(engine, project, "ann", 10)[0]]
    for place, task in enumerate(tasks):
        say(engine, project, "ann", task, {2: YES, 5: UNSURE, 8: YES}.get(place, NO))
    free(engine)
    order = [pair.task_id for pair in serve(engine, project, "ben", 20)[0] if pair.repeated]
    assert len(order) == 10 and set(order[:3]) == {tasks[2], tasks[5], tasks[8]}


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    wanted=st.integers(1, 3),
    looks=st.booleans(),
    acts=st.lists(
        st.tuples(st.sampled_from("abcd"), st.integers(0, 2), st.sampled_from([*LABELS, AnswerKind.RETRACT])),
        max_size=14,
    ),
)
def test_who_is_offered_what_follows_from_the_answers(
    tmp_path_factory: pytest.TempPathFactory,
    migrated: Path,
    wanted: int,
    looks: bool,
    acts: list[tuple[str, int, AnswerKind]],
) -> None:
    engine = make_engine(f"sqlite:///{shutil.copy(migrated, tmp_path_factory.mktemp('votes'))}")
    project = project_of(engine, n=3, votes=wanted, double_check=looks)
    tasks = sorted(offered(engine, project, "a"))
    standing: dict[int, dict[str, AnswerKind]] = {task: {} for task in tasks}
    for who, place, answer in acts:
        say(engine, project, who, tasks[place], answer)
        standing[tasks[place]].pop(who, None)
        if answer in LABELS:
            standing[tasks[place]][who] = answer
    for who in "abcd":
        free(engine)
        expected = set()
        for task, votes in standing.items():
            doubtful = looks and any(answer in (YES, UNSURE) for answer in votes.values())
            most = wanted if wanted > 1 else 2 if doubtful else 1
            if not votes or (who not in votes and len(votes) < most):
                expected.add(task)
        assert offered(engine, project, who) == expected
    engine.dispose()
