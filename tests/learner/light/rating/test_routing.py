"""The order in which people are asked about a batch that a machine rater has read."""

import random

from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.domain import Verdict
from allpairs.learner.light.rating.routing import CHECKED, route_pairs

VERDICTS = st.none() | st.sampled_from(Verdict)  # none: it was not asked about the pair


@given(st.lists(st.tuples(st.booleans(), VERDICTS), max_size=60), st.integers(0, 60), st.integers())
def test_people_see_a_random_fifth_and_then_what_is_disputed(
    said: list[tuple[bool, Verdict | None]], size: int, seed: int
) -> None:
    size = min(size, len(said))
    matches = [match for match, _ in said]
    verdicts = [verdict for _, verdict in said]
    found = route_pairs(matches, verdicts, size, random.Random(seed))
    assert sorted(found.order) == list(range(len(said)))
    first, later = found.order[:size], found.order[size:]
    assert len(found.checks) == round(CHECKED * size) and found.checks <= set(first)
    agreed = [verdict == (Verdict.YES if match else Verdict.NO) for match, verdict in said]
    assert not any(agreed[at] for at in first if at not in found.checks) or all(agreed[at] for at in later)
    disputed = [at for at in later if not agreed[at]]
    assert disputed == sorted(disputed), "the strategy's order holds among pairs alike"


def test_checks_are_random_pairs_of_the_whole_batch() -> None:
    matches = [at % 2 == 0 for at in range(100)]
    drawn = [at for seed in range(400) for at in route_pairs(matches, [None] * 100, 20, random.Random(seed)).checks]
    assert len(drawn) == 1_600 and 720 < sum(at < 50 for at in drawn) < 880
