"""Designs: strata whose sizes are exact and whose samples are uniform; sampled figures agree with the exact ones."""

import numpy as np
import pytest

from allpairs.learner.evaluation import sampling_designs
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.evaluation.importance_sampling import Stratum, estimate_from_strata
from allpairs.learner.evaluation.sampling_designs import Population, near_random, pair_cosines, stratified

DESIGNS = [near_random, stratified]


def population(symmetric: bool, n: int = 240, groups: int = 60) -> tuple[Population, np.ndarray]:
    """Return noisy groups of texts, and the vectors of another scorer of the same texts."""
    rng = np.random.default_rng(5)
    centres = np.repeat(rng.standard_normal((groups, 24)), n // groups, axis=0)

    def vectors(noise: float) -> np.ndarray:
        made = centres + noise * rng.standard_normal(centres.shape)
        return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)

    size = n // groups
    pairs = [(g * size + i, g * size + j) for g in range(groups) for i in range(size) for j in range(size)]
    positives = np.array([(i, j) for i, j in pairs if i < j or not symmetric], dtype=np.int64)
    left = vectors(0.9)
    return Population(left, left if symmetric else vectors(0.9), positives, symmetric), vectors(0.7)


def scorer(vectors: np.ndarray):  # type: ignore[no-untyped-def]
    return lambda rows, columns: pair_cosines(vectors, vectors, rows, columns)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_sizes_add_up_to_all_negatives(design, symmetric: bool) -> None:  # type: ignore[no-untyped-def]
    people, vectors = population(symmetric)
    strata = design(people, scorer(vectors), 5_000, np.random.default_rng(0))
    assert sum(stratum.size for stratum in strata) == people.pairs - len(people.positives)
    assert all(0 < len(stratum.scores) <= stratum.size for stratum in strata)


@pytest.mark.parametrize("design", DESIGNS)
def test_with_a_large_enough_sample_the_figures_are_exact(design) -> None:  # type: ignore[no-untyped-def]
    people, vectors = population(True)
    score = scorer(vectors)
    strata = design(people, score, 10**6, np.random.default_rng(0))
    assert all(stratum.unseen == 0 for stratum in strata)
    found = estimate_from_strata(score(*people.positives.T), strata, "", np.random.default_rng(0))
    exact = evaluate_exact(vectors, vectors, people.positives, True)
    assert exact is not None
    for name, figure in found.estimates.items():
        assert figure.value == pytest.approx(exact.estimates[name].value, abs=1e-6)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("runs", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_the_interval_of_a_sample_holds_the_exact_value(design, runs: int) -> None:  # type: ignore[no-untyped-def]
    people, vectors = population(True)
    score = scorer(vectors)
    exact = evaluate_exact(vectors, vectors, people.positives, True)
    assert exact is not None
    truth = exact.estimates["average_precision"].value
    held = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        found = estimate_from_strata(score(*people.positives.T), design(people, score, 4_000, rng), "", rng).estimates
        held += found["average_precision"].low <= truth <= found["average_precision"].high
    assert held >= 0.9 * runs - 1


def test_few_pairs_are_one_stratum() -> None:
    people, vectors = population(True, 40, 10)
    (only,) = stratified(people, scorer(vectors), 100, np.random.default_rng(0))
    assert (only.name, only.size, len(only.scores)) == ("all negatives", people.pairs - len(people.positives), 100)


def test_every_pair_of_a_stratum_is_as_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling_designs, "TOP", 64)
    people, _ = population(True, 60, 15)
    counts: dict[tuple[str, int], np.ndarray] = {}

    def key(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return (rows * 60 + columns).astype(np.float64)

    rounds = 500
    for seed in range(rounds):
        for stratum in stratified(people, key, 400, np.random.default_rng(seed)):
            seen = counts.setdefault((stratum.name, stratum.size), np.zeros(3600))
            seen[stratum.scores.astype(int)] += 1
    for (_, size), seen in counts.items():
        drawn = seen[seen > 0]
        assert len(drawn) == size  # every pair of it turns up
        share = seen.sum() / rounds / size
        deviation = np.sqrt(share * (1 - share) / rounds)
        assert np.abs(drawn / rounds - share).max() <= 5 * deviation + 1e-12


def test_a_drawn_stratum_stands_for_its_size() -> None:
    assert Stratum("", 100, np.zeros(20)).weight == 5
    assert Stratum("", 0, np.zeros(0)).weight == 0
