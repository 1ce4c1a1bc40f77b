"""How sure the project's groups are: by people who confirmed them, else by their weakest links."""

import numpy as np
import pyarrow.parquet
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.annotate.kit.jobs.prepared import probability
from allpairs.db.files.artifacts import held
from allpairs.db.groups.decisions import decided_pairs
from allpairs.db.groups.links import TextLinks
from allpairs.db.groups.regroup import group_numbers, present_texts
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.projects.stable_groups import texts_in_groups
from allpairs.db.results.matches import GROUPS, folder_of_matches, read_matches
from allpairs.db.schema.tables import GroupedItem


def sure_groups(session: Session, project_id: int) -> dict[int, float]:
    """Return how sure each group is, by its number: 1 if people confirmed it, else the p of its weakest link."""
    return weakest_links(session, project_id) | dict.fromkeys(confirmed_groups(session, project_id), 1.0)


def group_sizes(session: Session, project_id: int) -> dict[int, int]:
    """Return how many texts each group has that has several."""
    query = select(GroupedItem.number, func.count()).where(GroupedItem.project_id == project_id)
    return dict(session.execute(query.group_by(GroupedItem.number).having(func.count() > 1)).tuples().all())


def confirmed_groups(session: Session, project_id: int) -> set[int]:
    """Return the groups all of whose texts people have joined; withdrawn ones do not count."""
    decisions = decided_pairs(session, project_id)
    links = TextLinks(decisions)
    decided = group_numbers(session, project_id, {item for pair in decisions for item in pair})
    groups = texts_in_groups(session, project_id, sorted({number for number in decided.values() if number}))
    present_items = present_texts(session, project_id, {item for texts in groups.values() for item in texts})
    roots = {number: {links.root(item) for item in texts if item in present_items} for number, texts in groups.items()}
    return {number for number, parts in roots.items() if len(parts) == 1 and len(groups[number]) > 1}


def weakest_links(session: Session, project_id: int) -> dict[int, float]:
    """Return the probability of the weakest link of each group, where the last search for matches found it."""
    table = matches_table(project_id, GROUPS, ["group_id", "weakest"])
    matches = read_matches(project_id)
    matcher = matcher_of(session, project_id, matches.matcher) if matches else None
    if table is None or matcher is None:
        return {}
    p = probability(matcher, table["weakest"].to_numpy())
    if p is None:
        return {}
    numbers = [int(name[1:]) for name in table["group_id"].to_pylist()]
    return dict(zip(numbers, np.nan_to_num(p, nan=1.0).tolist(), strict=True))


def matches_table(project_id: int, file: str, columns: list[str]) -> pyarrow.Table | None:
    """Return these columns of a file of the last search, if it made the project's groups."""
    matches = read_matches(project_id)
    source = folder_of_matches(project_id) / file
    with held(source):
        if matches is None or matches.changed is None or not source.is_file():
            return None
        return pyarrow.parquet.read_table(source, columns=columns)
