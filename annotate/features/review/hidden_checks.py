"""Results of hidden checks for each annotator: how often answers are right, and how often they are repeated.

An unsure answer is neither right nor wrong; it is counted separately.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine

from allpairs.db.domain import AnswerKind, CheckKind
from allpairs.db.estimate import Estimate, wilson
from allpairs.db.labels.fast_answers import FastAnswersRow, fast_answers_of
from allpairs.db.labels.hidden_checks import CheckResult, check_results
from allpairs.db.schema.engine import reading

NEWEST = 50  # runs of fast answers to show


@dataclass(frozen=True)
class CheckQuality:
    """One annotator's results; an estimate is None without answers to compute it from."""

    annotator: str
    sensitivity: Estimate | None  # share of known matches answered yes
    specificity: Estimate | None  # share of known non-matches answered no
    repeats: Estimate | None  # share of repeated pairs with the same answer
    unsure: int


def read_quality(engine: Engine, project_id: int) -> list[CheckQuality]:
    """Return the results of the project's checks for each annotator."""
    with reading(engine) as session:
        return quality(check_results(session, project_id))


def read_fast_answers(engine: Engine, project_id: int) -> list[FastAnswersRow]:
    """Return the project's newest runs of fast answers, the newest first."""
    with reading(engine) as session:
        return fast_answers_of(session, project_id, NEWEST)


def quality(answers: Sequence[CheckResult]) -> list[CheckQuality]:
    """Return the results of these answers for each annotator, by name."""
    return [_quality(name, [row for row in answers if row.annotator == name]) for name in _names(answers)]


def _names(answers: Sequence[CheckResult]) -> list[str]:
    return sorted({row.annotator for row in answers})


def _quality(annotator: str, answers: Sequence[CheckResult]) -> CheckQuality:
    decided = [row for row in answers if row.answer != AnswerKind.UNSURE]
    known = [row for row in decided if row.kind == CheckKind.GOLD]
    return CheckQuality(
        annotator,
        sensitivity=_share([row for row in known if row.expected == AnswerKind.POSITIVE]),
        specificity=_share([row for row in known if row.expected == AnswerKind.NEGATIVE]),
        repeats=_share([row for row in decided if row.kind == CheckKind.REPEAT]),
        unsure=len(answers) - len(decided),
    )


def _share(answers: Sequence[CheckResult]) -> Estimate | None:
    """Return the share of the answers that are as expected."""
    if not answers:
        return None
    hits = sum(row.answer == row.expected for row in answers)
    return Estimate(hits / len(answers), *wilson(hits, len(answers)), "wilson", len(answers))
