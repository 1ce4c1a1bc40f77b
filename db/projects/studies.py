"""Rating studies: questions for people to rate, and the current ratings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Select, func, insert, select
from sqlalchemy.orm import Session

from allpairs.db.errors import InputError
from allpairs.db.schema.tables import Rating, Study, StudyUnit

CRITERIA = ("naturalness", "coverage", "correctness", "answerability")
Scores = Mapping[str, bool]  # by criterion


class Unit(NamedTuple):
    """A question, its passage, and the models that wrote it."""

    passage: str
    question: str
    models: list[str]


@dataclass(frozen=True)
class Rated:
    """A current rating, and the unit that it rates."""

    unit_id: int
    position: int
    rater: str
    scores: Scores
    time: datetime


def add_study(session: Session, study: Study, units: Sequence[Unit]) -> int:
    """Store the study with its units in this order; return its id."""
    session.add(study)
    session.flush()
    named = {"project_id": study.project_id, "study_id": study.id}
    session.execute(
        insert(StudyUnit), [{**named, "position": position, **unit._asdict()} for position, unit in enumerate(units)]
    )
    return study.id


def studies_of(session: Session, project_id: int) -> Sequence[Study]:
    """Return the project's studies, the newest first."""
    return session.scalars(select(Study).where(Study.project_id == project_id).order_by(Study.id.desc())).all()


def has_studies(session: Session, project_id: int) -> bool:
    """Return whether the project has a rating study."""
    return session.scalar(select(Study.id).where(Study.project_id == project_id).limit(1)) is not None


def study_of(session: Session, project_id: int, study_id: int) -> Study:
    """Return the study. Raises InputError if the project has no such study."""
    study = session.get(Study, study_id)
    if study is None or study.project_id != project_id:
        raise InputError(f"this project has no study number {study_id}: open one on the page “Pipelines”")
    return study


def units_of(session: Session, study_id: int) -> Sequence[StudyUnit]:
    """Return the study's units in their order."""
    return session.scalars(select(StudyUnit).where(StudyUnit.study_id == study_id).order_by(StudyUnit.position)).all()


def unit_at(session: Session, study_id: int, position: int) -> StudyUnit | None:
    """Return the unit at this place; None if the study has fewer."""
    return session.scalar(select(StudyUnit).where(StudyUnit.study_id == study_id, StudyUnit.position == position))


def count_units(session: Session, study_id: int) -> int:
    """Return the number of units of the study."""
    return session.scalar(select(func.count(StudyUnit.id)).where(StudyUnit.study_id == study_id)) or 0


def count_rated(session: Session, study_id: int) -> dict[str, int]:
    """Return how many units each rater of the study has rated, sorted by name."""
    counted = select(Rating.rater, func.count(Rating.unit_id.distinct())).join(StudyUnit)
    rows = session.execute(counted.where(StudyUnit.study_id == study_id).group_by(Rating.rater).order_by(Rating.rater))
    return dict(rows.tuples().all())


def first_unrated(session: Session, study_id: int, rater: str) -> int | None:
    """Return the place of the first unit that this rater has not rated; None if they have rated all."""
    own_ratings = select(Rating.id).where(Rating.unit_id == StudyUnit.id, Rating.rater == rater)
    first = select(func.min(StudyUnit.position)).where(StudyUnit.study_id == study_id, ~own_ratings.exists())
    return session.scalar(first)


def ratings_of(session: Session, study_id: int, rater: str | None = None, unit_id: int | None = None) -> list[Rated]:
    """Return the study's current ratings, unit by unit: of all raters or one, of all units or one."""
    rows = session.execute(_counting(study_id, rater, unit_id))
    return [
        Rated(unit.unit_id, position, unit.rater, {name: getattr(unit, name) for name in CRITERIA}, unit.created_at)
        for unit, position in rows
    ]


def _counting(study_id: int, rater: str | None, unit_id: int | None) -> Select[Rating, int]:
    last = select(func.max(Rating.id)).join(StudyUnit).where(StudyUnit.study_id == study_id)
    if rater is not None:
        last = last.where(Rating.rater == rater)
    if unit_id is not None:
        last = last.where(Rating.unit_id == unit_id)
    counting = Rating.id.in_(last.group_by(Rating.unit_id, Rating.rater))
    return select(Rating, StudyUnit.position).join(StudyUnit).where(counting).order_by(StudyUnit.position, Rating.rater)


def add_ratings(session: Session, project_id: int, rater: str, ratings: Iterable[tuple[int, Scores]]) -> None:
    """Store the rater's ratings of these units, which count from now on."""
    session.add_all(
        Rating(project_id=project_id, unit_id=unit_id, rater=rater, **scores) for unit_id, scores in ratings
    )
