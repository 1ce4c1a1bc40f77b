"""Studies: questions that people rate. Their units, and the ratings that count."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Select, func, insert, select
from sqlalchemy.orm import Session

from db.errors import InputError
from db.schema.tables import Rating, Study, StudyUnit

CRITERIA = ("naturalness", "coverage", "correctness", "answerability")
Scores = Mapping[str, bool]  # by criterion


class Unit(NamedTuple):
    """A question, its passage, and the models that wrote it."""

    passage: str
    question: str
    models: list[str]


@dataclass(frozen=True)
class Rated:
    """A rating that counts, and the unit that it is of."""

    unit_id: int
    position: int
    rater: str
    scores: Scores
    at: datetime


def add_study(session: Session, study: Study, units: Sequence[Unit]) -> int:
    """The id of the study, which is stored with its units in this order."""
    session.add(study)
    session.flush()
    named = {"project_id": study.project_id, "study_id": study.id}
    session.execute(insert(StudyUnit), [{**named, "position": at, **unit._asdict()} for at, unit in enumerate(units)])
    return study.id


def studies_of(session: Session, project_id: int) -> Sequence[Study]:
    """The project's studies, the newest first."""
    return session.scalars(select(Study).where(Study.project_id == project_id).order_by(Study.id.desc())).all()


def study_of(session: Session, project_id: int, study_id: int) -> Study:
    """The study. Raises InputError where the project has no such one."""
    study = session.get(Study, study_id)
    if study is None or study.project_id != project_id:
        raise InputError(f"this project has no study number {study_id}: open one on the page “Pipelines”")
    return study


def units_of(session: Session, study_id: int) -> Sequence[StudyUnit]:
    """The study's units in their order."""
    return session.scalars(select(StudyUnit).where(StudyUnit.study_id == study_id).order_by(StudyUnit.position)).all()


def unit_at(session: Session, study_id: int, position: int) -> StudyUnit | None:
    """The unit in this place; nothing where the study has fewer."""
    return session.scalar(select(StudyUnit).where(StudyUnit.study_id == study_id, StudyUnit.position == position))


def count_units(session: Session, study_id: int) -> int:
    """How many units the study has."""
    return session.scalar(select(func.count(StudyUnit.id)).where(StudyUnit.study_id == study_id)) or 0


def count_rated(session: Session, study_id: int) -> dict[str, int]:
    """How many units each rater of the study has rated, by their names in the order of the alphabet."""
    counted = select(Rating.rater, func.count(Rating.unit_id.distinct())).join(StudyUnit)
    rows = session.execute(counted.where(StudyUnit.study_id == study_id).group_by(Rating.rater).order_by(Rating.rater))
    return dict(rows.tuples().all())


def first_unrated(session: Session, study_id: int, rater: str) -> int | None:
    """The place of the first unit that this rater has not rated; nothing where all are."""
    theirs = select(Rating.id).where(Rating.unit_id == StudyUnit.id, Rating.rater == rater)
    first = select(func.min(StudyUnit.position)).where(StudyUnit.study_id == study_id, ~theirs.exists())
    return session.scalar(first)


def ratings_of(session: Session, study_id: int, rater: str | None = None, unit_id: int | None = None) -> list[Rated]:
    """The ratings of the study that count, unit by unit: of all raters or one, of all units or one."""
    rows = session.execute(_counting(study_id, rater, unit_id))
    return [
        Rated(one.unit_id, position, one.rater, {name: getattr(one, name) for name in CRITERIA}, one.created_at)
        for one, position in rows
    ]


def _counting(study_id: int, rater: str | None, unit_id: int | None) -> Select[Rating, int]:
    last = select(func.max(Rating.id)).join(StudyUnit).where(StudyUnit.study_id == study_id)
    if rater is not None:
        last = last.where(Rating.rater == rater)
    if unit_id is not None:
        last = last.where(Rating.unit_id == unit_id)
    counting = Rating.id.in_(last.group_by(Rating.unit_id, Rating.rater))
    return select(Rating, StudyUnit.position).join(StudyUnit).where(counting).order_by(StudyUnit.position, Rating.rater)


def add_ratings(session: Session, project_id: int, rater: str, given: Iterable[tuple[int, Scores]]) -> None:
    """Nothing; the rater's ratings of these units are stored, and count from now on."""
    session.add_all(Rating(project_id=project_id, unit_id=unit_id, rater=rater, **scores) for unit_id, scores in given)
