"""Groups from links: each clustering against another implementation of its definition, and people's answers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform

from allpairs.db.domain import Clustering
from allpairs.learner.light.groups import assignment
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.links import Links

NO_LINKS = np.empty(0, dtype=np.int64)
ONE_LIST = [Clustering.CONNECTED, Clustering.AVERAGE, Clustering.CORRELATION]


def links(n: int, *rows: tuple[int, int, float], **more: np.ndarray) -> Links:
    left, right, p = (np.array(column) for column in zip(*rows, strict=True))
    return Links(n, left, right, p, **more)


def pairs(*rows: tuple[int, int]) -> np.ndarray:
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


@st.composite
def drawn(draw: st.DrawFn) -> Links:
    """Draw links of up to seven texts; no two means of their p are equal."""
    n = draw(st.integers(2, 7))
    everything = list(combinations(range(n), 2))
    kept = draw(st.lists(st.sampled_from(everything), unique=True))
    left, right = pairs(*kept).T
    return Links(n, left, right, np.random.default_rng(draw(st.integers(0, 10**6))).random(len(kept)))


def same(group: np.ndarray, other: np.ndarray) -> bool:
    return len(set(zip(group.tolist(), other.tolist(), strict=True))) == len(set(group)) == len(set(other))


def partitions(n: int) -> list[np.ndarray]:
    """Return all ways to divide n texts into groups."""
    found: list[list[int]] = [[]]
    for _ in range(n):
        found = [[*one, group] for one in found for group in range(max(one, default=-1) + 2)]
    return [np.array(one) for one in found]


def objective(given: Links, group: np.ndarray, least: float) -> float:
    inside = group[given.left] == group[given.right]
    size = np.bincount(group)
    return float(given.p[inside].sum() - least * (size * (size - 1) // 2).sum())


@given(drawn(), st.sampled_from([0.2, 0.5, 0.8]))
def test_average_linkage_is_scipys(given: Links, least: float) -> None:
    distance = np.ones((given.n, given.n))
    np.fill_diagonal(distance, 0)
    distance[given.left, given.right] = distance[given.right, given.left] = 1 - given.p
    expected = fcluster(linkage(squareform(distance), "average"), 1 - least, "distance")
    assert same(clustered(given, Clustering.AVERAGE, least), expected)


@given(drawn(), st.sampled_from([0.2, 0.5, 0.8]))
def test_no_move_of_a_text_betters_a_correlation_clustering(given: Links, least: float) -> None:
    group = clustered(given, Clustering.CORRELATION, least)
    value = objective(given, group, least)
    for text in range(given.n):
        for target in range(given.n + 1):
            other = group.copy()
            other[text] = target
            assert objective(given, other, least) <= value + 1e-6


def test_correlation_clustering_is_near_the_best_partition() -> None:
    reached = best = 0.0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        some = pairs(*combinations(range(7), 2))[rng.random(21) < 0.6]
        given = Links(7, some[:, 0], some[:, 1], rng.random(len(some)))
        reached += objective(given, clustered(given, Clustering.CORRELATION, 0.5), 0.5)
        best += max(objective(given, one, 0.5) for one in partitions(7))
    assert 0.95 * best < reached <= best


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(4, 8)), unique=True, min_size=1), st.integers(0, 10**6))
def test_one_to_one_is_the_optimal_assignment(some: list[tuple[int, int]], seed: int) -> None:
    left, right = pairs(*some).T
    p = np.random.default_rng(seed).random(len(some))
    second = np.arange(9) >= 4
    group = clustered(Links(9, right, left, p, second=second), Clustering.ONE_TO_ONE, 0.3)
    gain = np.zeros((4, 5))
    gain[left, right - 4] = np.maximum(p - 0.3, 0)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    inside = group[left] == group[right]
    assert np.bincount(group).max() <= 2
    assert float((p[inside] - 0.3).sum()) == pytest.approx(gain[rows, columns].sum(), abs=1e-6)


@pytest.mark.parametrize("values", [(0.5, 0.6, 0.7, 1.0), tuple(np.linspace(0.5, 1, 50).tolist())])
def test_one_to_one_is_optimal_block_by_block(monkeypatch: pytest.MonkeyPatch, values: tuple[float, ...]) -> None:
    monkeypatch.setattr(assignment, "BLOCK", 3)
    for seed in range(50):
        rng = np.random.default_rng(seed)
        table = np.where(rng.random((12, 14)) < 0.2, rng.choice(values, (12, 14)), 0)
        left, right = np.nonzero(table)
        kept = assignment.optimal_assignment(
            Links(26, left, right + 12, table[left, right], second=np.arange(26) >= 12), 0.5
        )
        gain = np.maximum(table - 0.5, 0)
        assert max(np.bincount(left[kept]).max(), np.bincount(right[kept]).max()) == 1
        best = gain[linear_sum_assignment(gain, maximize=True)].sum()
        assert gain[left[kept], right[kept]].sum() == pytest.approx(best, abs=1e-6)


def test_a_text_of_the_second_list_has_its_best_partner_alone() -> None:
    second = np.array([False, False, True, True, True])
    given = links(5, (0, 2, 0.6), (1, 2, 0.9), (0, 3, 0.7), (1, 3, 0.6), (1, 4, 0.4), second=second)
    assert clustered(given, Clustering.ONE_TO_MANY, 0.5).tolist() == [0, 1, 1, 0, 4]
    assert clustered(given, Clustering.CONNECTED, 0.5).tolist() == [0, 0, 0, 0, 4]


@given(drawn(), st.data(), st.sampled_from(ONE_LIST))
def test_people_decide_over_links(given: Links, data: st.DataObject, how: Clustering) -> None:
    everything = list(combinations(range(given.n), 2))
    answered = data.draw(st.lists(st.sampled_from(everything), unique=True, max_size=4))
    half = data.draw(st.integers(0, len(answered)))
    yes, no = pairs(*answered[:half]), pairs(*answered[half:])
    group = clustered(Links(given.n, given.left, given.right, given.p, yes, no), how, 0.4)
    joined = clustered(Links(given.n, NO_LINKS, NO_LINKS, np.empty(0), yes), Clustering.CONNECTED, 0.4)
    assert all(group[a] == group[b] for a, b in yes)
    assert all(group[a] != group[b] or joined[a] == joined[b] for a, b in no)


def test_a_no_divides_a_chain_at_its_weakest_link() -> None:
    given = links(5, (0, 1, 0.9), (1, 2, 0.6), (2, 3, 0.8), no=pairs((0, 3)))
    assert clustered(given, Clustering.CONNECTED, 0.5).tolist() == [0, 0, 2, 2, 4]


@pytest.mark.parametrize("how", [Clustering.ONE_TO_ONE, Clustering.ONE_TO_MANY])
def test_answers_of_two_lists_take_the_place_of_links(how: Clustering) -> None:
    second = np.array([False, False, True, True])
    given = links(4, (0, 2, 0.9), (1, 3, 0.8), (1, 2, 0.7), second=second, yes=pairs((1, 2)), no=pairs((1, 3)))
    assert clustered(given, how, 0.5).tolist() == [0, 1, 1, 3]


def test_pairs_within_one_of_two_lists_do_not_count_in_a_mean() -> None:
    second = np.array([False, True, True, True])
    given = links(4, (0, 1, 0.9), (0, 2, 0.8), (0, 3, 0.7), second=second)
    assert clustered(given, Clustering.AVERAGE, 0.5).tolist() == [0, 0, 0, 0]
    assert clustered(given, Clustering.CORRELATION, 0.5).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("how", list(Clustering))
def test_without_links_every_text_is_alone(how: Clustering) -> None:
    second = np.array([False, True, True])
    assert clustered(Links(3, NO_LINKS, NO_LINKS, np.empty(0), second=second), how, 0.5).tolist() == [0, 1, 2]
