"""Sampling orders: every pair of a band is equally likely, and the order is permanent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from allpairs.db.errors import Cancelled
from allpairs.learner.evaluation.audit import sampling_order
from allpairs.learner.evaluation.audit import strata as bands
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.sampling_order import SamplingOrder, make_sampling_order
from allpairs.learner.evaluation.audit.sides import Sides, pair_numbers
from allpairs.learner.evaluation.audit.strata import Strata, rank_bands
from tests.helpers.figures.audits import all_pairs, make_sides, unit_vectors
from tests.helpers.machine import examples

DEEP, BELOW = 40, 600


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set bands of 16, 16, 32 … pairs, a top of 256, and sampling orders with a part of the deeper ones."""
    monkeypatch.setattr(bands, "TOP", 16)
    monkeypatch.setattr(bands, "SMALLEST_TOP", 256)
    monkeypatch.setattr(sampling_order, "DEEP", DEEP)
    monkeypatch.setattr(sampling_order, "BELOW", BELOW)


def drawn(sides: Sides, seed: int) -> tuple[Strata, SamplingOrder]:
    strata = rank_bands(rank_all(sides.left, sides.right, sides.symmetric))
    return strata, make_sampling_order(sides, strata, seed)


def pairs_of(order: SamplingOrder, stratum: int) -> list[tuple[int, int]]:
    here = order.stratum == stratum
    return list(zip(order.left[here].tolist(), order.right[here].tolist(), strict=True))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_sampling_order_is_its_bands_pairs_by_their_numbers(symmetric: bool, seed: int) -> None:
    sides = make_sides(symmetric, seed=seed)
    strata, order = drawn(sides, seed)
    rows, columns, scores = all_pairs(sides)
    place = strata.place(scores)
    numbers = pair_numbers(sides.left_ids[rows], sides.right_ids[columns], seed)
    for stratum, size in enumerate(strata.sizes[: strata.top]):
        mine = np.nonzero(place == stratum)[0]
        first = mine[np.argsort(numbers[mine])][:DEEP]
        assert pairs_of(order, stratum) == list(zip(rows[first].tolist(), columns[first].tolist(), strict=True))
        assert len(first) == min(size, DEEP)
        assert order.score[order.stratum == stratum] == pytest.approx(scores[first], abs=1e-6)


@pytest.mark.parametrize("symmetric", [True, False])
def test_bands_below_the_top_have_pairs_ordered_by_their_numbers(symmetric: bool) -> None:
    sides = make_sides(symmetric)
    strata, order = drawn(sides, 1)
    below = order.stratum >= strata.top
    assert set(order.stratum[below].tolist()) == set(range(strata.top, len(strata.sizes)))
    assert np.array_equal(strata.place(order.score), order.stratum)
    assert np.einsum("nd,nd->n", sides.left[order.left], sides.right[order.right]) == pytest.approx(
        order.score, abs=1e-6
    )
    numbers = sides.numbers(order.left, order.right, 1)
    assert all((np.diff(numbers[order.stratum == stratum]) > 0).all() for stratum in range(len(strata.sizes)))


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_pair_is_drawn_twice_or_with_itself(symmetric: bool) -> None:
    _, order = drawn(make_sides(symmetric), 2)
    pairs = list(zip(order.left.tolist(), order.right.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    if symmetric:
        assert (order.left < order.right).all()


def test_a_small_corpus_is_all_top() -> None:
    sides = make_sides(True, 20)
    strata, order = drawn(sides, 0)
    assert strata.top == len(strata.sizes)
    assert order.stratum.max() == len(strata.sizes) - 1
    assert len(order.left) == np.minimum(strata.sizes, DEEP).sum()


def test_blocks_of_rows_do_not_matter() -> None:
    """With more rows than one block, each block finds its own part of every sampling order."""
    sides = make_sides(True, 1_100)
    strata, order = drawn(sides, 3)
    rows, columns, scores = all_pairs(sides)
    numbers = sides.numbers(rows, columns, 3)
    # single precision rounds differently in blocks: pairs within a hair of an edge are left out
    inside = np.abs(scores[:, None] - strata.edges).min(1) > 1e-6
    found = set(zip(order.left.tolist(), order.right.tolist(), strict=True))
    for stratum in range(strata.top):
        mine = np.nonzero(inside & (strata.place(scores) == stratum))[0]
        first = mine[np.argsort(numbers[mine])][: DEEP - 2]
        assert set(zip(rows[first].tolist(), columns[first].tolist(), strict=True)) <= found


def test_every_pair_of_a_stratum_is_as_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling_order, "DEEP", 12)
    monkeypatch.setattr(sampling_order, "BELOW", 300)
    sides = make_sides(True, 32)
    strata = rank_bands(rank_all(sides.left, sides.right, True))
    sizes = strata.sizes.tolist()
    rounds = 800
    counts = np.zeros((len(sizes), 32 * 32))
    for seed in range(rounds):
        order = make_sampling_order(sides, strata, seed)
        np.add.at(counts, (order.stratum, order.left * 32 + order.right), 1)
    assert strata.top < len(sizes)
    for seen, size in zip(counts, sizes, strict=True):
        turned_up = seen[seen > 0]
        assert len(turned_up) == size  # every pair of it turns up, and no other
        share = min(1.0, 12 / size)
        deviation = np.sqrt(share * (1 - share) / rounds)
        assert np.abs(turned_up / rounds - share).max() <= 5 * deviation + 1e-12


def test_sampling_orders_of_two_models_share_possible_pairs() -> None:
    """A pair of one stratum under both models, with a low enough number for both sampling orders, is in both."""
    sides = make_sides(True, 60)
    nudged = sides.left + 0.05 * unit_vectors(60, 9)
    nudged /= np.linalg.norm(nudged, axis=1, keepdims=True)
    other = Sides(nudged, nudged, sides.left_ids, sides.right_ids, True)
    strata, order = drawn(sides, 4)
    later, other_order = drawn(other, 4)
    rows, columns, scores = all_pairs(sides)
    numbers = sides.numbers(rows, columns, 4)
    place, place_later = strata.place(scores), later.place(all_pairs(other)[2])
    assert 0.02 < (place != place_later).mean() < 0.5  # the models differ
    for stratum in range(strata.top):
        both = [set(pairs_of(one, stratum)) for one in (order, other_order)]
        last = min(max(sides.numbers(*np.array(sorted(one)).T, 4)) for one in both)
        wanted = np.nonzero((place == stratum) & (place_later == stratum) & (numbers <= last))[0]
        assert set(zip(rows[wanted].tolist(), columns[wanted].tolist(), strict=True)) <= both[0] & both[1]
    deepest = strata.top - 1
    same, unrelated = (set(pairs_of(drawn(other, seed)[1], deepest)) & set(pairs_of(order, deepest)) for seed in (4, 5))
    assert len(same) > 2 * len(unrelated)


ids = st.lists(st.integers(1, 2**40), min_size=1, max_size=20)


@given(ids, st.integers(0, 10**6), st.data())
@settings(max_examples=examples(50))
def test_a_number_belongs_to_the_pair_and_the_seed(left: list[int], seed: int, data: st.DataObject) -> None:
    right = data.draw(st.lists(st.integers(1, 2**40), min_size=len(left), max_size=len(left)))
    whole = pair_numbers(np.array(left), np.array(right), seed)
    assert ((whole >= 0) & (whole < 1)).all()
    one_by_one = [float(pair_numbers(np.array([a]), np.array([b]), seed)[0]) for a, b in zip(left, right, strict=True)]
    assert whole.tolist() == one_by_one
    assert (whole != pair_numbers(np.array(left), np.array(right), seed + 1)).all()


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_numbers_are_uniform_and_unrelated_from_pair_to_pair(seed: int) -> None:
    left, right = (side.ravel() for side in np.mgrid[1:151, 1:151])
    numbers = pair_numbers(left, right, seed)
    assert len(set(numbers.tolist())) == len(numbers)
    assert kstest(numbers, "uniform").pvalue > 1e-3
    square = numbers.reshape(150, 150)
    for one, neighbour in ((square[1:], square[:-1]), (square[:, 1:], square[:, :-1]), (square, square.T)):
        off = one != neighbour  # the diagonal is its own mirror image
        assert abs(np.corrcoef(one[off], neighbour[off])[0, 1]) < 5 / np.sqrt(off.sum())
    assert abs(np.corrcoef(numbers, pair_numbers(left, right, seed + 1))[0, 1]) < 5 / 150


def test_a_cancelled_pass_stops() -> None:
    def cancel(stage: str, done: float) -> None:
        raise Cancelled(stage)

    sides = make_sides(True)
    strata = rank_bands(rank_all(sides.left, sides.right, True))
    with pytest.raises(Cancelled, match="draw"):
        make_sampling_order(sides, strata, 0, cancel)
