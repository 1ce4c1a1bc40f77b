"""What the page "Projects" shows of each project, and the orders to choose from."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import is_allowed
from allpairs.annotate.frame.language.translator import later
from allpairs.db.domain import Kind, Purpose
from allpairs.db.estimate import Estimate, stored_estimate
from allpairs.db.projects.project_list import (
    UNCHANGED,
    BatchStanding,
    NewestMatcher,
    answers_by_day,
    batch_standings,
    label_totals,
    last_answers,
    newest_figures,
    newest_matchers,
    text_states,
)
from allpairs.db.projects.projects import all_projects, project_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project, now

DAYS = 14  # of answer counts, today included
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Precision:
    """Average precision of the model of round `number`, over all `pairs` of evaluation items."""

    number: int
    pairs: int
    estimate: Estimate


@dataclass(frozen=True)
class Overview:
    """A project at a glance.

    labels: pairs with a label, by purpose; days: answers of the last 14 days, today's last, undone ones too.
    sees: whether the person may see its figures; otherwise there is no precision here. texts: changes whenever
    its texts do.
    """

    id: int
    name: str
    kind: Kind
    created_at: datetime
    archived: bool
    batch: BatchStanding | None
    matcher: NewestMatcher | None
    precision: Precision | None
    labels: Counter[Purpose]
    days: tuple[int, ...]
    labelled_at: datetime | None
    sees: bool = True
    texts: tuple[int, int] = UNCHANGED


ORDERS: dict[str, Callable[[Overview], object]] = {
    later("Newest first"): lambda project: (-project.created_at.timestamp(), -project.id),
    later("Last labelled"): lambda project: -(project.labelled_at or _NEVER).timestamp(),
    later("Name"): lambda project: project.name.casefold(),
    later("Average precision"): lambda project: -project.precision.estimate.value if project.precision else 1.0,
}


def read_overviews(engine: Engine, archived: bool = False) -> list[Overview]:
    """Return every project at a glance, the newest first; archived ones only if asked for."""
    with reading(engine) as session:
        return _overviews(session, all_projects(session, archived))


def read_overview(engine: Engine, project_id: int) -> Overview:
    """Return one project at a glance."""
    with reading(engine) as session:
        return _overviews(session, [project_of(session, project_id)])[0]


def _overviews(session: Session, projects: Sequence[Project]) -> list[Overview]:
    today = now().replace(hour=0, minute=0, second=0, microsecond=0)
    dates = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    ids = [project.id for project in projects]
    batches = batch_standings(session, ids)
    matchers = newest_matchers(session, ids)
    figures = newest_figures(session, ids)
    last = last_answers(session, ids)
    days = answers_by_day(session, ids, dates)
    labels = label_totals(session, ids)
    texts = text_states(session, ids)
    sees = {id_ for id_ in ids if is_allowed(session, Right.SEE, id_)}
    measured = {
        id_: Precision(figure.number, figure.pairs, precision)
        for id_, figure in figures.items()
        if (precision := stored_estimate(figure.estimates, "average_precision")) is not None
    }
    return [
        Overview(
            id=project.id,
            name=project.name,
            kind=Kind(project.kind),
            created_at=project.created_at,
            archived=project.archived_at is not None,
            batch=batches.get(project.id),
            matcher=matchers.get(project.id),
            precision=measured.get(project.id) if project.id in sees else None,
            labels=labels[project.id],
            days=tuple(days[project.id]),
            labelled_at=last.get(project.id),
            sees=project.id in sees,
            texts=texts.get(project.id, UNCHANGED),
        )
        for project in projects
    ]


def arranged(projects: Sequence[Overview], words: str, order: str) -> list[Overview]:
    """Return the projects whose name contains the wanted text, ignoring case, in one of `ORDERS`."""
    matching = [project for project in projects if words.strip().casefold() in project.name.casefold()]
    return sorted(matching, key=ORDERS[order])  # type: ignore[arg-type]
