"""What more labels would bring, in plain sentences."""

from collections.abc import Iterator
from math import floor

import pandas as pd

from allpairs.annotate.monitor.rounds import Report, batches_table
from allpairs.annotate.text.measures import counted, estimate, stored_estimate
from allpairs.db.estimate import Estimate
from allpairs.db.schema.tables import Evaluation

ROUNDS = 3  # over which the gain is computed
MOSTLY = 2 / 3  # of an interval's variance


def advice(report: Report) -> list[str]:
    """Return sentences on the recent gain, what would narrow the interval, and whether the target is reached."""
    return [*_gain(report), *_width(report), *_share(batches_table(report)), *_target(report)]


def _gain(report: Report) -> Iterator[str]:
    """Yield the average precision gained per hundred labels over the last rounds."""
    rounds = report.measured[-ROUNDS - 1 :]
    if len(rounds) < 2:
        return
    (first, before), (last, newest) = rounds[0], rounds[-1]
    spent, old, new = last.labels - first.labels, estimate(before, _AP), estimate(newest, _AP)
    if not spent or old is None or new is None:
        return
    gained = new.value - old.value
    yield (
        f"Average precision {_moved(gained / spent * 100)} per hundred labels over the last "
        f"{_rounds(len(rounds) - 1)}, from {old.value:.3f} to {new.value:.3f}.{_uncertain(gained, new)}"
    )


_AP = "average_precision"


def _moved(gain: float) -> str:
    if abs(gain) < 0.0005:
        return "changed by less than 0.001"
    return f"{'rose' if gain > 0 else 'fell'} by {abs(gain):.3f}"


def _rounds(number: int) -> str:
    return "round" if number == 1 else f"{number} rounds"


def _uncertain(gained: float, new: Estimate) -> str:
    half = (new.high - new.low) / 2
    return f" That is within the interval (±{half:.3f}), so it may be chance." if abs(gained) <= half and half else ""


def _width(report: Report) -> Iterator[str]:
    """Yield how wide the interval is, and what would halve it."""
    if not report.measured:
        return
    _, evaluation = report.measured[-1]
    found = stored_estimate(evaluation.audit.get("estimates") or evaluation.estimates, _AP)
    if found is None or found.high <= found.low:
        return
    halve = evaluation.audit.get("halve")
    more = f" About {counted(halve, 'more audit label')} would halve it." if halve else ""
    below = evaluation.audit.get("below")
    if below is not None and max(below, 1 - below) > MOSTLY:
        where = "below" if below > MOSTLY else "among"
        more = f" Most of that comes from pairs {where} the highest {evaluation.audit['top']['pairs']:,}.{more}"
    yield f"The 95% interval of average precision is {found.high - found.low:.3f} wide.{more}"


def _share(batches: pd.DataFrame) -> Iterator[str]:
    """Yield the share of positives in the last answered batch, compared with the one before."""
    answered = batches.dropna(subset=["share_positive"])
    if answered.empty:
        return
    last = answered.iloc[-1]
    before = f"; in the batch before, {answered.iloc[-2].share_positive:.0%}" if len(answered) > 1 else ""
    yield f"In batch {last['round']}, {last.share_positive:.0%} of the decided pairs were positives{before}."


def _target(report: Report) -> Iterator[str]:
    """Yield whether the target precision is reached, only where repeated looks cannot mislead."""
    if not report.measured:
        return
    _, evaluation = report.measured[-1]
    found = estimate(evaluation, "precision")
    if evaluation.by_audit:
        yield from _shown(evaluation)
    elif found is not None and found.method == "exact":
        reached = "reached" if found.value >= report.settings.target_precision else "not reached"
        yield (
            f"Precision at the threshold is {found.value:.3f} over all pairs: the target of "
            f"{report.settings.target_precision:g} is {reached}."
        )


def _shown(evaluation: Evaluation) -> Iterator[str]:
    reached = evaluation.audit["reached"]
    if not reached:
        return
    low = floor(reached["precision_low"] * 100) / 100  # a lower end is never rounded up
    end = f"the lower end of its confidence sequence, valid however often you look, is {low:.2f}."
    if reached["reached"]:
        yield f"Reached: precision at the threshold is at least {reached['target']:g}; {end}"
    else:
        yield f"A precision of {reached['target']:g} at the threshold is not certain yet: {end}"
