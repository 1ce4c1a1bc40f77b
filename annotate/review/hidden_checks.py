"""What hidden checks say of each annotator: how often they are right, and say the same twice.

An unsure answer is neither right nor wrong; it is counted apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine

from db.domain import AnswerKind, CheckKind
from db.estimate import Estimate, wilson
from db.labels.fast_answers import Told, fast_answers_of
from db.labels.hidden_checks import Checked, check_results
from db.schema.engine import reading

NEWEST = 50  # rushes that are shown


@dataclass(frozen=True)
class Quality:
    """One annotator's answers to checks; an estimate is missing where there are none that it could rest on."""

    annotator: str
    sensitivity: Estimate | None  # of known matches, the share that they call one
    specificity: Estimate | None  # of known others, the share that they call none
    repeats: Estimate | None  # of pairs shown twice, the share with the same answer
    unsure: int


def read_quality(engine: Engine, project_id: int) -> list[Quality]:
    """What the project's checks say of each annotator."""
    with reading(engine) as session:
        return quality(check_results(session, project_id))


def read_fast_answers(engine: Engine, project_id: int) -> list[Told]:
    """The project's newest rushes, the newest first."""
    with reading(engine) as session:
        return fast_answers_of(session, project_id, NEWEST)


def quality(answers: Sequence[Checked]) -> list[Quality]:
    """What these answers say of each annotator, by name."""
    return [_quality(who, [one for one in answers if one.annotator == who]) for who in _names(answers)]


def _names(answers: Sequence[Checked]) -> list[str]:
    return sorted({one.annotator for one in answers})


def _quality(annotator: str, answers: Sequence[Checked]) -> Quality:
    decided = [one for one in answers if one.answer != AnswerKind.UNSURE]
    known = [one for one in decided if one.kind == CheckKind.GOLD]
    return Quality(
        annotator,
        sensitivity=_share([one for one in known if one.expected == AnswerKind.POSITIVE]),
        specificity=_share([one for one in known if one.expected == AnswerKind.NEGATIVE]),
        repeats=_share([one for one in decided if one.kind == CheckKind.REPEAT]),
        unsure=len(answers) - len(decided),
    )


def _share(answers: Sequence[Checked]) -> Estimate | None:
    """The share of the answers that are as expected."""
    if not answers:
        return None
    hits = sum(one.answer == one.expected for one in answers)
    return Estimate(hits / len(answers), *wilson(hits, len(answers)), "wilson", len(answers))
