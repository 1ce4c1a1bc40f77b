"""The alternative annotator test: worked numbers, and how often raters of known quality pass."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from allpairs.learner.light.stats.alternative_annotator import alternative_annotator, benjamini_yekutieli

N = 40
AGREED = [{"ann": True, "bob": True, "cem": True}] * N  # people who always agree


def test_a_rater_that_always_agrees_wins_against_everybody() -> None:
    found = alternative_annotator(AGREED, [True] * N)
    assert found is not None and found.passes
    assert (found.winning_rate, found.advantage) == (1.0, 1.0)
    assert [(one.name, one.pairs, one.p, one.wins) for one in found.against] == [
        (name, N, 0.0, True) for name in ("ann", "bob", "cem")
    ]


@pytest.mark.parametrize(("wrong", "p", "wins"), [(2, 5.58e-5, True), (10, 0.7624, False)])
def test_the_p_of_each_person_is_that_of_a_paired_t_test(wrong: int, p: float, wins: bool) -> None:
    found = alternative_annotator(AGREED, [at >= wrong for at in range(N)])
    ahead = np.array([1.0] * wrong + [0.0] * (N - wrong))  # by how much a person is ahead of the rater
    assert found is not None and found.passes == wins and found.advantage == pytest.approx(1 - wrong / N)
    for one in found.against:
        assert one.p == pytest.approx(ttest_1samp(ahead, 0.2, alternative="less").pvalue)
        assert one.p == pytest.approx(p, rel=0.01) and one.wins == wins
        assert (one.rater, one.person) == (pytest.approx(1 - wrong / N), 1.0)


def test_an_abstention_agrees_with_nobody() -> None:
    given = [None if at < 10 else True for at in range(N)]
    found, wrong = (alternative_annotator(AGREED, said) for said in (given, [at >= 10 for at in range(N)]))
    assert found == wrong


def test_people_with_few_common_pairs_do_not_count() -> None:
    two = [{"ann": True, "bob": True}] * N
    assert alternative_annotator(two, [True] * N) is None
    third = [{"ann": True, "cem": True}] * 29
    assert alternative_annotator([*two, *third], [True] * (N + 29)) is None
    assert alternative_annotator([*two, *third, third[0]], [True] * (N + 30)) is not None
    alone = [{"cem": True}] * 10
    assert alternative_annotator([*two, *third, *alone], [True] * (N + 39)) is None


def test_false_discoveries_are_bounded_by_benjamini_yekutieli() -> None:
    # m = 4: bounds 0.05·k / (4·(1 + 1/2 + 1/3 + 1/4)) = 0.006, 0.012, 0.018, 0.024
    assert benjamini_yekutieli([0.5, 0.011, 0.02, 0.001], 0.05) == [False, True, False, True]
    assert benjamini_yekutieli([0.5, 0.011, 0.017, 0.007], 0.05) == [False, True, True, True]
    assert benjamini_yekutieli([0.5, 0.02, 0.03, 0.4], 0.05) == [False] * 4


@pytest.mark.parametrize(("accuracy", "least", "most"), [(0.9, 95, 100), (0.5, 0, 0)])
def test_a_rater_as_good_as_people_passes_and_a_coin_does_not(accuracy: float, least: int, most: int) -> None:
    passed = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        truth = rng.random(100) < 0.3
        people = truth ^ (rng.random((3, 100)) > 0.9)
        said = [dict(zip("abc", map(bool, column), strict=True)) for column in people.T]
        found = alternative_annotator(said, list(map(bool, truth ^ (rng.random(100) > accuracy))))
        passed += found is not None and found.passes
    assert least <= passed <= most
