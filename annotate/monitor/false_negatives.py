"""Manual correction as the app sees it: what was drawn, how far it is labelled, and what the precision becomes.

Source: paper 004 (Mussmann, Jia and Liang 2020), section 3.3 and appendix A.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotate.monitor.rounds import round_name
from db.labels.tasks import unanswered
from db.projects.corrections import audit_batch_of_design, correction_designs
from db.projects.evaluations import matchers_with_evaluations
from db.schema.engine import reading
from db.schema.tables import Design

RECALL, DRAW = 0.2, 50  # of the paper: pairs of each kind, at the recall at which it gives precision
FORMS = {"uncorrected": "As measured", "consistent": "Corrected", "paper": "Corrected, paper's form"}
STRATA = ("near", "other")  # the strata of the design in words
CERTAIN = 0.05  # a p below it is called a difference


@dataclass(frozen=True)
class Correction:
    """One matcher's putative false positives at one recall: how many were drawn and labelled, and what came of it."""

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
    """The project's corrections, the newest first; of several of one round and recall the newest."""
    with reading(engine) as session:
        found = [_correction(session, design) for design in correction_designs(session, project_id)]
    newest = {(one.round, one.recall): one for one in found}
    return sorted(newest.values(), key=found.index, reverse=True)


def _correction(session: Session, design: Design) -> Correction:
    audit_batch, details = audit_batch_of_design(session, design), design.details
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
    """The rounds that known pairs measure, the newest first: those whose precision can be corrected."""
    with reading(engine) as session:
        found = matchers_with_evaluations(session, project_id)
    return [matcher.number for matcher, evaluation in reversed(found) if evaluation and evaluation.positives]


def precisions_table(result: Mapping[str, Any]) -> pd.DataFrame:
    """One row for each form of the precision: value, ends of its 95 % interval, labels it rests on."""
    return pd.DataFrame(
        [{"precision": title, **{name: result[form][name] for name in _COLUMNS}} for form, title in FORMS.items()]
    )


_COLUMNS = ("value", "low", "high", "labels")


def strata_table(found: Correction, result: Mapping[str, Any]) -> pd.DataFrame:
    """One row for each stratum: putative false positives, those labelled, and those of them that are real."""
    columns = zip(STRATA, found.false, result["sampled"], result["false"], strict=True)
    return pd.DataFrame(columns, columns=["pairs", "putative_false_positives", "labelled", "real"])


def in_words(found: Correction, result: Mapping[str, Any]) -> str:
    """What was checked and what the precision becomes, in two sentences."""
    real, labelled, value = sum(result["false"]), result["labels"], result["consistent"]
    return (
        f"{found.name}, scores from {found.threshold:.3f} up: {real:,} of {labelled:,} labelled pairs are real false "
        f"positives, out of {sum(found.false):,} putative ones beside {found.true:,} true positives. The precision is "
        f"{value['value']:.3f} (95% interval {value['low']:.3f} to {value['high']:.3f}) in place of "
        f"{result['uncorrected']['value']:.3f}."
    )


def comparison_in_words(found: Correction, result: Mapping[str, Any]) -> str:
    """How the round compares with the one checked before at the same recall; empty where there is none."""
    comparison = result.get("comparison")
    if comparison is None:
        return ""
    (rate, other), p = comparison["rates"], comparison["p"]
    told = "is more than chance explains" if p < CERTAIN else "may be chance"
    return (
        f"Real false positives among the labelled near pairs: {rate:.0%} for {_model(found.round)}, {other:.0%} for "
        f"{_model(comparison['with_round'])}. The difference {told} (Mann–Whitney test, p\u00a0=\u00a0{p:.2g})."
    )


def _model(number: int) -> str:
    return f"round {number}" if number else "the pre-trained encoder"
