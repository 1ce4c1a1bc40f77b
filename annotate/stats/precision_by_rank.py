"""The precision of a ranked list from a sample of labels, drawn apart in bands of ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from db.estimate import Estimate, wilson

ENDS = (100, 250)  # last ranks of the first bands; from then on 500, and each band ends at twice the rank before
METHOD = "labels of a sample"


@dataclass(frozen=True)
class Band:
    """A part of the list: ranks first to last, and of its pairs those drawn, and by their labels."""

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
        """The drawn pairs that are labelled positive or negative."""
        return self.positives + self.negatives

    @property
    def precision(self) -> Estimate | None:
        """The share of positives among the band's pairs; nothing before there is a label.

        The interval is Wilson's (1927) at as many labels as a list without end would need to say as much: n·(N - 1) /
        (N - n) for n of N pairs. All pairs labelled leave no doubt.
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
    """First and last rank of each band of a list of so many pairs: 1–100, 101–250, 251–500, 501–1,000 and so on."""
    ends = [end for end in ENDS if end < pairs]
    end = 500
    while end < pairs:
        ends.append(end)
        end *= 2
    ends.append(pairs)
    return [(before + 1, end) for before, end in zip([0, *ends], ends, strict=False)] if pairs else []


def allocate(wanted: int, left: Sequence[int]) -> list[int]:
    """How many pairs to draw in each band: equally many, as far as there are so many left."""
    counts = [0] * len(left)
    rest, given = wanted, 0
    for place, at in enumerate(sorted(range(len(left)), key=left.__getitem__)):
        given = min(left[at], rest // (len(left) - place))
        counts[at], rest = given, rest - given
    return counts


def precision(bands: Sequence[Band]) -> Estimate | None:
    """The share of positives among all pairs of the list; nothing before each band has a label.

    The bands' shares weighted by their sizes; the interval puts the bands' own together as Zou and Donner (2008) do for
    sums of independent estimates.
    """
    found = [band.precision for band in bands]
    if not bands or any(one is None for one in found):
        return None
    whole = sum(band.size for band in bands)
    parts = [(band.size / whole, one) for band, one in zip(bands, found, strict=True) if one is not None]
    value = sum(weight * one.value for weight, one in parts)
    below = sqrt(sum((weight * (one.value - one.low)) ** 2 for weight, one in parts))
    above = sqrt(sum((weight * (one.high - one.value)) ** 2 for weight, one in parts))
    return Estimate(
        value, max(0.0, value - below), min(1.0, value + above), METHOD, sum(one.labels for _, one in parts)
    )
