"""Pairs with a withdrawn text: nobody is asked about them any more, and they neither train nor measure."""

from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from allpairs.db.labels.leases import end_leases_before
from allpairs.db.projects.notices import announce_batch
from allpairs.db.schema.tables import Item, PairLabel, Project, Round, Task


def withdrawn(project_id: int | ColumnElement[int]) -> Any:
    """Select the ids of the project's withdrawn texts; to be used within other selects."""
    return select(Item.id).where(Item.project_id == project_id, Item.withdrawn_at.is_not(None))


def withdrawn_items(session: Session, project_id: int) -> set[int]:
    """Return the ids of the project's withdrawn texts."""
    return set(session.scalars(withdrawn(project_id)))


def texts_present(table: Any, project_id: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Tell whether neither text of the table's pair has been withdrawn."""
    withdrawn_ids = withdrawn(project_id)
    return and_(table.left_id.not_in(withdrawn_ids), table.right_id.not_in(withdrawn_ids))


def drop_withdrawn_tasks(session: Session, project_id: int) -> None:
    """Drop the project's unlabelled tasks of pairs with a withdrawn text, and their leases.

    The reserve of a batch moves up into their places. Labelled tasks stay: they are the record.
    """
    # Whoever else changes a queue of the project waits, so that its positions stay without gaps.
    session.execute(select(Project.id).where(Project.id == project_id).with_for_update(key_share=True))
    withdrawn_ids = withdrawn(project_id)
    same_pair = and_(PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id)
    labelled = select(PairLabel.answer_id).where(same_pair).exists()
    to_drop = and_(
        Task.project_id == project_id, or_(Task.left_id.in_(withdrawn_ids), Task.right_id.in_(withdrawn_ids)), ~labelled
    )
    rounds = list(session.scalars(select(Task.round_id).where(to_drop).distinct()))
    session.execute(delete(Task).where(to_drop).execution_options(synchronize_session=False))
    for round_id in rounds:
        _close_gaps(session, session.get_one(Round, round_id))


def open_batch(session: Session, batch: Round) -> None:
    """Drop tasks of the stored batch whose texts were withdrawn while it was made, and tell that it waits.

    A batch ends the leases of those before.
    """
    drop_withdrawn_tasks(session, batch.project_id)
    if batch.number is not None:
        end_leases_before(session, batch)
    announce_batch(session, batch)


def _close_gaps(session: Session, batch: Round) -> None:
    """Number the positions anew. A batch keeps its size while there are tasks; an empty audit batch is removed."""
    numbered = select(Task.id, func.row_number().over(order_by=(Task.position, Task.id)).label("place"))
    placed = numbered.where(Task.round_id == batch.id).subquery()
    place = select(placed.c.place - 1).where(placed.c.id == Task.id).scalar_subquery()
    renumber = update(Task).where(Task.round_id == batch.id).values(position=place)
    session.execute(renumber.execution_options(synchronize_session=False))
    left = session.scalar(select(func.count()).select_from(Task).where(Task.round_id == batch.id)) or 0
    batch.size = min(batch.size, left)
    session.flush()
    if not left and batch.number is None:
        session.delete(batch)
        session.flush()
