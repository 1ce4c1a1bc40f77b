"""Which pairs a machine rater is asked about, and which labelled pairs its prompt may show."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import DECIDED, LABELS, AnswerKind, Purpose, Split
from allpairs.db.labels.answers import changed
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.stable_random import chance
from allpairs.db.labels.tasks import newest_round
from allpairs.db.labels.withdrawn import texts_present
from allpairs.db.rating import LabelledPair
from allpairs.db.schema.tables import Answer, Item, MachineRater, PairLabel, PairVerdict, Task

RECENT = 1_000  # of the newest training labels of each kind: what examples are chosen from


def pairs_to_rate(session: Session, rater: MachineRater, most: int) -> list[Pair]:
    """Return the pairs to ask about next, `most` at most: none that the rater has rated, none with a withdrawn text.

    Those that people answered come first, in an order that is random but always the same, because they tell what the
    rater is worth; then the unlabelled pairs of the newest batch, in its order. If there are more of both, half are of
    each kind.
    """
    answered = sorted(_answered(session, rater), key=lambda pair: chance(rater.id, *pair))
    batch = _batch(session, rater)
    return [*answered[: max(most // 2, most - len(batch))], *batch][:most]


def _answered(session: Session, rater: MachineRater) -> list[Pair]:
    decided = (PairLabel.project_id == rater.project_id, PairLabel.answer.in_(DECIDED))
    return _unrated(session, rater, PairLabel, *decided)


def _batch(session: Session, rater: MachineRater) -> list[Pair]:
    batch = newest_round(session, rater.project_id)
    if batch is None:
        return []
    same = and_(PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id)
    unlabelled = ~select(PairLabel.answer_id).where(same).exists()
    return _unrated(session, rater, Task, Task.round_id == batch.id, unlabelled, order=Task.position)


def _unrated(
    session: Session, rater: MachineRater, table: Any, *conditions: ColumnElement[bool], order: Any = None
) -> list[Pair]:
    same = and_(PairVerdict.left_id == table.left_id, PairVerdict.right_id == table.right_id)
    rated = select(PairVerdict.id).where(PairVerdict.rater_id == rater.id, same).exists()
    query = select(table.left_id, table.right_id).where(*conditions, ~rated, texts_present(table, rater.project_id))
    return [(left, right) for left, right in session.execute(query.order_by(order))]


def example_pool(session: Session, project_id: int) -> list[LabelledPair]:
    """Return the newest training labels that a prompt may show: matches first, then the others, newest first.

    None that somebody contradicts, none that has an audit task, and none that measures: two evaluation texts.
    """
    return [pair for answer in DECIDED for pair in _of_kind(session, project_id, answer)]


def _of_kind(session: Session, project_id: int, answer: AnswerKind) -> Iterable[LabelledPair]:
    left = aliased(Item)
    right = aliased(Item)
    pair = and_(Answer.left_id == PairLabel.left_id, Answer.right_id == PairLabel.right_id)
    votes = select(Answer.id).where(Answer.project_id == project_id, pair, Answer.answer.in_(LABELS), ~changed())
    audited = select(Task.id).where(
        Task.project_id == project_id,
        Task.purpose == Purpose.AUDIT,
        Task.left_id == PairLabel.left_id,
        Task.right_id == PairLabel.right_id,
    )
    query = (
        select(PairLabel.left_id, PairLabel.right_id, left.text, right.text)
        .join(left, left.id == PairLabel.left_id)
        .join(right, right.id == PairLabel.right_id)
        .where(
            PairLabel.project_id == project_id,
            PairLabel.answer == answer,
            PairLabel.purpose == Purpose.TRAIN,
            left.withdrawn_at.is_(None),
            right.withdrawn_at.is_(None),
            left.split != Split.EVALUATION,
            right.split != Split.EVALUATION,
            or_(left.split == Split.TRAIN, right.split == Split.TRAIN),
            ~votes.where(Answer.answer != answer).exists(),
            ~audited.exists(),
        )
        .order_by(PairLabel.answer_id.desc())
        .limit(RECENT)
    )
    rows = session.execute(query)
    return [LabelledPair(*row, answer == AnswerKind.POSITIVE) for row in rows]
