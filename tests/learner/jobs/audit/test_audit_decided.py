"""Audits of projects in which people decided of groups: decided pairs are known, and never a sample."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from allpairs.db.groups.decisions import add_decisions, undo_decisions
from allpairs.db.groups.links import with_implied_decisions
from allpairs.db.schema.engine import reading, writing
from allpairs.learner.jobs.audit.designs import read_designs
from allpairs.learner.jobs.audit.measure import is_audited
from allpairs.learner.jobs.data.project_data import read_project
from tests.helpers.figures.audits import (
    PAIRS,
    add_model,
    designs_of,
    draw_and_label,
    evaluation_of,
    exact,
    pair_of,
    run_audit,
    scores_of,
    truth,
)

pytestmark = pytest.mark.usefixtures("small")


def decide(engine: Engine, project: int, share: float = 0.1) -> dict[tuple[int, int], bool]:
    """Decide the pairs that the model scores highest, as they are in truth; return what follows."""
    scores = scores_of(engine, project, 0)
    known = truth(engine)
    best = sorted(scores, key=lambda pair: -scores[pair])[: int(share * len(scores))]
    decisions = {pair: known[pair] for pair in best}
    with writing(engine) as session:
        add_decisions(session, project, "ann", "right-1", decisions)
    return with_implied_decisions(decisions)


def require_truth(engine: Engine, project: int, models: int, precision: float, positives: float) -> None:
    """Check that the figures lie this close to those of all pairs."""
    known = truth(engine)
    for number in range(models):
        gold = exact(engine, project, number, known).estimates
        figures = evaluation_of(engine, number).estimates
        for name, close in {"average_precision": precision, "positives": positives}.items():
            assert figures[name]["value"] == pytest.approx(gold[name].value, abs=close), (number, name)


def test_decided_pairs_are_in_no_stratum_and_count(engine: Engine, project: int, encoders: list[Path]) -> None:
    add_model(engine, project, 1, encoders[1])
    decided = decide(engine, project)
    assert 30 < sum(decided.values()) < len(decided)
    drawn = draw_and_label(engine, project, 300)
    assert not decided.keys() & {pair_of(task) for task in drawn}
    with reading(engine) as session:
        data = read_project(session, project)
        (design,) = read_designs(session, project, data)
    assert is_audited(data)  # decisions alone are no known pairs
    assert design.strata.pairs == PAIRS - len(decided) and design.decided == decided
    assert evaluation_of(engine, 0).positives is None
    require_truth(engine, project, 2, 0.03, 70)


def test_an_audit_drawn_before_stays_as_it_was_drawn(engine: Engine, project: int) -> None:
    draw_and_label(engine, project, 150)
    before = evaluation_of(engine, 0).estimates
    decided = decide(engine, project)
    run_audit(engine, project)
    assert evaluation_of(engine, 0).estimates == before and len(designs_of(engine)) == 1
    drawn = draw_and_label(engine, project, 150)
    assert len(designs_of(engine)) == 2 and not decided.keys() & {pair_of(task) for task in drawn}
    require_truth(engine, project, 1, 0.05, 100)
    with writing(engine) as session:
        undo_decisions(session, project, "right-1")
    run_audit(engine, project)
    require_truth(engine, project, 1, 0.05, 100)


def test_with_all_other_pairs_labelled_figures_are_exact(engine: Engine, project: int) -> None:
    draw_and_label(engine, project, 200)
    decide(engine, project)
    draw_and_label(engine, project, PAIRS)
    require_truth(engine, project, 1, 0.01, 0.5)
    precision = evaluation_of(engine, 0).estimates["average_precision"]
    assert precision["high"] - precision["low"] < 0.01
