"""A project's rounds as data frames for the pages."""

from collections.abc import Sequence

import pandas as pd

from allpairs.annotate.features.quality.rounds import MonitorReport
from allpairs.annotate.kit.text.measures import TITLES, estimate
from allpairs.db.schema.tables import Evaluation, StoredModel


def estimates_table(report: MonitorReport) -> pd.DataFrame:
    """Return one row for each round and measure: labels spent, value, interval, method, and sample size."""
    rows = [
        {
            "round": matcher.number,
            "labels": matcher.labels,
            "positives": matcher.positives,
            "measure": title,
            "value": figure.value,
            "low": figure.low,
            "high": figure.high,
            "method": figure.method,
            "measured_on": figure.labels,
            "pairs": evaluation.pairs,
            "evaluation_positives": evaluation.positives,
        }
        for matcher, evaluation in report.measured
        for measure, title in TITLES.items()
        if (figure := estimate(evaluation, measure)) is not None
    ]
    columns = ["round", "labels", "positives", "measure", "value", "low", "high", "method", "measured_on", "pairs"]
    return pd.DataFrame(rows, columns=[*columns, "evaluation_positives"])


def batches_table(report: MonitorReport) -> pd.DataFrame:
    """Return one row for each batch: strategy, size, answers, and the share of positives."""
    return pd.DataFrame(
        report.batches,
        columns=["round", "strategy", "size", "answered", "positives", "negatives", "unsure", "share_positive"],
    )


def curves_table(report: MonitorReport, rounds: Sequence[int]) -> pd.DataFrame:
    """Return the precision-recall curves of the given rounds, one row for each threshold, strictest first.

    `low` and `high` are the precision's 95% band, empty where it is exact.
    """
    frames = [_curve(matcher, evaluation) for matcher, evaluation in report.measured if matcher.number in rounds]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["round", *_CURVE])


_CURVE = ("recall", "precision", "low", "high", "score")


def _curve(matcher: StoredModel, evaluation: Evaluation) -> pd.DataFrame:
    points = len(evaluation.curve["recall"])
    columns = {name: evaluation.curve.get(name) or [float("nan")] * points for name in _CURVE}
    return pd.DataFrame({"round": matcher.number, **columns})


def histogram_table(evaluation: Evaluation) -> pd.DataFrame:
    """Return the evaluation pairs in each bin of the score: negatives and positives, or `pairs` without gold."""
    edges = evaluation.histogram.get("edges", [])
    counts = {name: evaluation.histogram[name] for name in _COUNTED if name in evaluation.histogram}
    return pd.DataFrame({"score_from": edges[:-1], "score_to": edges[1:], **counts})


_COUNTED = ("pairs", "negatives", "positives")


def audit_strata(evaluation: Evaluation) -> pd.DataFrame:
    """Return one row for each stratum of the audit, highest first: size, labels, and weight of each label.

    `share` is the estimated share of positives with its 95% interval; `top`: whether it belongs to the highest pairs.
    """
    rows = [
        {
            "stratum": stratum["name"],
            "score_from": stratum["low"],
            "score_to": stratum["high"],
            "size": stratum["size"],
            "sampled": stratum["sampled"],
            "positives": stratum["positives"],
            "weight": stratum["size"] / stratum["sampled"] if stratum["sampled"] else None,
            "share": stratum["rate"],
            "share_low": stratum["rate_low"],
            "share_high": stratum["rate_high"],
            "top": not stratum["far"],
        }
        for stratum in evaluation.audit.get("strata", [])
    ]
    numbers = ("score_from", "score_to", "weight", "share", "share_low", "share_high")  # empty where not known
    return pd.DataFrame(rows, columns=_STRATUM).astype(dict.fromkeys(numbers, float))


_STRATUM = [
    "stratum",
    "score_from",
    "score_to",
    "size",
    "sampled",
    "positives",
    "weight",
    "share",
    "share_low",
    "share_high",
    "top",
]
