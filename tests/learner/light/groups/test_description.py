"""Sizes, coherence, weakest links and representatives of groups, and what becomes of them under another clustering."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus.graph import components
from allpairs.learner.light.groups.description import Changes, changes_of_groups, described, longest_text, newest_text
from allpairs.learner.light.groups.links import Links
from allpairs.learner.light.groups.newest import order_by

SOME = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda ab: ab[0] < ab[1]), unique=True)


def links(*rows: tuple[int, int, float], n: int = 6) -> Links:
    left, right, p = (np.array(column) for column in zip(*rows, strict=True))
    return Links(n, left, right, p)


def test_a_group_is_held_by_its_strongest_links() -> None:
    some = links((0, 1, 0.9), (1, 2, 0.8), (0, 2, 0.3), (3, 4, 0.7))
    groups = described(some, some.p, np.array([0, 0, 0, 3, 3, 5]))
    assert groups.group_of_text.tolist() == [0, 0, 0, 1, 1, -1]
    np.testing.assert_allclose(groups.weakest, [0.8, 0.7])  # without 0.3 it holds
    np.testing.assert_allclose(groups.score, [2 / 3, 0.7])
    assert groups.central.tolist() == [1, 3] and groups.coherence.tolist() == [1, 1]
    assert groups.largest_first().tolist() == [0, 1] and groups.weakest_first().tolist() == [1, 0]


def test_a_group_that_people_joined_has_no_weakest_link() -> None:
    groups = described(links((0, 1, 0.9)), np.array([0.9]), np.array([0, 0, 2, 2, 4, 5]))
    assert groups.matches.tolist() == [1, 0] and np.isnan(groups.weakest[1])


def test_what_people_joined_is_no_weak_link() -> None:
    left, right, score = np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([0.3, 0.5, 0.9])
    group = np.zeros(5, dtype=np.int64)
    groups = described(Links(5, left, right, score, yes=np.array([[1, 0], [3, 4]])), score, group)
    assert (groups.weakest.tolist(), groups.joined.tolist()) == ([0.5], [[1, 2]])
    assert (groups.matches.tolist(), groups.score.tolist()) == ([4], pytest.approx([1.7 / 3]))
    groups = described(Links(5, left, right, score, yes=np.array([[0, 1], [1, 2], [2, 3], [3, 4]])), score, group)
    assert np.isnan(groups.weakest[0]) and groups.joined.tolist() == [[-1, -1]]


@pytest.mark.parametrize(
    ("values", "newest"),
    [
        (["9", "10", "", "2"], 1),
        (["2024-03-01", "1.4.2024", "", "2024-02-28T23:00"], 1),
        (["2024-03-01 09:00", "2024-03-01 08:00", "", ""], 0),
        (["9", "10", "", "x"], 1),
        (["-1", "-2", "", ""], 0),
        (["", "", "", ""], 0),
        (["nan", "5", "", ""], 1),
        (["$ 900", "$ 1,200", "n/a", ""], 1),
        (["2024-03-01 9:05", "2024-03-01 10:00", "-", ""], 1),
        (["04/25/2024", "05/04/2024", "", ""], 1),
        (["rev 9", "rev 10", "", "unknown"], 1),
    ],
)
def test_the_newest_text_has_the_largest_value(values: list[str], newest: int) -> None:
    group = np.zeros(4, dtype=np.int64)
    assert newest_text(group, order_by("column", values).rank).tolist() == [newest]
    backwards = order_by("column", values[::-1])
    assert newest_text(group, backwards.rank).tolist() == [3 - newest if any(values) else 0]
    assert backwards.note == order_by("column", values).note


@given(SOME, st.integers(0, 10**6))
def test_what_holds_a_group_connects_it(pairs: list[tuple[int, int]], seed: int) -> None:
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    score = np.random.default_rng(seed).random(len(pairs))
    group = components(9, rows)
    groups = described(Links(9, rows[:, 0], rows[:, 1], score), score, group)
    for at in range(len(groups.size)):
        inside = np.isin(rows[:, 0], groups.texts(at))
        within = rows[inside & (score >= groups.weakest[at])]
        assert len(set(components(9, within)[groups.texts(at)])) == 1
        fewer = rows[inside & (score > groups.weakest[at])]
        assert len(set(components(9, fewer)[groups.texts(at)])) > 1


@given(SOME)
def test_coherence_is_the_share_of_pairs_that_match(pairs: list[tuple[int, int]]) -> None:
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    group = components(9, rows)
    groups = described(Links(9, rows[:, 0], rows[:, 1], np.ones(len(rows))), np.ones(len(rows)), group)
    for at in range(len(groups.size)):
        within = set(combinations(groups.texts(at).tolist(), 2))
        assert groups.coherence[at] * len(within) == len(within & set(pairs))


def test_pairs_of_two_lists_are_of_both_lists() -> None:
    second = np.array([False, False, True, True])
    some = Links(4, np.array([0, 1]), np.array([2, 3]), np.ones(2), second=second)
    assert described(some, some.p, np.zeros(4, dtype=np.int64)).pairs.tolist() == [4]


def test_the_longest_text_represents() -> None:
    assert longest_text(np.array([0, 0, -1, 1, 1]), ["a", "abc", "abcdef", "ab", "cd"]).tolist() == [1, 3]


def test_groups_stay_divide_or_join() -> None:
    before, after = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 0, 1, 2, 3, 3, 3])
    assert changes_of_groups(before, after) == Changes(same=1, divided=1, joined=1)
    assert changes_of_groups(after, after) == Changes(same=2, divided=0, joined=0)
