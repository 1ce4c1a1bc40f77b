"""How far two models agree on the candidates of the same texts: counts that add up over requests, and no text."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

FIRST = 10  # candidates of a text that are compared
MATCH = 0.5  # the p at which a candidate is a match


class Compared(NamedTuple):
    """One text under two models: the first candidates of each, best first, and both p of all of these (n,)."""

    published: np.ndarray
    shadow: np.ndarray
    p_published: np.ndarray
    p_shadow: np.ndarray


def counts(compared: Sequence[Compared]) -> dict[str, float]:
    """Return the sums that `db.projects.publications.add_counts` adds."""
    sums: dict[str, float] = dict.fromkeys(("same_best", "shared", "pairs", "more", "away", "gained", "lost"), 0)
    for one in compared:
        difference = one.p_shadow - one.p_published
        sums["same_best"] += int(np.array_equal(one.published[:1], one.shadow[:1]))
        sums["shared"] += _shared(one)
        sums["pairs"] += len(difference)
        sums["more"] += float(difference.sum())
        sums["away"] += float(np.abs(difference).sum())
        sums["gained"] += int(((one.p_published < MATCH) & (one.p_shadow >= MATCH)).sum())
        sums["lost"] += int(((one.p_published >= MATCH) & (one.p_shadow < MATCH)).sum())
    return {"texts": len(compared), **sums}


def _shared(one: Compared) -> float:
    """Return the share of the first candidates that both models have; 1 where neither has any."""
    most = max(len(one.published), len(one.shadow))
    return len(np.intersect1d(one.published, one.shadow)) / most if most else 1.0
