"""Manual correction as the app shows it: the sample, its labels so far, and the corrected precision.

Source: Mussmann, Jia and Liang (2020), section 3.3 and appendix A.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.quality.rounds import round_name
from allpairs.db.labels.tasks import unanswered
from allpairs.db.projects.corrections import audit_batch_of_design, correction_designs
from allpairs.db.projects.evaluations import matchers_with_evaluations
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Design

RECALL = 0.2  # the recall at which the paper reports precision
DRAW = 50  # pairs of each kind, as many as the paper samples
FORMS = {"uncorrected": "As measured", "consistent": "Corrected", "paper": "Corrected, paper's form"}
STRATA = ("near", "other")  # names of the design's strata
CERTAIN = 0.05  # significance level


@dataclass(frozen=True)
class Correction:
    """One matcher's putative false positives at one recall: how many were sampled and labelled, and the result."""

    round: int
    recall: float
    threshold: float
    true: int
    false: list[int]  # putative false positives in each stratum
    drawn: int
    left: int  # drawn pairs that nobody has labelled
    result: Mapping[str, Any] | None

    @property
    def name(self) -> str:
        return f"{round_name(self.round)} at recall {self.recall:.2f}"


def read_corrections(engine: Engine, project_id: int) -> list[Correction]:
    """Return the project's corrections, newest first; for each round and recall only the newest."""
    with reading(engine) as session:
        corrections = [_correction(session, design) for design in correction_designs(session, project_id)]
    newest = {(correction.round, correction.recall): correction for correction in corrections}
    return sorted(newest.values(), key=corrections.index, reverse=True)


def _correction(session: Session, design: Design) -> Correction:
    audit_batch = audit_batch_of_design(session, design)
    details = design.details
    return Correction(
        round=details["round"],
        recall=details["recall"],
        threshold=details["threshold"],
        true=details["true"],
        false=details["false"],
        drawn=audit_batch.size if audit_batch else 0,
        left=unanswered(session, audit_batch) if audit_batch else 0,
        result=details.get("result"),
    )


def correctable_rounds(engine: Engine, project_id: int) -> list[int]:
    """Return the rounds that known pairs measure, newest first: their precision can be corrected."""
    with reading(engine) as session:
        matchers = matchers_with_evaluations(session, project_id)
    return [matcher.number for matcher, evaluation in reversed(matchers) if evaluation and evaluation.positives]


def precisions_table(result: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row for each form of the precision: value, 95% interval, number of labels."""
    return pd.DataFrame(
        [{"precision": title, **{name: result[form][name] for name in _COLUMNS}} for form, title in FORMS.items()]
    )


_COLUMNS = ("value", "low", "high", "labels")


def correction_strata(correction: Correction, result: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row for each stratum: putative false positives, those labelled, and the real ones among them."""
    columns = zip(STRATA, correction.false, result["sampled"], result["false"], strict=True)
    return pd.DataFrame(columns, columns=["pairs", "putative_false_positives", "labelled", "real"])


def correction_in_words(correction: Correction, result: Mapping[str, Any]) -> str:
    """Return two sentences: what was checked, and the corrected precision."""
    real = sum(result["false"])
    labelled = result["labels"]
    value = result["consistent"]
    return (
        f"{correction.name}, scores of {correction.threshold:.3f} and above: there are {correction.true:,} true "
        f"positives and {sum(correction.false):,} putative false positives. Of {labelled:,} labelled ones, {real:,} "
        f"are real. The corrected precision is {value['value']:.3f} (95% interval {value['low']:.3f} to "
        f"{value['high']:.3f}) instead of {result['uncorrected']['value']:.3f}."
    )


def comparison_in_words(correction: Correction, result: Mapping[str, Any]) -> str:
    """Return how the round compares with the one checked before at the same recall; empty where there is none."""
    comparison = result.get("comparison")
    if comparison is None:
        return ""
    rate, other_rate = comparison["rates"]
    p = comparison["p"]
    verdict = "is larger than chance explains" if p < CERTAIN else "may be chance"
    return (
        f"Real false positives among the labelled near pairs: {rate:.0%} for {_model(correction.round)}, "
        f"{other_rate:.0%} for {_model(comparison['with_round'])}. The difference {verdict} "
        f"(Mann–Whitney test, p\u00a0=\u00a0{p:.2g})."
    )


def _model(number: int) -> str:
    return f"round {number}" if number else "the pre-trained encoder"
