"""Which pairs of a batch people are asked about first, where a machine rater has read it."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from allpairs.db.domain import Verdict
from allpairs.db.labels.pairs import Pair

CHECKED = 0.2  # share of the pairs to label that are drawn at random, whatever the rater says of them


@dataclass(frozen=True)
class Asked:
    """A pair of the batch, and whether the matcher finds a match likelier than not."""

    pair: Pair
    match: bool


@dataclass(frozen=True)
class Routes:
    """Positions of the pairs in the order in which people are asked; checks: those that were drawn at random."""

    order: list[int]
    checks: set[int]


def routed(pairs: Sequence[Asked], verdicts: Mapping[Pair, Verdict], size: int, rng: random.Random) -> Routes:
    """Return in which order people are asked about the pairs, of which they will label `size`.

    First, a fifth of the size drawn at random from all pairs: what the rater is worth is measured on these. Then those
    about which the rater contradicts the matcher, abstains or was not asked, then the others, each in the given order.
    Spot checks are spread over the others, so that their place gives no hint.
    """
    checks = set(rng.sample(range(len(pairs)), min(len(pairs), round(CHECKED * size))))
    rest = [at for at in range(len(pairs)) if at not in checks]
    agreed = {at: verdicts.get(pairs[at].pair) == (Verdict.YES if pairs[at].match else Verdict.NO) for at in rest}
    ranked = sorted(rest, key=agreed.__getitem__)
    first = [*checks, *ranked[: size - len(checks)]]
    rng.shuffle(first)
    return Routes([*first, *ranked[size - len(checks) :]], checks)
