"""Audits of projects whose data named some of the positives: the others are counted beside the known ones."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine

from allpairs.db.domain import DesignKind, Purpose
from allpairs.db.projects.evaluations import matchers_with_evaluations
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Design, Evaluation, Gold, Round, Task
from allpairs.learner.jobs.audit.designs import read_designs
from allpairs.learner.jobs.audit.labels import read_labelled
from allpairs.learner.jobs.data.project_data import read_project
from tests.helpers.figures.audits import (
    PAIRS,
    add_model,
    draw_and_label,
    evaluation_of,
    exact,
    label,
    pair_of,
    run_audit,
    tasks_of,
    truth,
)

pytestmark = pytest.mark.usefixtures("small")
NAMED, DENIED = 2, 7  # every second positive, every seventh negative came with the data


@pytest.fixture
def named(engine: Engine, project: int, encoders: list[Path]) -> set[tuple[int, int]]:
    """Name some pairs of the project, measure two models by them, and return the named positives."""
    add_model(engine, project, 1, encoders[1])
    known = truth(engine)
    positives, negatives = ([pair for pair, one in known.items() if one == label] for label in (True, False))
    with writing(engine) as session:
        for pairs, positive in ((positives[::NAMED], True), (negatives[::DENIED], False)):
            session.add_all(
                Gold(project_id=project, left_id=left, right_id=right, positive=positive) for left, right in pairs
            )
        for matcher, _ in matchers_with_evaluations(session, project):
            gold = exact(engine, project, matcher.number, dict.fromkeys(positives[::NAMED], True))
            session.add(
                Evaluation(matcher_id=matcher.id, pairs=gold.pairs, positives=gold.positives, curve={}, histogram={},
                           estimates={name: one.as_dict() for name, one in gold.estimates.items()})
            )  # fmt: skip
    return set(positives[::NAMED])


def beside(engine: Engine, number: int) -> dict[str, dict[str, float]]:
    """Return the figures that count the positives that nobody named."""
    found: dict[str, dict[str, float]] = evaluation_of(engine, number).audit["estimates"]
    return found


def add_check(engine: Engine, project: int, pairs: list[tuple[int, int]]) -> list[Task]:
    """Add a check of these pairs as false positives, and return its tasks."""
    with writing(engine) as session:
        matcher = matchers_with_evaluations(session, project)[0][0]
        design = Design(project_id=project, number=9, kind=DesignKind.CORRECTION, matcher_id=matcher.id, pairs=PAIRS,
                        strata=[], folder="check", details={})  # fmt: skip
        batch = Round(project_id=project, strategy=DesignKind.CORRECTION, size=len(pairs))
        session.add_all([design, batch])
        session.flush()
        session.add_all(
            Task(project_id=project, round_id=batch.id, design_id=design.id, left_id=left, right_id=right, position=at,
                 strategy=DesignKind.CORRECTION, purpose=Purpose.AUDIT, score=0.0, stratum=0, inclusion=1.0)
            for at, (left, right) in enumerate(pairs)
        )  # fmt: skip
    return tasks_of(engine)


def test_the_known_figures_stay_and_the_others_hold_the_truth(
    engine: Engine, project: int, named: set[tuple[int, int]]
) -> None:
    before = [evaluation_of(engine, number).estimates for number in range(2)]
    drawn = draw_and_label(engine, project, 300)
    known = truth(engine)
    assert not named & {pair_of(task) for task in drawn}
    for number in range(2):
        evaluation = evaluation_of(engine, number)
        assert evaluation.estimates == before[number]
        assert evaluation.positives == len(named)
        gold = exact(engine, project, number, known).estimates
        for name in ("average_precision", "positives"):
            found = beside(engine, number)[name]
            assert found["low"] <= gold[name].value <= found["high"], (number, name)
        assert beside(engine, number)["positives"]["low"] > len(named)


def test_known_pairs_are_in_no_stratum(engine: Engine, project: int, named: set[tuple[int, int]]) -> None:
    run_audit(engine, project, 60)
    with reading(engine) as session:
        (design,) = read_designs(session, project, read_project(session, project))
        data = read_project(session, project)
    denied = len(data.dataset.evaluation_known) - len(named)
    assert denied > 100
    assert design.strata.pairs == PAIRS - len(named) - denied
    order = set(zip(design.order.left.tolist(), design.order.right.tolist(), strict=True))
    assert len(order) == design.strata.pairs  # small: the sampling orders hold every pair
    assert not named & order


def test_with_all_pairs_labelled_the_figures_are_those_of_gold(
    engine: Engine, project: int, named: set[tuple[int, int]]
) -> None:
    draw_and_label(engine, project, PAIRS)
    known = truth(engine)
    for number in range(2):
        gold = exact(engine, project, number, known).estimates
        for name in ("average_precision", "precision_at_recall_20", "positives"):
            found = beside(engine, number)[name]
            assert found["value"] == pytest.approx(gold[name].value, abs=0.01 if name != "positives" else 0.5)
            assert found["high"] - found["low"] < 0.01, name


def test_checked_false_positives_leave_their_strata_and_count(
    engine: Engine, project: int, named: set[tuple[int, int]]
) -> None:
    first = {pair_of(task) for task in draw_and_label(engine, project, 60)}
    known = truth(engine)
    unnamed = [pair for pair, positive in known.items() if positive and pair not in named | first][:40]
    twice = next(pair for pair in first if known[pair])
    label(engine, add_check(engine, project, [*unnamed, twice]))
    with reading(engine) as session:
        data = read_project(session, project)
        designs = read_designs(session, project, read_project(session, project))
        labelled = read_labelled(session, project, data, designs, designs[-1])
    (design,) = designs
    assert int((design.strata.sizes - labelled.sample.sizes).sum()) == len(unnamed)
    assert set(unnamed) | first == labelled.answered
    assert len(labelled.known) == len(named) + len(unnamed)
    assert labelled.sample.known is not None
    assert labelled.sample.known.sum() == len(labelled.known)
    assert len(labelled.sample.positive) == 60  # the pair of both is the audit's
    more = {pair_of(task) for task in draw_and_label(engine, project, 60)}
    assert not set(unnamed) & more
    gold = exact(engine, project, 0, known).estimates["positives"].value
    found = beside(engine, 0)["positives"]
    assert found["low"] <= gold <= found["high"]
    assert found["low"] >= len(named) + len(unnamed) + np.sum([known[pair] for pair in first | more])
