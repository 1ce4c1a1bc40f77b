"""The figures over all pairs in words: names, intervals, methods, and changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from allpairs.db.estimate import Estimate, stored_estimate
from allpairs.db.schema.tables import Evaluation, StoredModel

MEASURES = {"average_precision": "Average precision", "precision_at_recall_20": "Precision at 20% recall"}
AT_THRESHOLD = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
OVER_ALL = {"positives": "Positives", "calibration_error": "Calibration error"}
STATED = {
    "stated_accuracy": "Accuracy",
    "stated_f1": "F1",
    "question_map": "Mean AP by question (c-MAP)",
    "question_f1": "F1 by question",
    "pair_f1": "F1 by answer",
}
TITLES = (
    MEASURES
    | {name: f"{title} at the threshold" for name, title in AT_THRESHOLD.items()}
    | OVER_ALL
    | {name: f"{title}, known pairs" for name, title in STATED.items()}
)
METHODS = {
    "exact": "exact",
    "near-random": "false positives estimated from the nearest pairs and a random sample of the others",
    "stratified": "false positives estimated from a sample of each score stratum",
}


@dataclass(frozen=True)
class MeasureChange:
    """The difference of a measure from an earlier round; `low`, `high`: its interval."""

    value: float
    since: int  # the earlier round
    sampled: bool  # whether either of the two is estimated from a sample
    low: float | None = None
    high: float | None = None

    @property
    def clear(self) -> bool:
        """Whether the difference cannot be chance."""
        if self.low is None or self.high is None:
            return not self.sampled and self.value != 0
        return self.low > 0 or self.high < 0


def estimate(evaluation: Evaluation, measure: str) -> Estimate | None:
    """Return a measure of an evaluation; None where it could not be measured."""
    return stored_estimate(evaluation.estimates, measure)


def in_figures(measure: str, value: float) -> str:
    """Return the value as the pages show it: whole numbers of pairs, three decimals for everything else."""
    return f"{value:,.0f}" if measure == "positives" else f"{value:.3f}"


def interval(measure: str, estimate: Estimate) -> str:
    """Return the 95% interval of the figure in words, or that it is exact."""
    if estimate.high <= estimate.low:
        return METHODS.get(estimate.method, estimate.method)
    return f"{in_figures(measure, estimate.low)} to {in_figures(measure, estimate.high)}"


def method_in_words(measure: str, estimate: Estimate, evaluation: Evaluation) -> str:
    """Return the estimate's interval, if it has a width, its method, and the pairs it covers."""
    between = f"95% interval {interval(measure, estimate)}, " if estimate.high > estimate.low else ""
    if evaluation.by_audit:
        words = f"{between or 'Estimated '}from {counted(estimate.labels, 'audit label')}"
        return f"{words}, over all {evaluation.pairs:,} pairs."
    words = f"{between}{METHODS.get(estimate.method, estimate.method)}"
    over = f"over all {evaluation.pairs:,} pairs of evaluation items, {counted(evaluation.positives or 0, 'positive')}."
    return f"{words[0].upper()}{words[1:]} {over}"


def change(measured: Sequence[tuple[StoredModel, Evaluation]], measure: str) -> MeasureChange | None:
    """Return the newest round's difference from the round before; None where there is nothing to compare with.

    If audit labels measure both rounds, they also give the difference, with its own interval.
    """
    if len(measured) < 2:
        return None
    (earlier, before), (_, newest) = measured[-2:]
    if newest.by_audit:
        return stored_change(newest.audit, measure)
    old = estimate(before, measure)
    new = estimate(newest, measure)
    if old is None or new is None:
        return None
    difference = round(new.value - old.value, 3) + 0.0  # -0.0 becomes 0.0
    return MeasureChange(difference, earlier.number, sampled=old.low < old.high or new.low < new.high)


def stored_change(part: Mapping[str, Any], measure: str) -> MeasureChange | None:
    """Return a measure's difference from the round before, from an audit or its part `top`; None if there is none."""
    stored = part.get("changes", {}).get(measure)
    return stored and MeasureChange(stored["value"], stored["since"], True, stored["low"], stored["high"])


def measure_change_in_words(difference: MeasureChange) -> str:
    """Return the interval of the difference, and whether it excludes no change; empty where it has no interval."""
    if difference.low is None or difference.high is None:
        return ""
    verdict = "It is larger than chance explains." if difference.clear else "It may be chance."
    return f"Change: 95% interval {signed(difference.low)} to {signed(difference.high)}. {verdict}"


def signed(value: float) -> str:
    """Return the number with its sign and three decimals."""
    return f"{value:+.3f}".replace("-", "−")


def score_in_words(score: float, p: float | None) -> str:
    """Return a pair's score and its probability; without one no model is trained, and the score is a similarity."""
    if p is None:
        return f"similarity {score:.3f}"
    near = "p < 0.001" if p < 0.0005 else "p > 0.999" if p > 0.9995 else f"p {p:.3f}"
    return f"score {score:.3f}, {near}"


def counted(number: int, word: str) -> str:
    """Return the number with the word, in the plural where needed."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
