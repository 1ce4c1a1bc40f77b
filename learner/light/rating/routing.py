"""Which pairs of a batch people are asked about first, where a machine rater has read it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from allpairs.db.domain import Verdict

CHECKED = 0.2  # share of the pairs to label that are drawn at random, whatever the rater says of them


@dataclass(frozen=True)
class Routes:
    """Positions of the pairs in the order in which people are asked; checks: those that were drawn at random."""

    order: list[int]
    checks: set[int]


def route_pairs(matches: Sequence[bool], verdicts: Sequence[Verdict | None], size: int, rng: random.Random) -> Routes:
    """Return in which order people are asked about the pairs, of which they will label `size`.

    First, a fifth of the size drawn at random from all pairs: what the rater is worth is measured on these. Then those
    about which the rater contradicts the matcher, abstains or was not asked, then the others, each in the given order.
    Spot checks are spread over the others, so that their place gives no hint.

    matches: whether the matcher finds a match likelier than not; verdicts: of the rater, None for pairs that it has not
    read.
    """
    checks = set(rng.sample(range(len(matches)), min(len(matches), round(CHECKED * size))))
    unchecked = [place for place in range(len(matches)) if place not in checks]
    ranked = sorted(unchecked, key=lambda place: verdicts[place] == (Verdict.YES if matches[place] else Verdict.NO))
    first = [*checks, *ranked[: size - len(checks)]]
    rng.shuffle(first)
    return Routes([*first, *ranked[size - len(checks) :]], checks)
