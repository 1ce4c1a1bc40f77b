"""Projects and batches for tests, inserted directly, without files, models or jobs."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, islice, product
from typing import Any

import numpy as np
from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind, Kind, Settings, Side, Split
from allpairs.db.groups.plan import PlannedGroups, planned
from allpairs.db.labels.audits import audit_rows, newest_design
from allpairs.db.labels.tasks import add_tasks, lease_tasks
from allpairs.db.projects.items import known_identifiers
from allpairs.db.projects.projects import remove_project
from allpairs.db.projects.stable_groups import store_groups
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import (
    Base,
    Design,
    GroupUpdate,
    Identifier,
    Item,
    ListRow,
    ListVersion,
    Project,
    Round,
    Task,
    now,
)  # fmt: skip
from allpairs.learner.light.groups.grouping import USUAL


def make_project(
    engine: Engine,
    texts: Sequence[str],
    right: Sequence[str] = (),
    name: str = "Questions",
    evaluation: int = 0,
    **settings: Any,
) -> int:
    """Make a project of these texts, bipartite if there are `right` ones, and return its id.

    The last `evaluation` left texts are evaluation items; the item of the i-th text has the id `left-i` or `right-i`.
    """
    kind = Kind.BIPARTITE if right else Kind.SYMMETRIC
    with writing(engine) as session:
        plain: dict[str, Any] = {"hubness": 0.0, "lexical": False, "second_stage": "off"}
        stored = Settings.model_validate(plain | settings).model_dump()
        project = Project(name=name, kind=kind, settings=stored)
        session.add(project)
        session.flush()
        splits = [Split.TRAIN] * (len(texts) - evaluation) + [Split.EVALUATION] * evaluation
        _add_items(session, project.id, Side.LEFT, texts, splits)
        _add_items(session, project.id, Side.RIGHT, right, [Split.SHARED] * len(right))
        return project.id


def _add_items(session: Session, project_id: int, side: Side, texts: Sequence[str], splits: Sequence[Split]) -> None:
    items = [
        Item(project_id=project_id, side=side, split=split, text=text)
        for text, split in zip(texts, splits, strict=True)
    ]
    session.add_all(items)
    session.flush()
    session.add_all(
        Identifier(project_id=project_id, side=side, external_id=f"{side}-{i}", item_id=item.id)
        for i, item in enumerate(items)
    )


def keep_row(engine: Engine, project_id: int) -> None:
    """Keep the row of the first text, as an imported file brings it."""
    with writing(engine) as session:
        version = ListVersion(
            project_id=project_id, side=Side.LEFT, file="left.csv", columns=["id", "text"], id_column="id",
            compared=["text"], format={"suffix": ".csv"},
        )  # fmt: skip
        session.add(version)
        session.flush()
        row = {"place": 0, "external_id": "left-0", "cells": ["left-0", "a text"]}
        session.add(ListRow(project_id=project_id, side=Side.LEFT, version_id=version.id, **row))


def make_round(
    engine: Engine,
    project_id: int,
    n: int,
    reserve: int = 0,
    strategy: str = "uncertainty",
    audits: Collection[int] = (),
) -> int:
    """Make a round after the last one, with n tasks and `reserve` more on new pairs, and return its id.

    The tasks at the positions `audits` are audit tasks of the newest design, on pairs of evaluation items.
    """
    with writing(engine) as session:
        last = session.scalar(select(func.max(Round.number)).where(Round.project_id == project_id)) or 0
        batch = Round(project_id=project_id, number=last + 1, strategy=strategy, size=n)
        session.add(batch)
        session.flush()
        places = [position for position in range(n + reserve) if position not in audits]
        rows = [_task(batch, *place) for place in _placed(session, project_id, places)]
        add_tasks(session, [*rows, *_audit_rows(session, batch, sorted(audits))])
        return batch.id


def _task(batch: Round, position: int, left: int, right: int) -> dict[str, Any]:
    score = 0.95 - 0.001 * position
    return {"project_id": batch.project_id, "round_id": batch.id, "left_id": left, "right_id": right,
            "position": position, "strategy": batch.strategy, "score": score,
            "p": None if batch.number == 1 else score - 0.4}  # fmt: skip


def make_design(
    engine: Engine,
    project_id: int,
    kind: DesignKind = DesignKind.AUDIT,
    sizes: Sequence[int] = (8, 16, 4000),
    **details: Any,
) -> int:
    """Make a design with strata of these sizes and return its id."""
    with writing(engine) as session:
        last = session.scalar(select(func.max(Design.number)).where(Design.project_id == project_id)) or 0
        strata = [{"name": f"stratum {place}", "low": 0.9 - 0.1 * place, "high": 1.0 - 0.1 * place, "size": size}
                  for place, size in enumerate(sizes)]  # fmt: skip
        design = Design(project_id=project_id, number=last + 1, kind=kind, pairs=sum(sizes), strata=strata,
                        details=details, folder=f"project-{project_id}/design-{last + 1}")  # fmt: skip
        session.add(design)
        session.flush()
        return design.id


def make_audit_batch(engine: Engine, project_id: int, n: int, kind: DesignKind = DesignKind.AUDIT) -> int:
    """Make an audit batch of n tasks of the newest design of this kind, on new pairs, and return its id."""
    with writing(engine) as session:
        audit_batch = Round(project_id=project_id, number=None, strategy=kind, size=n)
        session.add(audit_batch)
        session.flush()
        add_tasks(session, _audit_rows(session, audit_batch, range(n), kind))
        return audit_batch.id


def _audit_rows(
    session: Session, batch: Round, places: Sequence[int], kind: DesignKind = DesignKind.AUDIT
) -> list[dict[str, Any]]:
    """Return tasks of the newest design, alternating between its two highest strata; empty without places."""
    if not places:
        return []
    design = newest_design(session, batch.project_id, kind)
    assert design is not None, "make a design first"
    pairs = _placed(session, batch.project_id, places, evaluation=True)
    return audit_rows(batch, design, [
        {"position": position, "left_id": left, "right_id": right, "score": 0.9 - 0.1 * (position % 2),
         "inclusion": 0.5 / (1 + position % 2), "stratum": position % 2}
        for position, left, right in pairs
    ])  # fmt: skip


def _placed(
    session: Session, project_id: int, places: Sequence[int], evaluation: bool = False
) -> list[tuple[int, int, int]]:
    """Return each place with the items of a pair."""
    pairs = _free_pairs(session, project_id, len(places), evaluation)
    return [(place, left, right) for place, (left, right) in zip(places, pairs, strict=True)]


def _free_pairs(session: Session, project_id: int, n: int, evaluation: bool) -> list[tuple[int, int]]:
    taken = {(left, right) for left, right in session.execute(
        select(Task.left_id, Task.right_id).where(Task.project_id == project_id))}  # fmt: skip
    left, right = (_items(session, project_id, side, evaluation) for side in (Side.LEFT, Side.RIGHT))
    pairs = product(left, right) if right else combinations(left, 2)
    free = list(islice((pair for pair in pairs if pair not in taken), n))
    if len(free) < n:
        raise ValueError(f"{n} pairs wanted, {len(free)} are left: make the project with more texts")
    return free


def _items(session: Session, project_id: int, side: Side, evaluation: bool) -> list[int]:
    other = Split.TRAIN if evaluation else Split.EVALUATION
    wanted = select(Item.id).where(Item.project_id == project_id, Item.side == side, Item.split != other)
    return list(session.scalars(wanted.order_by(Item.id)))


def make_groups(engine: Engine, project_id: int, groups: Sequence[Sequence[int]], **about: Any) -> PlannedGroups:
    """Make these texts the project's groups, in an update about which this is said; return what was stored."""
    usual = {"matcher": 0, "threshold": 0.5, "clustering": USUAL.clustering, "representative": USUAL.representative}
    texts = sum(len(group) for group in groups if len(group) > 1)
    update = GroupUpdate(
        project_id=project_id, newest_by="", groups=sum(len(group) > 1 for group in groups), texts=texts,
        **(usual | about),
    )  # fmt: skip
    items = np.array([item for group in groups for item in group], dtype=np.int64)
    with writing(engine) as session:
        kept = planned(session, project_id, items, np.repeat(np.arange(len(groups)), [len(one) for one in groups]))
        assert store_groups(session, kept.plan, update)
    return kept


def row_counts(engine: Engine) -> dict[str, int]:
    """Return the number of rows of each table."""
    with reading(engine) as session:
        tables = Base.metadata.sorted_tables
        return {table.name: session.scalar(select(func.count()).select_from(table)) or 0 for table in tables}


def drop_project(engine: Engine, project_id: int) -> None:
    """Delete the project's rows. The app whose home has its jobs and files runs in another process."""
    with writing(engine) as session:
        remove_project(session, session.get_one(Project, project_id))


def require_votes(engine: Engine, votes: int) -> None:
    with writing(engine) as session:
        session.execute(update(Task).values(votes=votes))


def first_ids(session: Session, items: Iterable[int]) -> dict[int, str]:
    """Return the first id of each of these texts."""
    return {item: names[0] for item, names in known_identifiers(session, items).items()}


def claim_tasks(url: str, project_id: int, annotator: str) -> list[int]:
    """Return the tasks that this annotator gets in fifty claims, each of which renews all leases and takes one more."""
    engine = make_engine(url)
    claimed: set[int] = set()
    for n in range(1, 51):
        with writing(engine) as session:
            claimed |= {task.id for task in lease_tasks(session, project_id, annotator, n, now())}
    engine.dispose()
    return sorted(claimed)
