"""What the page Clean list says of a project's list at a glance, and the search that makes its groups."""

from dataclasses import dataclass
from itertools import islice

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from allpairs.annotate.features.clean.project_list import CleanRulesInput, groups_of_rows
from allpairs.annotate.kit.jobs.requests import request_matches
from allpairs.db.corpus.files import WORKBOOKS
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import decisions_state
from allpairs.db.projects.lists import current_list, rows_at, standing_rows
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.stable_groups import newest_change, newest_update, usual_search
from allpairs.db.results.matches import read_matches
from allpairs.db.schema.engine import reading
from allpairs.db.texts.changes import version_of_texts
from allpairs.learner.light.clean.plan import ListedRow, plan_clean_list
from allpairs.learner.light.clean.tables import clean_rows
from allpairs.learner.light.groups.grouping import Grouping

PREVIEWED = 10  # rows of the clean list


@dataclass(frozen=True)
class ListOverview:
    """A project's list at a glance.

    doubles: rows that the clean list lacks; groups: of several rows; labelled: whether a model trained on labels made
    them, None without groups; why_old: why they are out of date, "" if they are not.
    """

    columns: list[str]
    is_workbook: bool
    rows: int
    doubles: int
    groups: int
    labelled: bool | None
    why_old: str


def list_state(engine: Engine, project_id: int, side: Side) -> tuple[int, ...] | None:
    """Return numbers that change with a list and its groups; None if the list's rows are not kept."""
    with reading(engine) as session:
        version = current_list(session, project_id, side)
        update = newest_update(session, project_id)
        matcher = newest_matcher(session, project_id)
        if version is None:
            return None
        rest = newest_change(session, project_id), version_of_texts(session, project_id)
        decisions = decisions_state(session, project_id)
        return version.id, update.id if update else 0, matcher.number if matcher else -1, *rest, *decisions


def read_list_overview(engine: Engine, project_id: int, side: Side) -> ListOverview:
    """Return the overview of a list whose rows are kept."""
    with reading(engine) as session:
        version = current_list(session, project_id, side)
        assert version is not None
        rows = session.scalar(select(func.count()).select_from(standing_rows(project_id, side).subquery())) or 0
        sizes = dict[str, int]()
        for group in groups_of_rows(session, project_id, side).values():
            sizes[group.name] = sizes.get(group.name, 0) + 1
        update = newest_update(session, project_id)
        return ListOverview(
            columns=list(version.columns),
            is_workbook=str(version.format.get("suffix", "")).lower() in WORKBOOKS,
            rows=rows,
            doubles=sum(sizes.values()) - len(sizes),
            groups=sum(size > 1 for size in sizes.values()),
            labelled=None if update is None else update.by_labels,
            why_old=_why_old(session, project_id),
        )


def needs_search(engine: Engine, project_id: int) -> bool:
    """Return whether the project has no groups yet, or old ones."""
    with reading(engine) as session:
        return newest_update(session, project_id) is None or bool(_why_old(session, project_id))


def _why_old(session: Session, project_id: int) -> str:
    update = newest_update(session, project_id)
    matcher = newest_matcher(session, project_id)
    if update is None:
        return ""
    if matcher is not None and matcher.number > update.matcher:
        return "a newer model has been trained since"
    matches = read_matches(project_id)
    changed = matches is not None and matches.texts != version_of_texts(session, project_id)
    return "the list has changed since" if changed else ""


def first_clean_rows(engine: Engine, project_id: int, choices: CleanRulesInput) -> list[list[str]]:
    """Return the first rows of the clean list; those of their groups alone are read. Raises InputError for wrong rules.

    How a column of dates is read may differ from the whole list, where its values leave that open.
    """
    with reading(engine) as session:
        version = current_list(session, project_id, choices.side)
        assert version is not None
        groups = groups_of_rows(session, project_id, choices.side)
        members = dict[str, list[int]]()
        for place, group in groups.items():
            members.setdefault(group.name, []).append(place)
        query = standing_rows(project_id, choices.side)
        places = list[int]()
        names = set[str]()
        for place, *_ in session.execute(query, execution_options={"yield_per": 100}):
            places += [place] if place not in groups else members[groups[place].name]
            names.add(groups[place].name if place in groups else f"row {place}")
            if len(names) > PREVIEWED:
                break
        rows = [ListedRow(*row) for row in rows_at(session, project_id, choices.side, places)]
        few = {row.key: groups[row.key] for row in rows if row.key in groups}
        plan = plan_clean_list(lambda: rows, version.columns, few, choices.rules())
        return [list(cells) for cells in islice(clean_rows(rows, plan), PREVIEWED)]


def find_doubles(engine: Engine, project_id: int) -> str:
    """Request the search by the newest model that makes the project's groups as they were made last; return its id.

    Raises InputError while there is no model yet, and as `request_matches`.
    """
    with reading(engine) as session:
        matcher = newest_matcher(session, project_id)
        if matcher is None:
            raise InputError("there is no model yet: the first one comes with the first batch of pairs, in a minute")
        number, threshold, _, *grouping = usual_search(session, project_of(session, project_id), matcher)
    return request_matches(engine, project_id, number, threshold, grouping=Grouping.read(grouping))
