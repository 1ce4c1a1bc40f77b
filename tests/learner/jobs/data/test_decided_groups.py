"""Decisions on groups in jobs: a search for matches keeps to them, and the next round learns from them."""

from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, select, update

from allpairs.db.domain import AnswerKind, Clustering, Representative
from allpairs.db.groups.decisions import add_decisions
from allpairs.db.groups.links import Pair
from allpairs.db.projects.jobs import MATCHES, add_job
from allpairs.db.projects.stable_groups import grouped_items
from allpairs.db.results.matches import NEAR, PAIRS, folder_of_matches
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Item, PairDecision, now
from allpairs.learner.jobs import matches as steps
from allpairs.learner.jobs.data.project_data import known_keys, read_labels, read_project
from allpairs.learner.light.groups.grouping import Grouping
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import answer_batch, half, run, texts


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    """Return 30 texts with a first trained round, the last ten for measuring."""
    project_id = make_project(
        engine, texts(), evaluation=10, encoder=str(encoder), first=6, neighbours=10, epochs=1, audit_every=0
    )
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    return project_id


def items_of(engine: Engine) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).order_by(Item.id)))


def decide(engine: Engine, project: int, decisions: dict[Pair, bool]) -> None:
    with writing(engine) as session:
        add_decisions(session, project, "Ann", "right-1", decisions)


def find(engine: Engine, project: int, threshold: float, clustering: Clustering) -> dict[int, int]:
    """Search for matches and return the number of each text's group."""
    with writing(engine) as session:
        job_id = add_job(session, project, MATCHES).id
    grouping = Grouping(clustering, Representative.CENTRAL, "")
    steps.find_matches(job_id, project, 1, threshold, None, *grouping.words, True)
    with reading(engine) as session:
        return dict(zip(*grouped_items(session, project), strict=True))


@pytest.mark.parametrize("clustering", [Clustering.CONNECTED, Clustering.AVERAGE, Clustering.CORRELATION])
@pytest.mark.parametrize("threshold", [-1.0, 0.5, 2.0])
def test_groups_keep_to_decisions(engine: Engine, project: int, clustering: Clustering, threshold: float) -> None:
    items = items_of(engine)
    same = {(items[a], items[b]): True for a, b in ((0, 20), (20, 21), (5, 6))}
    apart = {(items[0], items[5]): False, (items[8], items[9]): False}
    decide(engine, project, same | apart)
    group = find(engine, project, threshold, clustering)
    assert group[items[0]] == group[items[20]] == group[items[21]] != group[items[5]] == group[items[6]]
    assert group.get(items[8]) is None or group.get(items[8]) != group.get(items[9])
    pairs = {(row["id1"], row["id2"]) for row in pq.read_table(folder_of_matches(project) / PAIRS).to_pylist()}
    assert {("left-0", "left-20"), ("left-20", "left-21"), ("left-0", "left-21"), ("left-5", "left-6")} <= pairs
    crossing = {(f"left-{a}", f"left-{b}") for a, b in combinations((0, 5, 6, 20, 21), 2)} & pairs
    assert len(crossing) == 4  # none between the two that are kept apart


def test_what_people_decide_while_it_runs_counts(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    items = items_of(engine)
    match = steps._match
    calls: list[int] = []

    def deciding(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            decide(engine, project, {(items[0], items[1]): False, (items[2], items[29]): True})
        return match(*arguments)

    monkeypatch.setattr(steps, "_match", deciding)
    group = find(engine, project, 0.5, Clustering.CONNECTED)
    assert len(calls) == 2 and group[items[2]] == group[items[29]]
    assert group.get(items[0]) is None or group.get(items[0]) != group.get(items[1])


def test_near_misses_lie_below_the_threshold(engine: Engine, project: int) -> None:
    group = find(engine, project, 0.9, Clustering.CONNECTED)
    near = pq.read_table(folder_of_matches(project) / NEAR).to_pylist()
    pairs = {(row["id1"], row["id2"]) for row in pq.read_table(folder_of_matches(project) / PAIRS).to_pylist()}
    items = items_of(engine)
    assert near and [row["p"] for row in near] == sorted((row["p"] for row in near), reverse=True)
    for row in near:
        left, right = row["left_id"], row["right_id"]
        assert group.get(left) is None or group.get(left) != group.get(right)
        assert (f"left-{items.index(left)}", f"left-{items.index(right)}") not in pairs


def test_the_next_round_learns_from_decisions_as_of_its_start(engine: Engine, project: int) -> None:
    items = items_of(engine)
    with reading(engine) as session:
        label = session.scalars(select(Answer).where(Answer.answer == AnswerKind.POSITIVE)).first()
        data = read_project(session, project)
        before = read_labels(session, project, data, 10**9)
    assert label is not None
    answered = label.left_id, label.right_id
    free = next(pair for pair in combinations(items[:20], 2) if data.rows(pair[1]) not in set(before.right.tolist()))
    decide(engine, project, {free: True, answered: False, (items[25], items[26]): True})

    def labels(**options: Any) -> dict[Pair, int]:
        with reading(engine) as session:
            found = read_labels(session, project, data, 10**9, **options)
        ids = data.item_ids
        return dict(
            zip(zip(ids[found.left].tolist(), ids[found.right].tolist(), strict=True), found.label, strict=True)
        )

    newer = labels()
    assert newer[free] == 1 and newer[answered] == 0 and len(newer) == len(before) + 1  # none for measuring
    assert free not in labels(as_of=now() - timedelta(minutes=1))
    with writing(engine) as session:
        session.execute(update(PairDecision).values(at=now() - timedelta(days=1)))
    assert labels()[answered] == 1  # the answer is newer now
    with reading(engine) as session:
        keys = set(known_keys(session, project, data).tolist())
    assert int(data.dataset.keys(data.rows(free[0]), data.rows(free[1]))) in keys
