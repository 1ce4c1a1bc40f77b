"""The runs of a data set in figures: means over seeds, their intervals, and paired differences to ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t

from benchmarks.public.catalog import OURS, PEERS
from benchmarks.public.run import Run

AP = "average_precision"
FIGURES = {
    AP: "AP over all pairs",
    "best_f1": "best F1 over all pairs",
    "precision_at_recall_20": "precision at a recall of 0.20",
    "b_cubed_f1": "B³ F1 of the groups",
}
LEAST = 3  # seeds from which on there is an interval


@dataclass(frozen=True)
class Mean:
    """A mean over seeds with its 95 % interval by Student's t, which fewer than three seeds do not have."""

    value: float
    seeds: int
    low: float | None = None
    high: float | None = None

    def negated(self) -> "Mean":
        """Return the mean of the values with the other sign."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Mean(-self.value, self.seeds, low, high)


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of one value for each seed."""
    found = np.array(values)
    if len(found) < LEAST:
        return Mean(float(found.mean()), len(found))
    half = float(t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / len(found) ** 0.5)
    return Mean(float(found.mean()), len(found), float(found.mean()) - half, float(found.mean()) + half)


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Mean | None:
    """Return the mean of ours minus theirs over the seeds that both have, or None if they share none."""
    both = sorted(ours.keys() & theirs.keys())
    return mean_of([ours[seed] - theirs[seed] for seed in both]) if both else None


@dataclass(frozen=True)
class Summary:
    """The runs of one data set: figures by peer, labels and seed."""

    runs: Sequence[Run]

    def peers(self) -> list[str]:
        """Return the peers that have been run, in the catalogue's order."""
        run = {one["peer"] for one in self.runs}
        return [name for name in PEERS if name in run]

    def seeds_of(self, peer: str) -> set[int]:
        """Return the seeds that a peer has run with."""
        return {run["seed"] for run in self.runs if run["peer"] == peer}

    def by_machine(self) -> list["Summary"]:
        """Return the runs of each machine, whose costs can be compared."""
        return [
            Summary([run for run in self.runs if run["machine"] == machine])
            for machine in sorted({run["machine"] for run in self.runs}, reverse=True)
        ]

    def labels(self) -> list[int]:
        """Return all budgets, ascending."""
        return sorted({row["labels"] for run in self.runs for row in run["budgets"]})

    def values(self, peer: str, labels: int, figure: str) -> Mapping[int, float]:
        """Return a figure by seed."""
        return {
            run["seed"]: row[figure]
            for run in self.runs
            if run["peer"] == peer
            for row in run["budgets"]
            if row["labels"] == labels and figure in row
        }

    def mean(self, peer: str, labels: int, figure: str) -> Mean | None:
        """Return the mean over seeds, or None if there is no run; the interval of a share ends at 0 and 1."""
        found = self.values(peer, labels, figure)
        if not found:
            return None
        mean = mean_of(list(found.values()))
        if figure not in FIGURES or mean.low is None or mean.high is None:
            return mean
        return replace(mean, low=max(0.0, mean.low), high=min(1.0, mean.high))

    def difference(self, peer: str, labels: int, figure: str = AP) -> Mean | None:
        """Return the mean of ours minus the peer's over the seeds that both have, or None if they share none."""
        return paired(self.values(OURS, labels, figure), self.values(peer, labels, figure))

    def change(self, before: int, after: int) -> Mean | None:
        """Return the mean change of our average precision between two budgets, or None if no seed has both."""
        return paired(self.values(OURS, after, AP), self.values(OURS, before, AP))

    def losses(self, figure: str) -> list[tuple[str, int, Mean]]:
        """Return peer, labels and difference wherever the peer's mean, to three decimals, is higher than ours."""
        found = [
            (peer, labels, self.difference(peer, labels, figure))
            for peer in self.peers()
            if peer != OURS
            for labels in self.labels()
        ]
        return [(peer, labels, each) for peer, labels, each in found if each and round(each.value, 3) < 0]
