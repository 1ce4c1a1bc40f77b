"""The pairs that a machine rater has read: the first ones of a design's sampling orders, which are random."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.domain import Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.raters.verdicts import verdicts_of
from allpairs.db.schema.tables import MachineRater
from allpairs.learner.evaluation.audit.verdicts import NO, UNREAD, YES
from allpairs.learner.jobs.audit.designs import AuditDesign, read_designs
from allpairs.learner.jobs.data.project_data import read_project


@dataclass(frozen=True)
class ReadPairs:
    """The strata whose pairs are drawn by verdict: those with an unlabelled pair among the first ones that it read.

    verdicts: its verdicts; head: (h,) int64, how many of the first pairs of each sampling order it has read, 0 where
    pairs are not drawn by verdict; read, called: (h,) int64, the pairs of the stratum among these, and those of them
    that it calls positive.
    """

    verdicts: Mapping[Pair, Verdict]
    head: np.ndarray
    read: np.ndarray
    called: np.ndarray

    def verdicts_on(self, pairs: Sequence[Pair], stratum: np.ndarray) -> np.ndarray:
        """Return NO, YES or UNREAD of each pair, (n,) int64; stratum: (n,) of each. An abstention is no yes."""
        verdicts = np.full(len(pairs), UNREAD)
        for place, pair in enumerate(pairs):
            if self.head[stratum[place]] and pair in self.verdicts:
                verdicts[place] = YES if self.verdicts[pair] == Verdict.YES else NO
        return verdicts


def read_of(design: AuditDesign, answered: Collection[Pair], known: Collection[Pair]) -> ReadPairs:
    """Return what the design's rater has read. answered: pairs with a label; known: those that left their strata."""
    h = len(design.strata.sizes)
    head, read, called = (np.zeros(h, dtype=np.int64) for _ in range(3))
    order = orders_of(design) if design.verdicts else []
    for stratum, pairs in enumerate(order):
        unread = (place for place, pair in enumerate(pairs) if pair not in design.verdicts)
        first = pairs[: next(unread, len(pairs))]
        if all(pair in answered for pair in first):
            continue  # every pair that was read is labelled: its verdicts add nothing
        inside = [pair for pair in first if pair not in known]
        yes = sum(design.verdicts[pair] == Verdict.YES for pair in inside)
        head[stratum] = len(first)
        read[stratum] = len(inside)
        called[stratum] = yes
    return ReadPairs(design.verdicts, head, read, called)


def orders_of(design: AuditDesign) -> list[list[Pair]]:
    """Return the sampling order of each stratum."""
    pairs = list(zip(design.order.left.tolist(), design.order.right.tolist(), strict=True))
    starts = np.searchsorted(design.order.stratum, np.arange(len(design.strata.sizes) + 1))
    return [pairs[a:b] for a, b in pairwise(starts.tolist())]


def pairs_to_read(session: Session, rater: MachineRater, most: int) -> list[Pair]:
    """Return the pairs of the newest design that the rater reads next, `most` at most: the first of every stratum that
    it has not read, then the second ones.
    """
    design = read_designs(session, rater.project_id, read_project(session, rater.project_id))[-1]
    rated = verdicts_of(session, rater)
    placed = [(place, pair) for pairs in orders_of(design) for place, pair in enumerate(pairs) if pair not in rated]
    return [pair for _, pair in sorted(placed, key=lambda row: row[0])][:most]
