"""Audit designs: when a new one is made, labels under two of them, and bands divided by lexical similarity."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.db.domain import DesignKind
from allpairs.db.labels.audits import audit_labels
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Evaluation, StoredModel, Task
from allpairs.learner.evaluation.audit import strata
from allpairs.learner.jobs.audit.designs import ALIKE, DISSIMILAR, read_designs
from allpairs.learner.jobs.audit.labels import read_labelled
from allpairs.learner.jobs.audit.measure import renew_design
from allpairs.learner.jobs.data.project_data import read_project
from allpairs.learner.second_stage.second_stage import FEATURES
from tests.helpers.figures.audits import (
    HIGHEST,
    PAIRS,
    POSITIVE,
    add_model,
    designs_of,
    draw_and_label,
    evaluation_of,
    exact,
    figures,
    in_top,
    label,
    pair_of,
    run_audit,
    scores_of,
    tasks_of,
    truth,
)
from tests.helpers.projects.rounds import count

pytestmark = pytest.mark.usefixtures("small")


def set_beyond(engine: Engine, number: int, share: float) -> None:
    with writing(engine) as session:
        row = session.scalars(select(Evaluation).join(StoredModel).where(StoredModel.number == number)).one()
        row.audit = row.audit | {"beyond": share}


def renew(engine: Engine, project_id: int) -> None:
    with reading(engine) as session:
        data = read_project(session, project_id)
    renew_design(engine, project_id, data, lambda stage, done: None)


def test_a_model_that_looks_elsewhere_gets_a_design_of_its_own(
    engine: Engine, project: int, encoders: list[Path]
) -> None:
    draw_and_label(engine, project, 60)
    model = add_model(engine, project, 1, encoders[1])
    run_audit(engine, project)
    set_beyond(engine, 1, 0.05)
    renew(engine, project)
    assert len(designs_of(engine)) == 1
    set_beyond(engine, 1, 0.3)
    renew(engine, project)
    first, second = designs_of(engine)
    assert (second.number, second.matcher_id) == (2, model)
    assert first.strata != second.strata
    # The labels say enough in the first design's strata until there are more of the second's.
    assert {evaluation_of(engine, number).audit["design"] for number in range(2)} == {1}
    draw_and_label(engine, project, 60)
    assert {evaluation_of(engine, number).audit["design"] for number in range(2)} == {2}
    assert evaluation_of(engine, 1).audit["beyond"] == 0  # its best pairs are in the top now
    set_beyond(engine, 1, 0.3)
    renew(engine, project)
    assert len(designs_of(engine)) == 2  # it has its design


def test_the_share_beyond_the_top_is_that_of_a_models_best_pairs(
    engine: Engine, project: int, encoders: list[Path]
) -> None:
    draw_and_label(engine, project, 90)
    assert evaluation_of(engine, 0).audit["beyond"] == 0
    add_model(engine, project, 1, encoders[1])
    run_audit(engine, project)
    pool = set(in_top(engine, project))
    scores = scores_of(engine, project, 1)
    best = sorted(scores, key=lambda pair: -scores[pair])
    outside = np.cumsum([pair not in pool for pair in best]) / np.arange(1, len(best) + 1)
    share = evaluation_of(engine, 1).audit["beyond"]
    assert 0 < share < 1
    assert np.abs(outside[:400] - share).min() < 1e-9
    assert evaluation_of(engine, 0).audit["beyond"] == 0  # only the newest is asked


def second_design(engine: Engine, project: int, encoders: list[Path], labels: int) -> list[Task]:
    """Add a second design, and return the first design's tasks, all labelled."""
    tasks = draw_and_label(engine, project, labels)
    add_model(engine, project, 1, encoders[1])
    run_audit(engine, project)
    set_beyond(engine, 1, 0.3)
    renew(engine, project)
    return tasks


def test_labels_of_two_designs_count_by_their_mixed_probability(
    engine: Engine, project: int, encoders: list[Path]
) -> None:
    """Under each design, the numbers up to the deepest drawn pair's were drawn: together, the larger share."""
    first = second_design(engine, project, encoders, 60)
    run_audit(engine, project, 60)
    second = tasks_of(engine)
    assert not {pair_of(task) for task in first} & {pair_of(task) for task in second}
    label(engine, second)
    with reading(engine) as session:
        data = read_project(session, project)
        designs = read_designs(session, project, read_project(session, project))
        labelled = read_labelled(session, project, data, designs, designs[-1])
        labels = audit_labels(session, project, DesignKind.AUDIT)
    assert len(labels) == 120
    share = np.zeros((2, len(labels)))
    strata = np.zeros((2, len(labels)), dtype=int)
    for at, (design, drawn) in enumerate(zip(designs, (first, second), strict=True)):
        scores = scores_of(engine, project, at)
        sizes = design.strata.sizes.tolist()
        order = list(zip(design.order.left.tolist(), design.order.right.tolist(), strict=True))
        here = {stratum: [p for p, s in zip(order, design.order.stratum, strict=True) if s == stratum]
                for stratum in range(len(sizes))}  # fmt: skip
        deepest = {s: 1 + max((here[s].index(pair_of(t)) for t in drawn if t.stratum == s), default=-1) for s in here}
        for i, one in enumerate(labels):
            strata[at, i] = design.strata.place(np.array([scores[one.left_id, one.right_id]]))[0]
            share[at, i] = deepest[strata[at, i]] / sizes[strata[at, i]]
    assert labelled.sample.stratum.tolist() == strata[1].tolist()
    assert 1 / labelled.sample.weight == pytest.approx(share.max(0))
    assert labelled.sample.positive.tolist() == [one.answer == POSITIVE for one in labels]
    assert len(labelled.answered) == 120


def test_figures_under_a_second_design_come_near_those_of_gold(
    engine: Engine, project: int, encoders: list[Path]
) -> None:
    second_design(engine, project, encoders, 100)
    draw_and_label(engine, project, 100)
    known = truth(engine)
    for number in range(2):
        gold = exact(engine, project, number, known).estimates
        found = figures(evaluation_of(engine, number))
        for name in ("average_precision", "positives"):
            value, low, high = found[name]
            assert low - 0.02 <= gold[name].value <= high + 0.02, (number, name)
            assert low <= value <= high, (number, name)


def test_drawing_goes_on_under_the_newest_design(engine: Engine, project: int, encoders: list[Path]) -> None:
    second_design(engine, project, encoders, 30)
    run_audit(engine, project, 12)
    assert {task.design_id for task in tasks_of(engine)} == {designs_of(engine)[1].id}
    assert count(engine, Answer) == 30


def test_a_permanent_number_makes_designs_draw_the_same_pairs(
    engine: Engine, project: int, encoders: list[Path]
) -> None:
    """A second design under an equal model has the same sampling orders: its labels count there too."""
    draw_and_label(engine, project, 60)
    add_model(engine, project, 1, encoders[0])  # the same encoder
    run_audit(engine, project)
    set_beyond(engine, 1, 0.3)
    renew(engine, project)
    with reading(engine) as session:
        first, second = read_designs(session, project, read_project(session, project))
    assert (first.order.left == second.order.left).all()
    assert (first.order.right == second.order.right).all()
    sampled = [row["sampled"] for row in evaluation_of(engine, 1).audit["strata"]]
    assert sampled == [9] * 4 + [8] * 3


def test_deep_bands_split_by_lexical_similarity_are_read_back(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strata, "WHOLE", HIGHEST)
    draw_and_label(engine, project, 240)
    (design,) = designs_of(engine)
    rows = design.strata
    assert [row["band"] for row in rows] == [0, 1, 2, 3, 4, 5, 5, 6, 6]
    assert [row["top"] for row in rows] == [True] * 5 + [False] * 4
    assert sum(row["size"] for row in rows) == design.pairs == PAIRS
    for first, rest in (rows[5:7], rows[7:]):
        assert (first["low"], first["high"], first["cut"]) == (rest["low"], rest["high"], rest["cut"])
        assert first["name"].removeprefix(ALIKE) == rest["name"].removeprefix(DISSIMILAR)
        assert 1 / 512 <= first["size"] / (first["size"] + rest["size"]) <= 1 / 8
    with reading(engine) as session:
        data = read_project(session, project)
        (read,) = read_designs(session, project, read_project(session, project))
        labelled = read_labelled(session, project, data, [read], read)
    assert read.strata.sizes.tolist() == [row["size"] for row in rows]
    assert read.strata.band.tolist() == [row["band"] for row in rows]
    counts = np.bincount(read.order.stratum, minlength=len(rows))
    assert counts.tolist() == read.strata.sizes.tolist()  # small: the sampling orders hold every pair
    # Placed anew, by score and similarity, a label is where it was drawn.
    drawn = [task.stratum for task in tasks_of(engine)]
    assert sorted(labelled.sample.stratum.tolist()) == sorted(drawn)
    gold = exact(engine, project, 0, truth(engine)).estimates
    for name, (value, low, high) in figures(evaluation_of(engine, 0)).items():
        assert low - 0.02 <= gold[name].value <= high + 0.02, name
        assert low <= value <= high, name


def test_labels_of_an_undivided_design_are_placed_by_similarity(
    engine: Engine, project: int, encoders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_and_label(engine, project, 700)
    monkeypatch.setattr(strata, "WHOLE", HIGHEST)
    add_model(engine, project, 1, encoders[0])  # the same encoder, so that only the division is new
    run_audit(engine, project)
    set_beyond(engine, 1, 0.3)
    renew(engine, project)
    with reading(engine) as session:
        data = read_project(session, project)
        designs = read_designs(session, project, read_project(session, project))
        labelled = read_labelled(session, project, data, designs, designs[-1])
    assert [design.strata.divided for design in designs] == [False, True]
    placed = dict(zip(zip(labelled.left_ids.tolist(), labelled.right_ids.tolist(), strict=True),
                      labelled.sample.stratum.tolist(), strict=True))  # fmt: skip
    order = designs[1].order
    known = dict(zip(zip(order.left.tolist(), order.right.tolist(), strict=True), order.stratum.tolist(), strict=True))
    assert {pair: known[pair] for pair in placed} == placed
    assert len({stratum for stratum in placed.values() if stratum >= 5}) == 4


def test_a_second_stage_is_audited_by_its_own_scores(engine: Engine, project: int, encoders: list[Path]) -> None:
    names = list(FEATURES)
    zero = {"mean": 0.0, "deviation": 1.0, "weight": 0.0}
    features = {name: zero | ({"weight": 0.4} if name == "containment" else {}) for name in names}
    add_model(engine, project, 1, encoders[1])
    second = {"floor": -1.0, "slope": 0.2, "bias": 0.0, "features": features}
    add_model(engine, project, 2, encoders[1], {"second_stage": second})
    draw_and_label(engine, project, 800)
    known = truth(engine)
    values = [exact(engine, project, number, known).estimates["average_precision"].value for number in (1, 2)]
    assert abs(values[0] - values[1]) > 0.05
    for number, value in zip((1, 2), values, strict=True):
        found, low, high = figures(evaluation_of(engine, number))["average_precision"]
        assert low - 0.01 <= value <= high + 0.01 and found == pytest.approx(value, abs=0.1)
