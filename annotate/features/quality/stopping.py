"""Whether labelling may stop, and what serves a measured project better than more labels."""

from dataclasses import dataclass
from enum import StrEnum
from math import floor

from allpairs.annotate.features.quality.more_labels import recent_gain
from allpairs.annotate.features.quality.rounds import MonitorReport
from allpairs.annotate.kit.text.measures import estimate
from allpairs.db.estimate import is_reached
from allpairs.db.schema.tables import Evaluation

LITTLE = 0.005  # average precision per hundred labels: less is hardly worth the time


@dataclass(frozen=True)
class StopVerdict:
    """Whether the target precision is reached, as far as repeated looks cannot mislead; None: it cannot be said."""

    reached: bool | None
    sentence: str


class AdvicePlace(StrEnum):
    """Where advice is followed: the tab Audit of the page Monitor, or a page."""

    AUDIT = "audit"
    EXPLORE = "explore"


@dataclass(frozen=True)
class Advice:
    """What serves better than labelling on, and why."""

    place: AdvicePlace
    title: str
    reason: str


def may_stop(report: MonitorReport) -> StopVerdict:
    """Return whether the newest round has the target precision."""
    _, evaluation = report.measured[-1]
    if evaluation.by_audit:
        return _by_audit(evaluation)
    figure = estimate(evaluation, "precision")
    target = report.settings.target_precision
    if figure is None:
        return StopVerdict(
            None, "The model is not trained yet, so there is no threshold at which to measure precision."
        )
    if figure.method != "exact":
        return StopVerdict(
            None, "These figures come from a sample of pairs, which cannot tell whether a target is met."
        )
    reached = is_reached(evaluation.estimates, None, target)
    outcome = f"the target of {target:g} is {'reached' if reached else 'not reached'}"
    return StopVerdict(reached, f"Precision at the threshold is {figure.value:.3f} over all pairs: {outcome}.")


def _by_audit(evaluation: Evaluation) -> StopVerdict:
    reached = evaluation.audit["reached"]
    if not reached:
        return StopVerdict(None, "The audit labels do not tell the precision at the threshold yet.")
    low = floor(reached["precision_low"] * 100) / 100  # a lower end is never rounded up
    certain = "is at least" if reached["reached"] else "is not yet certain to be at least"
    return StopVerdict(
        bool(reached["reached"]),
        f"Precision at the threshold {certain} {reached['target']:g}. Its lower bound, which holds however often you "
        f"look, is {low:.2f}.",
    )


def advice(report: MonitorReport) -> Advice | None:
    """Return what the figures advise instead of labelling on; None if labels still improve the model."""
    matcher, evaluation = report.measured[-1]
    gain = recent_gain(report)
    if gain is None or not matcher.number:
        return None
    if gain.uncertain and evaluation.audit.get("halve"):
        return Advice(AdvicePlace.AUDIT, "Draw audit pairs", "Audit labels make the interval narrower.")
    if gain.rounds > 1 and gain.per_hundred < LITTLE:
        reason = "More labels bring little. See “Mistakes” on the page “Explore”, or try another strategy in Settings."
        return Advice(AdvicePlace.EXPLORE, "Look at the mistakes", reason)
    return None
