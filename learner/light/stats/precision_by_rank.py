"""The precision of a ranked list, estimated from a sample of labels stratified by bands of ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from allpairs.db.estimate import Estimate, wilson

ENDS = (100, 250)  # last ranks of the first bands; the next ends at 500, each further one at twice the rank before
METHOD = "labels of a sample"


@dataclass(frozen=True)
class Band:
    """A band of the list: its first and last rank, and the pairs drawn from it, by their labels."""

    first: int
    last: int
    drawn: int = 0
    positives: int = 0
    negatives: int = 0
    unsure: int = 0

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    @property
    def decided(self) -> int:
        """The drawn pairs labelled positive or negative."""
        return self.positives + self.negatives

    @property
    def precision(self) -> Estimate | None:
        """The share of positives among the band's pairs; None before there is a label.

        The interval is Wilson's (1927) with a finite population correction: the effective number of labels is
        n·(N - 1) / (N - n) for n of N pairs. It has no width once all pairs are labelled.
        """
        n = self.decided
        if not n:
            return None
        share = self.positives / n
        if n == self.size:
            return Estimate(share, share, share, METHOD, n)
        worth = n * (self.size - 1) / (self.size - n)
        low, high = wilson(share * worth, worth)
        return Estimate(share, low, high, METHOD, n)


def ranks(pairs: int) -> list[tuple[int, int]]:
    """Return the first and last rank of each band of such a list: 1–100, 101–250, 251–500, 501–1,000 and so on."""
    ends = [end for end in ENDS if end < pairs]
    end = 500
    while end < pairs:
        ends.append(end)
        end *= 2
    ends.append(pairs)
    return [(before + 1, end) for before, end in zip([0, *ends], ends, strict=False)] if pairs else []


def allocate_labels(total: int, left: Sequence[int]) -> list[int]:
    """Return how many pairs to draw from each band: the same number, as far as pairs are left."""
    counts = [0] * len(left)
    rest = total
    for place, band in enumerate(sorted(range(len(left)), key=left.__getitem__)):
        count = min(left[band], rest // (len(left) - place))
        counts[band] = count
        rest = rest - count
    return counts


def precision(bands: Sequence[Band]) -> Estimate | None:
    """Return the share of positives among all pairs of the list; None before each band has a label.

    It is the mean of the bands' shares, weighted by size. The interval combines the bands' own by the method of Zou
    and Donner (2008) for sums of independent estimates.
    """
    shares = [band.precision for band in bands]
    if not bands or any(one is None for one in shares):
        return None
    whole = sum(band.size for band in bands)
    parts = [(band.size / whole, one) for band, one in zip(bands, shares, strict=True) if one is not None]
    value = sum(weight * one.value for weight, one in parts)
    below = sqrt(sum((weight * (one.value - one.low)) ** 2 for weight, one in parts))
    above = sqrt(sum((weight * (one.high - one.value)) ** 2 for weight, one in parts))
    return Estimate(
        value, max(0.0, value - below), min(1.0, value + above), METHOD, sum(one.labels for _, one in parts)
    )
