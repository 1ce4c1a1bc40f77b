"""What a verdict counts beside a person's label, by how far the rater agrees with people."""

import random

import pytest

from allpairs.db.domain import Verdict
from allpairs.db.rating import Judged
from allpairs.learner.light.rating.agreement import verdict_weight


def judged(hits: int, matches: int, right: int, others: int, abstained: int = 0) -> list[Judged]:
    """Return so many matches, of which it calls `hits` one, and others, of which it calls `right` none."""
    said = [(Verdict.YES, True)] * hits + [(Verdict.NO, True)] * (matches - hits)
    said += [(Verdict.NO, False)] * right + [(Verdict.YES, False)] * (others - right)
    said += [(Verdict.ABSTAIN, True)] * abstained
    return [Judged((at, at), verdict, None, match, None) for at, (verdict, match) in enumerate(said)]


@pytest.mark.parametrize(
    "useless", [[], judged(50, 50, 0, 0), judged(30, 60, 30, 60), judged(5, 100, 5, 100), judged(100, 100, 0, 100)]
)
def test_a_rater_that_tells_nothing_counts_nothing(useless: list[Judged]) -> None:
    assert verdict_weight(useless) == 0


def test_the_weight_is_the_square_of_the_lower_end_of_j() -> None:
    """J = 0.9 + 0.8 - 1; the Wilson intervals of 90 and 80 of 100 begin at 0.8256 and 0.7111."""
    below = ((0.9 - 0.82563) ** 2 + (0.8 - 0.71112) ** 2) ** 0.5
    assert verdict_weight(judged(90, 100, 80, 100)) == pytest.approx((0.7 - below) ** 2, abs=1e-3)
    assert verdict_weight(judged(90, 100, 80, 100, abstained=50)) == verdict_weight(judged(90, 100, 80, 100))


def test_more_agreement_and_more_pairs_count_more() -> None:
    assert (
        verdict_weight(judged(9, 10, 9, 10))
        < verdict_weight(judged(90, 100, 90, 100))
        < verdict_weight(judged(99, 100, 99, 100))
        < 1
    )


def test_a_coin_has_no_weight_even_by_luck() -> None:
    rng = random.Random(0)
    found = [
        verdict_weight(
            judged(sum(rng.random() < 0.5 for _ in range(60)), 60, sum(rng.random() < 0.5 for _ in range(90)), 90)
        )
        for _ in range(400)
    ]
    assert set(found) == {0.0}
