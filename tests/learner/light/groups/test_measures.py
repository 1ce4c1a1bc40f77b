"""Measures of entities, on the worked examples of papers and against the definitions written out text by text."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.corpus.graph import components
from allpairs.learner.light.groups import measures
from tests.helpers.machine import ROOT

VECTORS = st.integers(1, 9).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)))
)


def vector(*groups: str) -> np.ndarray:
    """Return the group of each text, named by letters in alphabetical order."""
    of = {text: at for at, group in enumerate(groups) for text in group}
    return np.array([of[text] for text in sorted(of)])


def test_b_cubed_of_bagga_and_baldwin_1998() -> None:
    true = vector("abcde", "fg", "hijkl")
    first, second = vector("abcde", "fghijkl"), vector("abcdehijkl", "fg")
    assert measures.b_cubed(first, true).precision == pytest.approx(16 / 21)  # 76 % in the paper
    assert measures.b_cubed(second, true).precision == pytest.approx(7 / 12)  # 58 %
    assert measures.b_cubed(first, true).recall == measures.b_cubed(second, true).recall == 1


def test_pairs_and_clusters_of_a_small_example() -> None:  # values from the definitions, not from a paper
    true, found = vector("ab", "cd", "efghij"), vector("ab", "cd", "efg", "hij")
    assert measures.pairwise(found, true) == measures.PrecisionRecall(1.0, 8 / 17)
    assert measures.clusters(found, true) == measures.PrecisionRecall(2 / 4, 2 / 3)
    assert measures.clusters(found, true).f1 == pytest.approx(4 / 7)


def test_pairs_of_two_lists_are_of_both_lists() -> None:
    second = np.array([False, False, True, True])
    found, true = np.array([0, 0, 0, 0]), np.array([0, 1, 0, 1])
    assert measures.pairwise(found, true, second) == measures.PrecisionRecall(2 / 4, 1.0)


@given(VECTORS)
def test_measures_are_what_their_definitions_say(vectors: tuple[list[int], list[int]]) -> None:
    require_definitions(*map(np.array, vectors))


def test_measures_of_groups_of_the_demo() -> None:
    demo = ROOT / "annotate" / "demo"
    corpus = load_corpus(demo / "questions.csv", None, demo / "gold.csv")
    gold = np.array([(pair.left, pair.right) for pair in corpus.gold if pair.positive])
    true, rng = components(len(corpus.items), gold), np.random.default_rng(0)
    found = np.where(rng.random(len(true)) < 0.1, rng.permutation(true), true)  # a tenth went elsewhere
    require_definitions(found, true)
    assert measures.b_cubed(true, true).f1 == measures.clusters(true, true).f1 == measures.pairwise(true, true).f1 == 1


def require_definitions(found: np.ndarray, true: np.ndarray) -> None:
    """Fail unless the measures are what their definitions, written out text by text, give."""
    texts = range(len(found))
    groups = [[{i for i in texts if of[i] == of[j]} for j in texts] for of in (found, true)]
    whole = [{frozenset(group) for group in of} for of in groups]
    pairs = [{(i, j) for i, j in combinations(texts, 2) if of[i] == of[j]} for of in (found, true)]
    shares = [len(a & b) for a, b in zip(*groups, strict=True)]

    cubed = measures.b_cubed(found, true)
    assert cubed.precision == pytest.approx(np.mean([s / len(a) for s, a in zip(shares, groups[0], strict=True)]))
    assert cubed.recall == pytest.approx(np.mean([s / len(b) for s, b in zip(shares, groups[1], strict=True)]))
    exact = len(whole[0] & whole[1])
    assert measures.clusters(found, true) == measures.PrecisionRecall(exact / len(whole[0]), exact / len(whole[1]))
    both = len(pairs[0] & pairs[1])
    assert measures.pairwise(found, true) == measures.PrecisionRecall(
        both / len(pairs[0]) if pairs[0] else None, both / len(pairs[1]) if pairs[1] else None
    )


def test_names_of_groups() -> None:
    group = np.array([0, 0, 1, 1, 2])
    name = np.array(["Ann", "Anna", "Ann", "Ann", "Bob"])
    assert measures.name_variation(group, name) == pytest.approx(1 / 3)  # the first has two names
    assert measures.homonymy(group, name) == pytest.approx(2 / 3)  # the first two share one
    assert measures.matching_rate(group) == pytest.approx(4 / 5)


def test_hill_numbers_of_group_sizes() -> None:
    group = vector("ab", "cd", "e", "f")  # two groups of two, two of one: sizes as common as each other
    assert measures.sizes(group) == {1: 2, 2: 2}
    assert [measures.hill_number(group, order) for order in (0, 1, 2)] == pytest.approx([2, 2, 2])
    uneven = vector("ab", "c", "d", "e")
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert [measures.hill_number(uneven, order) for order in (0, 1, 2)] == pytest.approx([2, np.exp(entropy), 1.6])


def test_nothing_is_measured_of_nothing() -> None:
    nothing = np.empty(0, dtype=np.int64)
    for quality in (measures.b_cubed(nothing, nothing), measures.clusters(nothing, nothing)):
        assert quality == measures.PrecisionRecall(None, None) and quality.f1 is None
    assert measures.matching_rate(nothing) is measures.homonymy(nothing, nothing) is None
    assert measures.PrecisionRecall(0.0, 0.0).f1 == 0
