"""Copy a project inside the database, without moving texts through Python."""

from sqlalchemy import CTE, String, cast, func, insert, literal, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import AnswerKind
from allpairs.db.groups.decisions import standing_ids
from allpairs.db.labels.answers import last_acts
from allpairs.db.projects.items import present
from allpairs.db.projects.lists import copy_lists
from allpairs.db.schema.tables import Answer, Gold, Identifier, Item, PairDecision


def copy_items(session: Session, source: int, target: int) -> None:
    """Copy items, identifiers, rows, gold pairs and decisions of the source project to the target, in the same order.

    Withdrawn items stay behind, and so does what is known of their pairs.
    """
    same = (Item.side, Item.split, Item.text, Item.field_lengths)
    texts = select(literal(target), *same).where(*present(source)).order_by(Item.id)
    session.execute(insert(Item).from_select(["project_id", *(column.key for column in same)], texts))
    _copy_identifiers(session, source, target)
    _copy_gold(session, source, target)
    copy_lists(session, source, target)
    _copy_decisions(session, source, target)


def _copy_decisions(session: Session, source: int, target: int) -> None:
    """Copy the decisions on groups that count."""
    left = _twins(source, target)
    right = left.alias()
    same = (PairDecision.same, PairDecision.act, PairDecision.who, PairDecision.at)
    rows = select(literal(target), left.c.new, right.c.new.label("right_id"), *same)
    rows = rows.join(left, left.c.old == PairDecision.left_id).join(right, right.c.old == PairDecision.right_id)
    rows = rows.where(PairDecision.id.in_(standing_ids(source))).order_by(PairDecision.id)
    columns = ["project_id", "left_id", "right_id", *(column.key for column in same)]
    session.execute(insert(PairDecision).from_select(columns, rows))


def _copy_identifiers(session: Session, source: int, target: int) -> None:
    twins = _twins(source, target)
    rows = select(literal(target), Identifier.side, Identifier.external_id, twins.c.new)
    rows = rows.join(twins, twins.c.old == Identifier.item_id).where(Identifier.project_id == source)
    session.execute(insert(Identifier).from_select(["project_id", "side", "external_id", "item_id"], rows))


def _copy_gold(session: Session, source: int, target: int) -> None:
    left = _twins(source, target)
    right = left.alias()
    rows = select(literal(target), left.c.new, right.c.new.label("right_id"), Gold.positive, Gold.closure)
    rows = rows.join(left, left.c.old == Gold.left_id).join(right, right.c.old == Gold.right_id)
    columns = ["project_id", "left_id", "right_id", "positive", "closure"]
    session.execute(insert(Gold).from_select(columns, rows.where(Gold.project_id == source)))


def copy_labels(session: Session, source: int, target: int) -> None:
    """Copy each annotator's label on each pair to the target, with its original time.

    They belong to no task there, like imported ones: the target has its own batches and audits.
    """
    left = _twins(source, target)
    right = left.alias()
    key = literal("copy-") + cast(Answer.id, String)
    details = (Answer.seconds, Answer.note, Answer.settles, Answer.created_at, Answer.guidelines)
    same = (Answer.annotator, Answer.answer, *details)
    rows = select(literal(target), left.c.new, right.c.new.label("right_id"), *same, key)
    rows = rows.join(left, left.c.old == Answer.left_id).join(right, right.c.old == Answer.right_id)
    rows = rows.where(Answer.id.in_(last_acts(source)), Answer.answer != AnswerKind.RETRACT).order_by(Answer.id)
    columns = ["project_id", "left_id", "right_id", *(column.key for column in same), "key"]
    session.execute(insert(Answer).from_select(columns, rows))


def _twins(source: int, target: int) -> CTE:
    """Select each item of the source with its copy in the target, matched by order: columns old, new."""
    old = _placed(source)
    new = _placed(target)
    pairs = select(old.c.id.label("old"), new.c.id.label("new")).join(new, new.c.place == old.c.place)
    return pairs.cte("twins").prefix_with("MATERIALIZED")


def _placed(project_id: int) -> CTE:
    item = aliased(Item)
    place = func.row_number().over(order_by=item.id).label("place")
    conditions = item.project_id == project_id, item.withdrawn_at.is_(None)
    return select(item.id, place).where(*conditions).cte(f"items_{project_id}")
