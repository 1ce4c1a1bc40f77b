"""Mining by margin: the worked example, brute force, and invariants."""

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.db.errors import InputError
from allpairs.learner.light.catalog.mining import Margin
from allpairs.learner.pipelines.mining.margin import Candidates, Kind, margin_candidates, margins, mine_pairs, retrieve
from allpairs.learner.search.exact import Neighbours
from tests.helpers.machine import examples

# Worked by hand, apart from any code: cosines of three x (rows) and three y (columns), and margins for k = 1, 2, 3.
COSINES = np.array([[0.9, 0.8, 0.1], [0.8, 0.6, 0.2], [0.3, 0.5, 0.4]])
RATIOS = {
    1: [[1, 0.941176, 0.153846], [0.941176, 0.75, 0.333333], [0.428571, 0.769231, 0.888889]],
    2: [[1.058824, 1.032258, 0.173913], [1.032258, 0.857143, 0.4], [0.461538, 0.869565, 1.066667]],
    3: [[1.421053, 1.297297, 0.24], [1.333333, 1.028571, 0.521739], [0.5625, 0.967742, 1.263158]],
}
CHOSEN = {
    "candidates": [(2, 2), (0, 0), (0, 1), (1, 0), (2, 1), (1, 1)],
    "forward": [(2, 2), (0, 0), (1, 0)],
    "backward": [(2, 2), (0, 0), (0, 1)],
    "intersection": [(2, 2), (0, 0)],
    "max": [(2, 2), (0, 0)],
}
MODES = tuple(CHOSEN)


def nearest(cosines: np.ndarray, k: int) -> Neighbours:
    """Return the k best columns of each row; a column of minus infinity does not count."""
    k = min(k, int((cosines > -np.inf).sum(1).min(initial=cosines.shape[1])))
    ids = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return Neighbours(ids, np.take_along_axis(cosines, ids, 1).astype(np.float32))


def both(cosines: np.ndarray, k: int) -> tuple[Neighbours, Neighbours]:
    return nearest(cosines, k), nearest(cosines.T, k)


def pairs(found: Candidates) -> list[tuple[int, int]]:
    return list(zip(found.x.tolist(), found.y.tolist(), strict=True))


def config(**changes: Any) -> Margin:
    return Margin(**({"retrieval": "forward"} | changes))


def cosines_of(rows: int, columns: int, seed: int, low: float = 0.05) -> np.ndarray:
    """Return cosines in hundredths, so that there are ties and float32 keeps the order."""
    return np.random.default_rng(seed).integers(round(low * 100), 100, (rows, columns)) / 100


def one_list(rows: int, seed: int) -> np.ndarray:
    cosines = np.triu(cosines_of(rows, rows, seed), 1)
    cosines += cosines.T
    np.fill_diagonal(cosines, -np.inf)
    return cosines


@pytest.mark.parametrize("k", RATIOS)
def test_the_margins_of_the_worked_example(k: int) -> None:
    forward, backward = both(COSINES, k)
    means = forward.scores.mean(1, dtype=np.float64)[:, None], backward.scores.mean(1, dtype=np.float64)
    assert margins(COSINES, *means, "ratio") == pytest.approx(np.array(RATIOS[k]), abs=1e-6)
    found = margin_candidates(forward, backward, "ratio")
    assert found.margin == pytest.approx([RATIOS[k][x][y] for x, y in pairs(found)], abs=1e-6)


def test_the_ranks_of_the_worked_example() -> None:
    found = margin_candidates(*both(COSINES, 1), "ratio")
    assert pairs(found) == [(0, 0), (0, 1), (1, 0), (2, 1), (2, 2)]
    assert found.rank_forward.tolist() == [1, 0, 1, 1, 0]
    assert found.rank_backward.tolist() == [1, 1, 0, 0, 1]


@pytest.mark.parametrize("retrieval", MODES)
def test_the_pairs_of_the_worked_example(retrieval: str) -> None:
    found = retrieve(margin_candidates(*both(COSINES, 2), "ratio"), config(retrieval=retrieval), symmetric=False)
    assert pairs(found) == CHOSEN[retrieval]
    assert found.margin[:2] == pytest.approx([1.066667, 1.058824], abs=1e-6)


def test_the_margin_orders_otherwise_than_the_cosine() -> None:
    found = retrieve(margin_candidates(*both(COSINES, 2), "absolute"), config(), symmetric=False)
    assert pairs(found)[0] == (0, 0)
    assert found.margin.tolist() == found.cos.tolist()


def test_more_neighbours_than_texts_are_all_texts() -> None:
    assert retrieve(margin_candidates(*both(COSINES, 9), "ratio"), config(), False).margin == pytest.approx(
        [1.421053, 1.333333, 1.263158], abs=1e-6
    )


def test_each_text_once() -> None:
    found = retrieve(margin_candidates(*both(COSINES, 2), "ratio"), config(one_to_one=True), symmetric=False)
    assert pairs(found) == [(2, 2), (0, 0)]


def test_no_more_than_asked_for() -> None:
    for changes in ({"top": 1}, {"top": 1, "one_to_one": True}):
        assert pairs(retrieve(margin_candidates(*both(COSINES, 2), "ratio"), config(**changes), False)) == [(2, 2)]


def test_ties_go_to_the_higher_cosine_then_to_the_lower_rows() -> None:
    rows = [np.array(values) for values in ([1, 0, 2, 1], [0, 1, 0, 0])]
    cos, margin = np.array([0.5, 0.5, 0.5, 0.7], np.float32), np.ones(4, np.float32)
    found = Candidates(*rows, cos, margin, np.ones(4, int), np.ones(4, int))
    assert pairs(retrieve(found, config(), False)) == [(1, 0), (0, 1), (2, 0)]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_ratio_needs_cosines_above_zero(kind: Kind) -> None:
    cosines = np.array([[0.5, 0.4], [-0.2, -0.3]])
    if kind != "ratio":
        assert len(margin_candidates(*both(cosines, 2), kind)) == 4
        return
    with pytest.raises(InputError, match=r"have 0: .*`distance`"):
        margin_candidates(*both(np.zeros((1, 1)), 1), kind)
    with pytest.raises(InputError, match=r"have -0\.1: .*`distance`"):
        margin_candidates(*both(cosines, 2), kind)


def test_nothing_comes_of_no_texts() -> None:
    none = Neighbours(np.empty((0, 0), np.int64), np.empty((0, 0), np.float32))
    lonely = Neighbours(np.empty((1, 0), np.int64), np.empty((1, 0), np.float32))
    for forward, backward in [(none, none), (none, None), (lonely, None)]:
        for retrieval in MODES:
            found = retrieve(
                margin_candidates(forward, backward, "ratio"),
                config(retrieval=retrieval, one_to_one=True),
                backward is None,
            )
            assert len(found) == 0
            assert found.x.dtype == np.int64


sizes = st.integers(1, 7)
seeds = st.integers(0, 10**6)


@given(sizes, sizes, st.integers(1, 8), seeds, st.floats(0.1, 1))
def test_a_ratio_does_not_depend_on_the_scale(n: int, m: int, k: int, seed: int, times: float) -> None:
    cosines = cosines_of(n, m, seed)
    found, scaled = (margin_candidates(*both(c, k), "ratio") for c in (cosines, cosines * times))
    assert pairs(found) == pairs(scaled)
    assert found.margin == pytest.approx(scaled.margin, rel=1e-5)


@given(sizes, sizes, st.integers(1, 8), seeds, st.sampled_from(get_args(Kind)))
def test_swapping_the_lists_swaps_the_pairs(n: int, m: int, k: int, seed: int, kind: Kind) -> None:
    forward, backward = both(cosines_of(n, m, seed), k)
    found, swapped = margin_candidates(forward, backward, kind), margin_candidates(backward, forward, kind)
    order = np.lexsort((swapped.x, swapped.y))
    swapped = swapped.take(order)
    assert pairs(found) == [(x, y) for y, x in pairs(swapped)]
    assert found.margin.tolist() == swapped.margin.tolist()
    assert found.rank_forward.tolist() == swapped.rank_backward.tolist()


@given(sizes, sizes, seeds)
def test_a_mutual_best_pair_of_one_neighbour_each_has_ratio_one(n: int, m: int, seed: int) -> None:
    found = margin_candidates(*both(cosines_of(n, m, seed), 1), "ratio")
    mutual = (found.rank_forward == 1) & (found.rank_backward == 1)
    assert mutual.any()
    assert (found.margin[mutual] == 1).all()
    assert (found.margin <= 1).all()


def slowly(cosines: np.ndarray, k: int, mode: Margin, symmetric: bool) -> list[tuple[int, int]]:
    """Return what `retrieve` should return, by loops over sets of pairs."""
    forward, backward = both(cosines, k)
    near_x = {(x, int(y)) for x, row in enumerate(forward.ids) for y in row}
    near_y = {(int(x), y) for y, row in enumerate(backward.ids) for x in row}
    if symmetric:
        near_y = {(y, x) for x, y in near_x}
    mean_x, mean_y = forward.scores.mean(1, dtype=np.float64), backward.scores.mean(1, dtype=np.float64)

    def order(pair: tuple[int, int]) -> tuple[float, float, int, int]:
        x, y = sorted(pair) if symmetric else pair
        cos = np.float32(cosines[x, y])
        return -np.float32(np.float64(cos) / ((mean_x[x] + mean_y[y]) / 2)), -cos, x, y

    of_x = {min((p for p in near_x if p[0] == x), key=order) for x in range(len(cosines))}
    of_y = {min((p for p in near_y if p[1] == y), key=order) for y in range(cosines.shape[1])}
    chosen = {
        "forward": of_x, "backward": of_y, "max": of_x | of_y, "intersection": of_x & of_y, "candidates": near_x,
    }[mode.retrieval]  # fmt: skip
    if symmetric:
        chosen = {(min(pair), max(pair)) for pair in chosen}
    kept: list[tuple[int, int]] = []
    for x, y in sorted(chosen, key=order):
        clash = any({x, y} & {*pair} if symmetric else x == pair[0] or y == pair[1] for pair in kept)
        if not (clash and (mode.one_to_one or mode.retrieval == "max")):
            kept.append((x, y))
    return kept[: mode.top]


@settings(max_examples=examples(200))
@given(sizes, sizes, st.integers(1, 8), seeds, st.sampled_from(MODES), st.booleans(), st.integers(1, 9))
def test_against_loops(n: int, m: int, k: int, seed: int, retrieval: str, once: bool, top: int) -> None:
    cosines, mode = cosines_of(n, m, seed), config(retrieval=retrieval, one_to_one=once, top=top)
    found = retrieve(margin_candidates(*both(cosines, k), "ratio"), mode, symmetric=False)
    assert pairs(found) == slowly(cosines, k, mode, False)


@settings(max_examples=examples(200))
@given(st.integers(2, 8), st.integers(1, 8), seeds, st.sampled_from(MODES), st.booleans(), st.integers(1, 9))
def test_within_one_list_against_loops(n: int, k: int, seed: int, retrieval: str, once: bool, top: int) -> None:
    cosines, mode = one_list(n, seed), config(retrieval=retrieval, one_to_one=once, top=top)
    everything = margin_candidates(nearest(cosines, k), None, "ratio")
    assert (everything.x < everything.y).all()
    assert len(set(pairs(everything))) == len(everything)
    assert pairs(retrieve(everything, mode, symmetric=True)) == slowly(cosines, k, mode, True)


def unit(rng: np.random.Generator, n: int) -> np.ndarray:
    vectors = rng.random((n, 4)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_from_vectors_to_pairs() -> None:
    rng = np.random.default_rng(0)
    x, y = unit(rng, 30), unit(rng, 20)
    expected = retrieve(margin_candidates(*both(x @ y.T, 4), "ratio"), config(top=10), symmetric=False)
    seen: list[float] = []
    found = mine_pairs(x, y, config(top=10), progress=lambda words, done: seen.append(done))
    assert pairs(found) == pairs(expected)
    assert found.margin == pytest.approx(expected.margin, abs=1e-5)
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_from_vectors_to_pairs_of_one_list() -> None:
    vectors = unit(np.random.default_rng(0), 30)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -np.inf)
    expected = retrieve(margin_candidates(nearest(cosines, 4), None, "ratio"), config(), symmetric=True)
    found = mine_pairs(vectors, None, config())
    assert pairs(found) == pairs(expected)
    assert (found.x < found.y).all()


@given(st.integers(1, 12), st.integers(1, 12), seeds, st.booleans())
def test_texts_of_a_period_are_mined_among_each_other(n: int, m: int, seed: int, one_list: bool) -> None:
    rng = np.random.default_rng(seed)
    x, y = (np.abs(rng.normal(size=(size, 4))).astype(np.float32) for size in (n, m))
    x, y = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (x, y))
    of_x, of_y = (rng.choice(["2023-12", "2024-01", "2024-02"], size) for size in (n, m))
    y, of_y = (x, of_x) if one_list else (y, of_y)
    mode = config(retrieval="candidates", neighbours=2)
    found = mine_pairs(x, None if one_list else y, mode, periods=(of_x, of_y))
    expected = {}
    for name in {*of_x} & {*of_y}:
        rows, columns = np.flatnonzero(of_x == name), np.flatnonzero(of_y == name)
        if len(rows) > 1 or not one_list:
            part = mine_pairs(x[rows], None if one_list else y[columns], mode)
            placed = zip(rows[part.x].tolist(), columns[part.y].tolist(), strict=True)
            expected |= dict(zip(placed, part.margin.tolist(), strict=True))
    assert dict(zip(pairs(found), found.margin.tolist(), strict=True)) == pytest.approx(expected)
    assert (np.diff(found.margin) <= 0).all()
