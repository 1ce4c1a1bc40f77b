"""What the pages show of a project's rounds, as data frames and sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import pandas as pd
from sqlalchemy import Engine

from db.domain import AnswerKind, Estimate
from db.engine import reading
from db.evaluations import evaluation_items, gold_counts, matchers_with_evaluations
from db.models import Evaluation, Matcher, Round
from db.rounds import answer_counts, rounds_of

MEASURES = {"average_precision": "Average precision", "precision_at_recall_20": "Precision at 20% recall"}
METHODS = {
    "exact": "exact",
    "near-random": "false positives estimated from the nearest pairs and a random sample of the others",
    "stratified": "false positives estimated from a sample of each score stratum",
}
BIASED = (
    "The labels of the batches cannot take their place: the model chose those pairs because they are hard or similar, "
    "so they are a biased sample, and a figure computed from them would say nothing about all pairs."
)


@dataclass(frozen=True)
class Report:
    """The rows behind the monitoring of one project, as of one moment."""

    matchers: list[tuple[Matcher, Evaluation | None]]
    rounds: list[Round]
    answers: dict[int, dict[AnswerKind, int]]
    gold: int  # known positives
    gold_measurable: int  # those that are pairs of evaluation items
    evaluation_items: int

    @property
    def measured(self) -> list[tuple[Matcher, Evaluation]]:
        """The matchers that have an estimate, the pre-trained encoder first."""
        return [(m, e) for m, e in self.matchers if e is not None and estimate(e, "average_precision") is not None]


def read_report(engine: Engine, project_id: int) -> Report:
    """Everything that monitoring shows of a project, read in one transaction."""
    with reading(engine) as session:
        gold, measurable = gold_counts(session, project_id)
        return Report(
            matchers=matchers_with_evaluations(session, project_id),
            rounds=rounds_of(session, project_id),
            answers=answer_counts(session, project_id),
            gold=gold,
            gold_measurable=measurable,
            evaluation_items=evaluation_items(session, project_id),
        )


def estimate(evaluation: Evaluation, measure: str) -> Estimate | None:
    """A measure of an evaluation, or nothing where it could not be measured."""
    stored = evaluation.estimates.get(measure)
    if not stored or stored["value"] is None or not isfinite(stored["value"]):
        return None
    return Estimate(stored["value"], stored["low"], stored["high"], stored["method"])


def estimates_table(report: Report) -> pd.DataFrame:
    """One row for each round and measure: labels spent, value, interval, method."""
    rows = [
        {"round": matcher.number, "labels": matcher.labels, "positives": matcher.positives, "measure": title}
        | found.as_dict()
        | {"pairs": evaluation.pairs, "evaluation_positives": evaluation.positives}
        for matcher, evaluation in report.measured
        for measure, title in MEASURES.items()
        if (found := estimate(evaluation, measure)) is not None
    ]
    columns = ["round", "labels", "positives", "measure", "value", "low", "high", "method", "pairs"]
    return pd.DataFrame(rows, columns=[*columns, "evaluation_positives"])


def batches_table(report: Report) -> pd.DataFrame:
    """One row for each batch: how it was chosen, its size, what people answered, the share of positives."""
    return pd.DataFrame(
        [_batch_row(batch, report.answers.get(batch.id, {})) for batch in report.rounds],
        columns=["round", "strategy", "size", "answered", "positives", "negatives", "unsure", "share_positive"],
    )


def _batch_row(batch: Round, answers: dict[AnswerKind, int]) -> dict[str, object]:
    positives, negatives = answers.get(AnswerKind.POSITIVE, 0), answers.get(AnswerKind.NEGATIVE, 0)
    decided = positives + negatives
    return {
        "round": batch.number,
        "strategy": batch.strategy,
        "size": batch.size,
        "answered": sum(answers.values()),
        "positives": positives,
        "negatives": negatives,
        "unsure": answers.get(AnswerKind.UNSURE, 0),
        "share_positive": positives / decided if decided else None,
    }


def curves_table(report: Report, rounds: Sequence[int]) -> pd.DataFrame:
    """The precision-recall curves of some rounds, one row for each threshold, from the strictest down."""
    frames = [
        pd.DataFrame({"round": matcher.number, **{name: evaluation.curve[name] for name in _CURVE}})
        for matcher, evaluation in report.measured
        if matcher.number in rounds
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["round", *_CURVE])


_CURVE = ("recall", "precision", "score")


def histogram_table(evaluation: Evaluation) -> pd.DataFrame:
    """The number of negatives and positives among all evaluation pairs in each interval of the score."""
    edges = evaluation.histogram.get("edges", [])
    return pd.DataFrame(
        {
            "score_from": edges[:-1],
            "score_to": edges[1:],
            "negatives": evaluation.histogram.get("negatives", []),
            "positives": evaluation.histogram.get("positives", []),
        }
    )


def threshold(matcher: Matcher) -> float | None:
    """The score at which the matcher's probability is one half, or nothing where it has none."""
    if not matcher.w or matcher.b is None:
        return None
    return -matcher.b / matcher.w


def method_in_words(found: Estimate, evaluation: Evaluation) -> str:
    """The interval of the estimate where it has a width, how it was made, and over what."""
    interval = f"95% interval {found.low:.3f} to {found.high:.3f}, " if found.high > found.low else ""
    words = f"{interval}{METHODS.get(found.method, found.method)}"
    over = f"over all {evaluation.pairs:,} pairs of evaluation items, {evaluation.positives:,} positives."
    return f"{words[0].upper()}{words[1:]} {over}"


def why_unmeasured(report: Report) -> str:
    """What is missing before the project can be measured; empty when nothing is."""
    if not report.evaluation_items:
        return "No items are kept for measuring: the share of evaluation items was 0 when the project was made."
    if not report.gold:
        return "No known pairs came with the texts, so nothing says which pairs of evaluation items are positives."
    if not report.gold_measurable:
        return f"None of the {report.gold:,} known positives is a pair of two evaluation items."
    return ""


def card(matcher: Matcher) -> list[tuple[str, str]]:
    """What there is to know about a matcher: name and value of each property."""
    details = matcher.details
    rows = [
        ("Round", str(matcher.number)),
        ("Base encoder", matcher.encoder),
        ("Labels", f"{matcher.labels:,}"),
        ("Positives", f"{matcher.positives:,}"),
        ("w", _number(matcher.w)),
        ("b", _number(matcher.b)),
        ("Threshold (score where p = ½)", _number(threshold(matcher))),
        ("Cutoff (last answer seen)", f"{matcher.cutoff:,}"),
        ("Seed", str(details.get("seed", "–"))),
        ("Loss", _number(details.get("loss"))),
        ("Made", f"{matcher.created_at:%Y-%m-%d %H:%M} UTC"),
    ]
    return rows + [(f"Seconds: {stage}", f"{spent:.1f}") for stage, spent in details.get("seconds", {}).items()]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def round_name(number: int) -> str:
    """A matcher's name for people."""
    return f"Round {number}" if number else "Before training"
