"""Labelled pairs that an annotator may be shown as examples without biasing anything that is measured."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Subquery, and_, false, func, or_, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import DECIDED, LABELS, AnswerKind, Purpose, Split
from allpairs.db.labels.answers import changed
from allpairs.db.labels.votes import looks_of, wants_vote_of
from allpairs.db.projects.projects import project_settings
from allpairs.db.schema.tables import Answer, Check, FastAnswersTask, Gold, Item, PairLabel, Task

RECENT = 300  # of the newest labels of each kind: what is chosen from


@dataclass(frozen=True)
class ExamplePair:
    """A labelled pair."""

    answer: AnswerKind
    left: str
    right: str


def example_pairs(session: Session, project_id: int, annotator: str, n: int) -> list[ExamplePair]:
    """Return up to n matches and n non-matches, those that most annotators agreed on first, then the newest.

    Only training labels that nobody disagrees with. Never a pair that measures something (an audit pair, or two
    evaluation texts), nor one that this annotator may still be asked: one that lacks their vote, whose answer is known
    to hidden tests, or, where answers are repeated, their own.
    """
    return [example for answer in DECIDED for example in _of_kind(session, project_id, annotator, answer, n)]


def _of_kind(session: Session, project_id: int, annotator: str, answer: AnswerKind, n: int) -> list[ExamplePair]:
    kind = (PairLabel.project_id == project_id, PairLabel.purpose == Purpose.TRAIN, PairLabel.answer == answer)
    columns = (PairLabel.left_id, PairLabel.right_id, PairLabel.answer_id)
    pair = select(*columns).where(*kind).order_by(PairLabel.answer_id.desc()).limit(RECENT).subquery()
    left = aliased(Item)
    right = aliased(Item)
    votes = (*_same(Answer, pair, project_id), Answer.answer.in_(LABELS), ~changed())
    disagree = select(Answer.id).where(*votes, Answer.answer != answer)
    agree = select(func.count()).select_from(Answer).where(*votes).scalar_subquery()
    query = (
        select(left.text, right.text)
        .select_from(pair)
        .join(left, left.id == pair.c.left_id)
        .join(right, right.id == pair.c.right_id)
        .where(
            left.withdrawn_at.is_(None),
            right.withdrawn_at.is_(None),
            left.split != Split.EVALUATION,
            right.split != Split.EVALUATION,
            or_(left.split == Split.TRAIN, right.split == Split.TRAIN),
            ~disagree.exists(),
            *_not_to_be_asked(session, pair, project_id, annotator),
        )
        .order_by(agree.desc(), pair.c.answer_id.desc())
    )
    return [ExamplePair(answer, *texts) for texts in session.execute(query.limit(n))]


def _not_to_be_asked(session: Session, pair: Subquery, project_id: int, annotator: str) -> list[ColumnElement[bool]]:
    """Tell which pairs are no audit pair, and no pair that the annotator may still be asked."""
    settings = project_settings(session, project_id)
    fast = select(FastAnswersTask.task_id).where(FastAnswersTask.task_id == Task.id)
    lacking = wants_vote_of(annotator, looks_of(settings))
    open_or_audit = or_(Task.purpose == Purpose.AUDIT, fast.exists(), lacking)
    tasks = select(Task.id).where(*_same(Task, pair, project_id), open_or_audit)
    gold = select(Gold.left_id).where(Gold.left_id == pair.c.left_id, Gold.right_id == pair.c.right_id)
    own_answers = Answer.annotator == annotator if settings.repeat_share else false()
    answers = select(Answer.id).where(*_same(Answer, pair, project_id), or_(Answer.settles, own_answers))
    checks = select(Check.id).where(*_same(Check, pair, project_id), Check.annotator == annotator)
    return [~query.exists() for query in (tasks, gold, answers, checks)]


def _same(table: type[Answer | Check | Task], pair: Subquery, project_id: int) -> tuple[ColumnElement[bool], ...]:
    same = and_(table.left_id == pair.c.left_id, table.right_id == pair.c.right_id)
    return table.project_id == project_id, same
