"""The calibration plot's table: from exact histograms, and from audit labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.annotate.features.quality.calibration_chart import (
    calibration_in_words,
    describe_reliability,
    reliability_chart,
    reliability_table,
)
from allpairs.db.estimate import wilson
from allpairs.db.schema.tables import Evaluation, StoredModel
from allpairs.learner.evaluation.audit.figures import positives_by_rank
from allpairs.learner.evaluation.audit.measure import View
from allpairs.learner.evaluation.audit.reliability import by_tenth, shares_between
from allpairs.learner.evaluation.audit.sample import draw_posterior
from allpairs.learner.models.output_layer import OutputLayer
from tests.helpers.figures.audits import normal_pool, ranking_of


def evaluation(p: np.ndarray, truth: np.ndarray, w: float = 12.0, b: float = -6.0) -> Evaluation:
    """Return the stored evaluation of pairs with these probabilities (n,) under the layer, 60 bars."""
    scores = (np.log(p / (1 - p)) - b) / w
    edges = np.linspace(scores.min(), scores.max() + 1e-9, 61)
    return Evaluation(pairs=len(p), audit={}, histogram={
        "edges": edges.tolist(), "below": 0, "positives": np.histogram(scores[truth], edges)[0].tolist(),
        "negatives": np.histogram(scores[~truth], edges)[0].tolist()})  # fmt: skip


def layer(w: float | None = 12.0, b: float | None = -6.0) -> StoredModel:
    return StoredModel(number=1, w=w, b=b)


def test_probabilities_that_are_right_lie_in_their_intervals() -> None:
    rng, held = np.random.default_rng(0), []
    for _ in range(60):
        p = rng.beta(0.6, 0.8, 4_000).clip(0.001, 0.999)
        table = reliability_table(layer(), evaluation(p, rng.random(4_000) < p))
        assert len(table) == 10 and table["pairs"].sum() == 4_000
        held.append(((table["low"] <= table["p"]) & (table["p"] <= table["high"])).mean())
    assert 0.92 <= np.mean(held) <= 0.98


def test_probabilities_that_are_too_high_are_found_and_said() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.01, 0.99, 20_000)
    table = reliability_table(layer(), evaluation(p, rng.random(20_000) < p**2))
    worst = table.iloc[5]
    assert worst.high < worst.p
    assert "too high" in calibration_in_words(table) and "of 10 tenths" in calibration_in_words(table)
    said = describe_reliability(table, "Round 1")
    assert said.startswith("Calibration of Round 1: share of positives at mean probability: 0.0")
    assert said.count("95% interval") == 10
    assert len(reliability_chart(table).to_dict()["layer"]) == 5


@pytest.mark.parametrize(("w", "b"), [(None, None), (0.0, 1.0)])
def test_without_probabilities_there_is_no_table(w: float | None, b: float | None) -> None:
    rng = np.random.default_rng(0)
    assert reliability_table(layer(w, b), evaluation(rng.uniform(0.1, 0.9, 50), rng.random(50) < 0.5)).empty


def test_an_audit_without_figures_of_its_own_has_no_table() -> None:
    assert reliability_table(
        layer(), Evaluation(pairs=9, audit={"needed": 0}, histogram={"edges": [], "pairs": []})
    ).empty


@given(n=st.integers(1, 10**9), share=st.floats(0, 1))
def test_the_interval_holds_the_share_and_has_a_width(n: int, share: float) -> None:
    hits = round(n * share)
    low, high = wilson(hits, n)
    assert 0 <= low <= hits / n + 1e-12 and hits / n - 1e-12 <= high <= 1 and low < high


# --- from audit labels

CUTS = np.array([0, 100, 300, 1_000, 3_000, 10_000, 40_000], dtype=float)


@pytest.mark.parametrize("pool_kind", [(4.55, 1.0), (4.0, 0.5)])
def test_intervals_from_audit_labels_hold_the_truth(pool_kind: tuple[float, float]) -> None:
    rng, held = np.random.default_rng(5), []
    for _ in range(40):
        pool = normal_pool(*pool_kind, rng)
        sample, ranks = pool.draw(np.full(len(pool.sizes), 300 // len(pool.sizes)), rng)
        found = positives_by_rank(draw_posterior(sample, rng, 300, ranks[:, None]), sample.positive, ranks)
        low, high = np.percentile(shares_between(found, CUTS, rng), (2.5, 97.5), axis=0)
        truth = np.diff(np.searchsorted(pool.positives, CUTS, side="right")) / np.diff(CUTS)
        held.append((low <= truth) & (truth <= high))
    assert np.mean(held) >= 0.9


def test_the_tenths_hold_every_pair_and_shares_grow_with_p() -> None:
    rng = np.random.default_rng(1)
    pool = normal_pool(4.55, 1.0, rng, pairs=10**6, positives=400)
    sample, ranks = pool.draw(np.full(len(pool.sizes), 40), rng)
    found = positives_by_rank(draw_posterior(sample, rng, 200, ranks[:, None]), sample.positive, ranks)
    ranking, _ = ranking_of(np.sort(rng.integers(30_000, 90_000, 10**6)))
    view = View(ranking, np.empty(0), None)
    rows = by_tenth(found, view, OutputLayer(8.0, -1.0), rng)
    assert sum(row["pairs"] for row in rows) == pytest.approx(10**6, abs=10)
    assert all(row["p_from"] <= row["p"] <= row["p_to"] and row["low"] <= row["share"] <= row["high"] for row in rows)
    assert [row["p_from"] for row in rows] == sorted(row["p_from"] for row in rows)
    assert by_tenth(found, view, OutputLayer(0.0, -1.0), rng) == []
