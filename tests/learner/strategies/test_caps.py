"""Caps and control shares: no text above its cap while others are left, and nothing lost or invented."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.domain import Settings
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.loop.round import choose
from allpairs.learner.search.exact import Pairs
from allpairs.learner.strategies.caps import positions_within_cap, with_controls, within_cap

NOTHING = np.empty(0, dtype=np.int64)


def ranked(pairs: list[tuple[int, int]]) -> Pairs:
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Pairs(left, right, np.linspace(1, 0, len(pairs), dtype=np.float32))


def as_list(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


STAR = [(0, 1), (0, 2), (0, 3), (4, 5), (1, 2), (6, 7)]


def test_a_cap_passes_over_what_a_text_has_too_much_of() -> None:
    found = within_cap(lambda n: ranked(STAR[:n]), 3, 1)
    assert as_list(found) == [(0, 1), (4, 5), (6, 7)]


def test_a_short_batch_is_filled_with_what_was_skipped() -> None:
    found = within_cap(lambda n: ranked(STAR[:n]), 5, 1)
    assert as_list(found) == [(0, 1), (4, 5), (6, 7), (0, 2), (0, 3)]


def test_without_a_cap_the_ranking_is_asked_once() -> None:
    asked: list[int] = []

    def rank(n: int) -> Pairs:
        asked.append(n)
        return ranked(STAR[:n])

    assert as_list(within_cap(rank, 2, 0)) == STAR[:2]
    assert asked == [2]


def test_the_ranking_is_followed_down_as_far_as_needed() -> None:
    star = [(0, i) for i in range(1, 100)] + [(100, 101)]
    found = within_cap(lambda n: ranked(star[:n]), 2, 1)
    assert as_list(found) == [(0, 1), (100, 101)]


pairs_of_ten = st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9)), unique=True, max_size=25)


@given(pairs_of_ten, st.integers(0, 12), st.integers(1, 3))
def test_the_cap_holds_unless_too_few_pairs_are_left(pairs: list[tuple[int, int]], n: int, per_text: int) -> None:
    kept = ranked(pairs).take(positions_within_cap(ranked(pairs), n, per_text))
    touched = Counter(row for pair in as_list(kept) for row in pair)
    assert max(touched.values(), default=0) <= per_text
    found = as_list(within_cap(lambda k: ranked(pairs[:k]), n, per_text))
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


def test_a_control_share_is_not_the_most_similar() -> None:
    dataset, vectors = clusters()
    rng = np.random.default_rng(0)
    asked = Settings(control_share=0.25, neighbours=50)
    batch = choose(dataset, vectors, None, NOTHING, 20, asked, rng)
    best = choose(dataset, vectors, None, NOTHING, 20, Settings(neighbours=50), rng)
    assert as_list(best.pairs)[:15] == [pair for pair in as_list(batch.pairs) if pair in as_list(best.pairs)[:15]]
    assert len(batch.pairs) == 20
    assert batch.strategy == best.strategy
