"""Many projects at a glance: one query for each kind of fact, whatever the number of projects."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import CTE, Select, and_, func, literal, select, true, union_all
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import LABELS, AnswerKind, Purpose
from allpairs.db.schema.tables import Answer, Evaluation, PairLabel, Project, Round, StoredModel, Task, TextChange

UNCHANGED = 0, 0  # the state of texts as they were imported


@dataclass(frozen=True)
class BatchStanding:
    """The newest batch of a project: its number, its size, and the number of its labelled pairs."""

    number: int
    size: int
    answered: int


@dataclass(frozen=True)
class NewestMatcher:
    """The newest model of a project; labels: number of labels it was trained on."""

    number: int
    labels: int
    created_at: datetime


@dataclass(frozen=True)
class NewestFigures:
    """The figures of the newest model that has any; pairs: number of pairs of evaluation items.

    reached: whether the target precision is certain; None where audit labels do not tell.
    """

    number: int
    pairs: int
    estimates: dict[str, Any]
    reached: bool | None = None


def text_states(session: Session, project_ids: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return what differs whenever a project's texts do: the newest change, and how many are undone."""
    project_id = TextChange.project_id
    changes = select(project_id, func.max(TextChange.number), func.count(TextChange.undone_at)).where(
        project_id.in_(project_ids)
    )
    return {id_: (newest, undone) for id_, newest, undone in session.execute(changes.group_by(project_id))}


def batch_standings(session: Session, project_ids: Collection[int]) -> dict[int, BatchStanding]:
    """Return the progress of each project's newest batch; leave out projects without one."""
    newest = _newest_rounds(project_ids)
    batches = session.execute(select(newest.c.project_id, newest.c.number, newest.c.size)).all()
    answered = _answered(session, newest)
    return {id_: BatchStanding(number, size, answered.get(id_, 0)) for id_, number, size in batches}


def _newest_rounds(project_ids: Collection[int]) -> CTE:
    """Select the newest batch of each project: columns id, project_id, number, size."""
    last = select(Round.project_id, func.max(Round.number).label("number")).where(Round.number.is_not(None))
    last_of = last.where(Round.project_id.in_(project_ids)).group_by(Round.project_id).subquery()
    same = and_(last_of.c.project_id == Round.project_id, last_of.c.number == Round.number)
    return (
        select(Round.id, Round.project_id, Round.number, Round.size)
        .join(last_of, same)
        .cte("newest")
        .prefix_with("MATERIALIZED")
    )


def _answered(session: Session, newest: CTE) -> dict[int, int]:
    """Return how many pairs of each project's newest batch are labelled."""
    same_pair = and_(PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id)
    tasks = select(newest.c.project_id, func.count()).join_from(newest, Task, Task.round_id == newest.c.id)
    labelled = tasks.join(PairLabel, same_pair).where(Task.position < newest.c.size)
    return dict(session.execute(labelled.group_by(newest.c.project_id)).tuples().all())


def newest_matchers(session: Session, project_ids: Collection[int]) -> dict[int, NewestMatcher]:
    """Return the newest model of each project that has one."""
    last = select(StoredModel.project_id, func.max(StoredModel.number).label("number"))
    last_of = last.where(StoredModel.project_id.in_(project_ids)).group_by(StoredModel.project_id).subquery()
    same = and_(last_of.c.project_id == StoredModel.project_id, last_of.c.number == StoredModel.number)
    rows = session.execute(
        select(StoredModel.project_id, StoredModel.number, StoredModel.labels, StoredModel.created_at).join(
            last_of, same
        )
    )
    return {id_: NewestMatcher(number, labels, created_at) for id_, number, labels, created_at in rows}


def newest_figures(session: Session, project_ids: Collection[int]) -> dict[int, NewestFigures]:
    """Return the figures of each project's newest evaluated model, without curve and histogram."""
    measured = select(StoredModel.project_id, func.max(StoredModel.number).label("number"))
    measured = measured.join(Evaluation, Evaluation.matcher_id == StoredModel.id).where(
        StoredModel.project_id.in_(project_ids)
    )
    last_of = measured.group_by(StoredModel.project_id).subquery()
    same = and_(last_of.c.project_id == StoredModel.project_id, last_of.c.number == StoredModel.number)
    columns = select(
        StoredModel.project_id, StoredModel.number, Evaluation.pairs, Evaluation.estimates, Evaluation.audit
    )
    rows = session.execute(columns.join(Evaluation, Evaluation.matcher_id == StoredModel.id).join(last_of, same))
    return {
        id_: NewestFigures(number, pairs, estimates, (audit.get("reached") or {}).get("reached"))
        for id_, number, pairs, estimates, audit in rows
    }


def label_totals(session: Session, project_ids: Collection[int]) -> dict[int, Counter[Purpose]]:
    """Return, for each project, how many pairs have a label, by its purpose: the definition of `counting_ids`."""
    counted = select(PairLabel.project_id, PairLabel.purpose, func.count()).where(PairLabel.project_id.in_(project_ids))
    totals = {id_: Counter[Purpose]() for id_ in project_ids}
    for id_, purpose, count in session.execute(counted.group_by(PairLabel.project_id, PairLabel.purpose)):
        totals[id_][Purpose(purpose)] = count
    return totals


def answers_by_day(session: Session, project_ids: Collection[int], days: Sequence[datetime]) -> dict[int, list[int]]:
    """Return, for each project, the number of answers given on each of the days that start at these times.

    An answer counts even if it was changed later: it was that day's work. Skips and undone answers are no answers.
    """
    kind = Answer.created_at.type
    starts = union_all(
        *(
            select(literal(day, kind).label("start"), literal(day + timedelta(days=1), kind).label("end"))
            for day in days
        )
    ).subquery()
    on_day = and_(Answer.created_at >= starts.c.start, Answer.created_at < starts.c.end, Answer.answer.in_(LABELS))
    on_day = and_(on_day, Answer.id.not_in(_undone(project_ids, min(days))))
    counted = select(func.count()).where(Answer.project_id == Project.id, on_day).scalar_subquery()
    # Counts index entries for each project and day; grouping by date would compute a date for every answer.
    answer_counts = select(Project.id, starts.c.start, counted).join_from(Project, starts, true())
    rows = session.execute(answer_counts.where(Project.id.in_(project_ids)))
    counts = {(id_, start): count for id_, start, count in rows}
    return {id_: [counts[id_, day] for day in days] for id_ in project_ids}


def _undone(project_ids: Collection[int], since: datetime) -> Select[int]:
    """Select the answers that their annotator took back since then."""
    answer = aliased(Answer)
    undoing = aliased(Answer)
    same = [
        getattr(answer, name) == getattr(undoing, name) for name in ("project_id", "left_id", "right_id", "annotator")
    ]
    pairs = select(answer.id).join(undoing, and_(*same, answer.id < undoing.id))
    return pairs.where(
        undoing.project_id.in_(project_ids), undoing.answer == AnswerKind.RETRACT, undoing.created_at >= since
    )


def last_answers(session: Session, project_ids: Collection[int]) -> dict[int, datetime]:
    """Return when each project was last labelled; leave out projects that never were."""
    last = select(func.max(Answer.created_at)).where(Answer.project_id == Project.id).scalar_subquery()
    rows = session.execute(select(Project.id, last).where(Project.id.in_(project_ids)))
    return {id_: time for id_, time in rows if time is not None}
