"""Caps and control shares: no group above its cap while others are left, and nothing lost or invented."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.domain import Settings
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.loop.round import choose
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs
from allpairs.learner.strategies.caps import Cap, allowed, neighbourhoods, with_controls, within_caps

NOTHING = np.empty(0, dtype=np.int64)


def ranked(pairs: list[tuple[int, int]]) -> Pairs:
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Pairs(left, right, np.linspace(1, 0, len(pairs), dtype=np.float32))


def as_list(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


STAR = [(0, 1), (0, 2), (0, 3), (4, 5), (1, 2), (6, 7)]
EACH = np.arange(8)


def test_a_cap_passes_over_what_a_text_has_too_much_of() -> None:
    found = within_caps(lambda n: ranked(STAR[:n]), 3, [Cap(EACH, 1)])
    assert as_list(found) == [(0, 1), (4, 5), (6, 7)]


def test_a_short_batch_is_filled_with_what_was_skipped() -> None:
    found = within_caps(lambda n: ranked(STAR[:n]), 5, [Cap(EACH, 1)])
    assert as_list(found) == [(0, 1), (4, 5), (6, 7), (0, 2), (0, 3)]


def test_a_pair_within_one_group_counts_once() -> None:
    one_group = Cap(np.zeros(8, dtype=np.int64), 2)
    assert allowed(ranked(STAR), 6, [one_group]).tolist() == [0, 1]


def test_without_caps_the_ranking_is_asked_once() -> None:
    asked: list[int] = []

    def rank(n: int) -> Pairs:
        asked.append(n)
        return ranked(STAR[:n])

    assert as_list(within_caps(rank, 2, [])) == STAR[:2]
    assert asked == [2]


def test_the_ranking_is_followed_down_as_far_as_needed() -> None:
    star = [(0, i) for i in range(1, 100)] + [(100, 101)]
    found = within_caps(lambda n: ranked(star[:n]), 2, [Cap(np.arange(102), 1)])
    assert as_list(found) == [(0, 1), (100, 101)]


pairs_of_ten = st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9)), unique=True, max_size=25)


@given(pairs_of_ten, st.integers(0, 12), st.integers(1, 3), st.integers(1, 4))
def test_the_caps_hold_unless_too_few_pairs_are_left(
    pairs: list[tuple[int, int]], n: int, per_text: int, per_cell: int
) -> None:
    caps = [Cap(np.arange(10), per_text), Cap(np.arange(10) % 3, per_cell)]
    kept = ranked(pairs).take(allowed(ranked(pairs), n, caps))
    for cap in caps:
        touched = Counter(group for pair in as_list(kept) for group in {int(cap.group[row]) for row in pair})
        assert max(touched.values(), default=0) <= cap.most
    found = as_list(within_caps(lambda k: ranked(pairs[:k]), n, caps))
    assert len(found) == len(set(found)) == min(n, len(pairs))
    assert found[: len(kept)] == as_list(kept)


@given(pairs_of_ten, st.integers(0, 12), st.integers(0, 8), st.integers(0, 99))
def test_controls_are_other_candidates(pairs: list[tuple[int, int]], n: int, controls: int, seed: int) -> None:
    candidates, chosen = ranked(pairs), ranked(pairs[:n])
    found = as_list(with_controls(chosen, candidates, controls, 10, np.random.default_rng(seed)))
    assert len(found) == len(set(found)) == min(len(pairs), len(chosen) + controls)
    assert set(as_list(chosen)) <= set(found) <= set(pairs)
    assert [pair for pair in found if pair in as_list(chosen)] == as_list(chosen)


def test_controls_are_uniform_and_spread_over_the_batch() -> None:
    candidates = ranked([(i, j) for i in range(10) for j in range(10, 20)])
    chosen, counts, rng = candidates.take(np.arange(30)), Counter[tuple[int, int]](), np.random.default_rng(0)
    for _ in range(700):
        found = as_list(with_controls(chosen, candidates, 10, 20, rng))
        controls = [at for at, pair in enumerate(found) if pair not in set(as_list(chosen))]
        assert [at // 4 for at in controls] == list(range(10))
        counts.update(found[at] for at in controls)
    assert len(counts) == 70
    assert min(counts.values()) > 60
    assert max(counts.values()) < 145


def clusters(n: int = 60) -> tuple[Dataset, np.ndarray]:
    """Return texts around three distant points, ever tighter: the most similar pairs are all of the last cluster."""
    rng = np.random.default_rng(0)
    centres = np.eye(3, 8, dtype=np.float32)[np.arange(n) % 3]
    noise = rng.normal(size=(n, 8)).astype(np.float32) * np.array([0.3, 0.2, 0.05])[np.arange(n) % 3, None]
    vectors = (centres + noise).astype(np.float32)
    dataset = make_dataset([""] * n, ["left"] * n, ["train"] * n, True, np.empty((0, 2)))
    return dataset, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_near_texts_are_one_neighbourhood() -> None:
    _, vectors = clusters()
    cells = neighbourhoods(vectors, np.arange(50), np.random.default_rng(0))
    assert set(cells[50:]) == {-1}
    assert 3 <= len(set(cells[:50])) <= round(50**0.5)
    assert all(len(set((np.arange(50) % 3)[cells[:50] == cell])) == 1 for cell in set(cells[:50]))


@pytest.mark.parametrize(("settings", "most"), [({}, 20), ({"per_neighbourhood": 3}, 16)])
def test_a_cap_of_a_neighbourhood_reaches_other_clusters(settings: dict[str, int], most: int) -> None:
    dataset, vectors = clusters()
    asked = Settings.model_validate({"strategy": "adaptive-retrieval", "neighbours": 50} | settings)
    pairs = choose(dataset, vectors, OutputLayer(1, 0), NOTHING, 20, asked, np.random.default_rng(0)).pairs
    assert ((pairs.left % 3 == 2).sum() == 20) == (not settings)
    assert (pairs.left % 3 == 2).sum() <= most


def test_a_control_share_is_not_the_most_similar() -> None:
    dataset, vectors = clusters()
    rng = np.random.default_rng(0)
    asked = Settings(control_share=0.25, neighbours=50)
    batch = choose(dataset, vectors, None, NOTHING, 20, asked, rng)
    best = choose(dataset, vectors, None, NOTHING, 20, Settings(neighbours=50), rng)
    assert as_list(best.pairs)[:15] == [pair for pair in as_list(batch.pairs) if pair in as_list(best.pairs)[:15]]
    assert len(batch.pairs) == 20
    assert batch.strategy == best.strategy
