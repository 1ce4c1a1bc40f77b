"""What more labels would bring, in plain sentences."""

from dataclasses import dataclass

from allpairs.annotate.features.quality.rounds import MonitorReport
from allpairs.annotate.kit.text.measures import counted, estimate
from allpairs.db.estimate import Estimate, stored_estimate

ROUNDS = 3  # over which the gain is computed
MOSTLY = 2 / 3  # of an interval's variance


@dataclass(frozen=True)
class RoundGain:
    """How average precision changed over the last rounds."""

    rounds: int
    spent: int  # labels
    old: float
    new: Estimate

    @property
    def per_hundred(self) -> float:
        """The change for every hundred labels."""
        return (self.new.value - self.old) / self.spent * 100

    @property
    def uncertain(self) -> bool:
        """Whether the change lies within the interval of the newest figure."""
        half = (self.new.high - self.new.low) / 2
        return bool(half) and abs(self.new.value - self.old) <= half


def recent_gain(report: MonitorReport) -> RoundGain | None:
    """Return the change over the last rounds; None where there is nothing to compare with."""
    rounds = report.measured[-ROUNDS - 1 :]
    if len(rounds) < 2:
        return None
    (first, before), (last, newest) = rounds[0], rounds[-1]
    spent = last.labels - first.labels
    old = estimate(before, _AP)
    new = estimate(newest, _AP)
    return RoundGain(len(rounds) - 1, spent, old.value, new) if spent and old is not None and new is not None else None


def gained(report: MonitorReport) -> str:
    """Return the average precision gained per hundred labels over the last rounds; empty where nothing compares."""
    gain = recent_gain(report)
    if gain is None:
        return ""
    chance = ""
    if gain.uncertain:
        half = (gain.new.high - gain.new.low) / 2
        chance = f" That is within the interval (±{half:.3f}), so it may be chance."
    return (
        f"Average precision {_moved(gain.per_hundred)} per hundred labels over the last {_rounds(gain.rounds)}, from "
        f"{gain.old:.3f} to {gain.new.value:.3f}.{chance}"
    )


_AP = "average_precision"


def _moved(gain: float) -> str:
    if abs(gain) < 0.0005:
        return "changed by less than 0.001"
    return f"{'rose' if gain > 0 else 'fell'} by {abs(gain):.3f}"


def _rounds(number: int) -> str:
    return "round" if number == 1 else f"{number} rounds"


def width(report: MonitorReport) -> str:
    """Return how wide the interval is, and what would halve it; empty where the figure is exact."""
    _, evaluation = report.measured[-1]
    figure = stored_estimate(evaluation.audit.get("estimates") or evaluation.estimates, _AP)
    if figure is None or figure.high <= figure.low:
        return ""
    halve = evaluation.audit.get("halve")
    more = f" About {counted(halve, 'more audit label')} would halve it." if halve else ""
    below = evaluation.audit.get("below")
    if below is not None and max(below, 1 - below) > MOSTLY:
        side = "below" if below > MOSTLY else "among"
        more = f" Most of that comes from pairs {side} the highest {evaluation.audit['top']['pairs']:,}.{more}"
    return f"The 95% interval of average precision is {figure.high - figure.low:.3f} wide.{more}"
