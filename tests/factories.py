"""Projects and batches for tests, inserted directly: no file, no model, no job."""

from collections.abc import Sequence
from itertools import combinations, islice, product
from typing import Any

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from db.domain import Kind, Settings, Side, Split
from db.engine import writing
from db.models import Identifier, Item, Project, Round, Task


def make_project(
    engine: Engine,
    texts: Sequence[str],
    right: Sequence[str] = (),
    name: str = "Questions",
    evaluation: int = 0,
    **settings: Any,
) -> int:
    """The id of a new project of these texts: bipartite if there are `right` ones.

    The last `evaluation` left texts are kept for measuring; the item of the i-th text has the id `left-i` or `right-i`.
    """
    kind = Kind.BIPARTITE if right else Kind.SYMMETRIC
    with writing(engine) as session:
        project = Project(name=name, kind=kind, settings=Settings.model_validate(settings).model_dump())
        session.add(project)
        session.flush()
        splits = [Split.TRAIN] * (len(texts) - evaluation) + [Split.EVALUATION] * evaluation
        _add_items(session, project.id, Side.LEFT, texts, splits)
        _add_items(session, project.id, Side.RIGHT, right, [Split.BOTH] * len(right))
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


def make_round(engine: Engine, project_id: int, n: int, reserve: int = 0, strategy: str = "uncertainty") -> int:
    """The id of a new round after the last one: n tasks and `reserve` more, on pairs that are no task yet."""
    with writing(engine) as session:
        last = session.scalar(select(func.max(Round.number)).where(Round.project_id == project_id)) or 0
        batch = Round(project_id=project_id, number=last + 1, strategy=strategy, size=n)
        session.add(batch)
        session.flush()
        pairs = _free_pairs(session, project_id, n + reserve)
        session.add_all(_task(batch, position, left, right) for position, (left, right) in enumerate(pairs))
        return batch.id


def _task(batch: Round, position: int, left: int, right: int) -> Task:
    score = 0.95 - 0.001 * position
    return Task(project_id=batch.project_id, round_id=batch.id, left_id=left, right_id=right, position=position,
                strategy=batch.strategy, score=score, p=None if batch.number == 1 else score - 0.4)  # fmt: skip


def _free_pairs(session: Session, project_id: int, n: int) -> list[tuple[int, int]]:
    taken = {(left, right) for left, right in session.execute(
        select(Task.left_id, Task.right_id).where(Task.project_id == project_id))}  # fmt: skip
    left, right = (_train_items(session, project_id, side) for side in (Side.LEFT, Side.RIGHT))
    pairs = product(left, right) if right else combinations(left, 2)
    free = list(islice((pair for pair in pairs if pair not in taken), n))
    if len(free) < n:
        raise ValueError(f"{n} pairs wanted, {len(free)} are left: make the project with more texts")
    return free


def _train_items(session: Session, project_id: int, side: Side) -> list[int]:
    wanted = select(Item.id).where(Item.project_id == project_id, Item.side == side, Item.split != Split.EVALUATION)
    return list(session.scalars(wanted.order_by(Item.id)))
