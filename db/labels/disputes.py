"""Pairs that wait for a review because annotators answered them differently, told when they begin to."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import LABELS, AnswerKind, NoticeKind
from allpairs.db.projects.notices import add_notice, is_wanted
from allpairs.db.schema.tables import Answer, Identifier

NAMED = 100  # pairs that one notice names; it counts the others
CHUNK = 5_000  # texts in one statement

Pair = tuple[int, int]


@contextmanager
def announcing_disagreements(session: Session, project_id: int, pairs: Sequence[Pair]) -> Iterator[None]:
    """Tell which of these pairs wait with different answers at the end and did not at the beginning.

    For what stores answers, within its transaction.
    """
    if not is_wanted(session, project_id, NoticeKind.DISAGREEMENT):
        yield
        return
    before = disputed_among(session, project_id, pairs)
    yield
    new = sorted(disputed_among(session, project_id, pairs) - before)
    if new:
        details = {"number": len(new), "pairs": _named(session, new[:NAMED])}
        add_notice(session, project_id, NoticeKind.DISAGREEMENT, details)


def disputed_among(session: Session, project_id: int, pairs: Sequence[Pair]) -> set[Pair]:
    """Return on which of these pairs annotators' votes differ, those aside that were given before it was settled."""
    asked_pairs = set(pairs)
    lefts = sorted({left for left, _ in pairs})
    acts: dict[Pair, dict[str, tuple[int, AnswerKind, bool]]] = defaultdict(dict)
    for start in range(0, len(lefts), CHUNK):
        conditions = (Answer.project_id == project_id, Answer.left_id.in_(lefts[start : start + CHUNK]))
        columns = (Answer.left_id, Answer.right_id, Answer.annotator, Answer.id, Answer.answer, Answer.settles)
        query = select(*columns).where(*conditions, Answer.answer != AnswerKind.SKIP).order_by(Answer.id)
        for left, right, annotator, id_, answer, settles in session.execute(query):
            if (left, right) in asked_pairs:
                acts[left, right][annotator] = (id_, AnswerKind(answer), settles)
    return {pair for pair, votes in acts.items() if _differ([vote for vote in votes.values() if vote[1] in LABELS])}


def _differ(votes: list[tuple[int, AnswerKind, bool]]) -> bool:
    """Return whether the votes differ from the last one that settled the pair on."""
    settled = max((id_ for id_, _, settles in votes if settles), default=0)
    return len({answer for id_, answer, _ in votes if id_ >= settled}) > 1


def _named(session: Session, pairs: Sequence[Pair]) -> list[dict[str, str]]:
    """Return the texts' ids from their files; of a text with several, one."""
    items = {item for pair in pairs for item in pair}
    first = select(Identifier.item_id, func.min(Identifier.external_id)).where(Identifier.item_id.in_(items))
    names = dict(session.execute(first.group_by(Identifier.item_id)).all())
    return [{"id1": names.get(left, ""), "id2": names.get(right, "")} for left, right in pairs]
