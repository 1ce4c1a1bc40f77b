"""Answers: appended, never changed. Labels are derived from them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import DECIDED, LABELS, AnswerKind, Purpose, version_of
from allpairs.db.labels.disputes import announcing_disagreements
from allpairs.db.labels.withdrawn import texts_present
from allpairs.db.projects.items import containing
from allpairs.db.schema.tables import Answer, CheckAnswer, Gold, Item, PairLabel, Project, Task, now


@dataclass(frozen=True)
class Label:
    """The current answer on a pair."""

    left_id: int
    right_id: int
    answer: AnswerKind
    annotator: str
    answer_id: int
    task_id: int | None
    settles: bool


def counting_ids(project_id: int, up_to: int | None = None, *conditions: ColumnElement[bool]) -> Select[int]:
    """Select the ids of the answers that count, or did as of answer `up_to`: at most one for each pair.

    To be used within other selects. An annotator's last answer on a pair counts unless it is retracted; a skip is not
    an answer. If several annotators answered, the last of their answers counts; but an answer that settles the pair
    counts before all that do not. conditions: of pairs, to look at no others as of an answer.
    """
    if up_to is None:
        return select(PairLabel.answer_id).where(PairLabel.project_id == project_id)
    last_answers = last_acts(project_id).where(Answer.id <= up_to, *conditions)
    last = func.coalesce(func.max(case((Answer.settles, Answer.id))), func.max(Answer.id))
    counting = select(last).where(Answer.id.in_(last_answers), Answer.answer != AnswerKind.RETRACT)
    return counting.group_by(Answer.left_id, Answer.right_id)


def last_acts(project_id: int) -> Select[int]:
    """Select the id of each annotator's last act on each pair, a retraction too; skips are not answers."""
    conditions = (Answer.project_id == project_id, Answer.answer != AnswerKind.SKIP)
    return select(func.max(Answer.id)).where(*conditions).group_by(Answer.left_id, Answer.right_id, Answer.annotator)


def votes(session: Session, project_id: int) -> dict[tuple[int, int, str], AnswerKind]:
    """Return each annotator's current answer on each pair, by left item, right item and annotator."""
    standing = (Answer.id.in_(last_acts(project_id)), Answer.answer != AnswerKind.RETRACT)
    rows = session.execute(select(Answer.left_id, Answer.right_id, Answer.annotator, Answer.answer).where(*standing))
    return {(left, right, annotator): AnswerKind(answer) for left, right, annotator, answer in rows}


def current_labels(session: Session, project_id: int, up_to: int | None = None) -> list[Label]:
    """Return the project's labels, or those as of answer `up_to`, in the order they were given."""
    return _labels(session, Answer.id.in_(counting_ids(project_id, up_to)))


def labels_among(session: Session, project_id: int, items: Collection[int]) -> list[Label]:
    """Return the labels of the project's pairs of these items, in the order they were given."""
    among_items = PairLabel.left_id.in_(items), PairLabel.right_id.in_(items)
    return _labels(session, Answer.id.in_(counting_ids(project_id).where(*among_items)))


def matches(session: Session, project_id: int) -> list[Label]:
    """Return the labels of the project that are matches, in the order they were given; none with a withdrawn text."""
    query = counting_ids(project_id).where(
        PairLabel.answer == AnswerKind.POSITIVE, texts_present(PairLabel, project_id)
    )
    return _labels(session, Answer.id.in_(query))


def opinions_of_pairs(session: Session, project_id: int) -> list[tuple[int, int, bool]]:
    """Return (left_id, right_id, whether it is a match) of every pair whose label is not unsure."""
    query = select(PairLabel.left_id, PairLabel.right_id, PairLabel.answer == AnswerKind.POSITIVE)
    rows = session.execute(query.where(PairLabel.project_id == project_id, PairLabel.answer.in_(DECIDED)))
    return [(left, right, bool(match)) for left, right, match in rows]


def labelled_pairs(session: Session, project_id: int) -> dict[tuple[int, int], AnswerKind]:
    """Return the label of every labelled pair of the project."""
    query = select(PairLabel.left_id, PairLabel.right_id, PairLabel.answer)
    rows = session.execute(query.where(PairLabel.project_id == project_id, PairLabel.answer.in_(LABELS)))
    return {(left, right): AnswerKind(answer) for left, right, answer in rows}


def known_answers(session: Session, project_id: int) -> dict[tuple[int, int], AnswerKind]:
    """Return the answer of every pair that has one; labels override those that came with the data."""
    gold = session.execute(select(Gold.left_id, Gold.right_id, Gold.positive).where(Gold.project_id == project_id))
    known = {(left, right): (AnswerKind.NEGATIVE, AnswerKind.POSITIVE)[bool(is_one)] for left, right, is_one in gold}
    return known | labelled_pairs(session, project_id)


def newest_answer(session: Session, project_id: int) -> int:
    """Return the id of the project's last answer, 0 before the first; it changes with every act."""
    last = select(Answer.id).where(Answer.project_id == project_id).order_by(Answer.id.desc()).limit(1)
    return session.scalar(last) or 0


def lasting_label(session: Session, project_id: int, left_id: int, right_id: int) -> Label | None:
    """Return the label of the pair, locked until this transaction ends: other answers in the project wait."""
    lock_answers(session, project_id)
    counts = Answer.id.in_(counting_ids(project_id))
    return next(iter(_labels(session, Answer.left_id == left_id, Answer.right_id == right_id, counts)), None)


def _labels(session: Session, *conditions: ColumnElement[bool]) -> list[Label]:
    """Return these answers, in the order they were given."""
    columns = (Answer.answer, Answer.annotator, Answer.id, Answer.task_id, Answer.settles)
    rows = session.execute(select(Answer.left_id, Answer.right_id, *columns).where(*conditions).order_by(Answer.id))
    return [
        Label(left, right, AnswerKind(answer), annotator, id_, task, settles)
        for left, right, answer, annotator, id_, task, settles in rows
    ]


def label_counts(session: Session, project_id: int) -> dict[AnswerKind, int]:
    """Return how many pairs of the project have each label."""
    counted = select(PairLabel.answer, func.count()).where(PairLabel.project_id == project_id)
    return {AnswerKind(answer): count for answer, count in session.execute(counted.group_by(PairLabel.answer))}


def purpose_counts(session: Session, project_id: int) -> dict[tuple[Purpose, AnswerKind], int]:
    """Return how many pairs of the project have each label, by the task's purpose; imported labels are for training."""
    counted = select(PairLabel.purpose, PairLabel.answer, func.count()).where(PairLabel.project_id == project_id)
    rows = session.execute(counted.group_by(PairLabel.purpose, PairLabel.answer))
    return {(Purpose(purpose), AnswerKind(answer)): count for purpose, answer, count in rows}


def answered_since(session: Session, project_id: int, moment: datetime) -> bool:
    """Return whether anybody has answered a pair for training after this moment; audit answers do not count."""
    later = select(Answer.id).where(Answer.project_id == project_id, Answer.created_at > moment)
    trains = later.outerjoin(Task, Task.id == Answer.task_id).where(Task.purpose.is_distinct_from(Purpose.AUDIT))
    return session.scalar(trains.limit(1)) is not None


@dataclass(frozen=True)
class OwnAnswer:
    """One annotator's last answer on a pair."""

    id: int
    left_id: int
    right_id: int
    task_id: int | None
    answer: AnswerKind
    note: str
    seconds: float | None
    time: datetime


def own_answers(
    session: Session,
    project_id: int,
    annotator: str,
    limit: int,
    offset: int = 0,
    round_id: int | None = None,
    answer: AnswerKind | None = None,
    words: str = "",
) -> list[OwnAnswer]:
    """Return the annotator's current answers, the newest first: the last on each pair, unless it is retracted.

    A skip is not an answer. round_id: only answers to tasks of this round; answer: only this one; words: only pairs
    with these words in one of their texts, in upper or lower case.
    """
    query = _own(project_id, annotator, round_id, answer, words).order_by(Answer.id.desc()).limit(limit).offset(offset)
    return [
        OwnAnswer(
            row.id, row.left_id, row.right_id, row.task_id, row.answer, row.note or "", row.seconds, row.created_at
        )
        for row in session.scalars(query)
    ]


def count_own_answers(
    session: Session, project_id: int, annotator: str, answer: AnswerKind | None = None, words: str = ""
) -> int:
    """Return how many answers `own_answers` would return without a limit."""
    query = _own(project_id, annotator, None, answer, words)
    return session.scalar(query.with_only_columns(func.count())) or 0


def _own(
    project_id: int, annotator: str, round_id: int | None, answer: AnswerKind | None, words: str
) -> Select[Answer]:
    conditions = (Answer.project_id == project_id, Answer.annotator == annotator)
    last = select(func.max(Answer.id)).where(*conditions, Answer.answer != AnswerKind.SKIP)
    if round_id is not None:
        last = last.join(Task, Task.id == Answer.task_id).where(Task.round_id == round_id)
    last = last.group_by(Answer.left_id, Answer.right_id)
    query = select(Answer).where(Answer.id.in_(last), Answer.answer != AnswerKind.RETRACT)
    if answer is not None:
        query = query.where(Answer.answer == answer)
    if words:
        with_words = select(Item.id).where(Item.project_id == project_id, *containing([words]))
        query = query.where(or_(Answer.left_id.in_(with_words), Answer.right_id.in_(with_words)))
    return query


def answer_by_id(session: Session, answer_id: int) -> Answer | None:
    """Return the answer with this id, or None."""
    return session.get(Answer, answer_id)


def count_after(session: Session, project_id: int, answer_id: int) -> int:
    """Return how many acts of annotators on the project came after this one."""
    later = select(func.count()).where(Answer.project_id == project_id, Answer.id > answer_id)
    return session.scalar(later) or 0


def newest_act(session: Session, project_id: int, annotator: str, act: str, undo: str) -> tuple[str, int] | None:
    """Return this annotator's newest act that is not undone, and how many pairs it still labels.

    Keys of the answers of such acts start with `act`, and those of their undoing with `undo`.
    """
    begins = or_(*(Answer.key.startswith(beginning, autoescape=True) for beginning in (act, undo)))
    query = select(Answer.key).where(Answer.project_id == project_id, Answer.annotator == annotator, begins)
    newest = session.scalar(query.order_by(Answer.id.desc()).limit(1))
    if newest is None or not newest.startswith(act):
        return None
    name = newest.rsplit("-", 1)[0]
    count = len(answered_at_once(session, project_id, annotator, name))
    return (name, count) if count else None


def answered_at_once(session: Session, project_id: int, annotator: str, beginning: str) -> list[tuple[int, int]]:
    """Return the pairs on which this annotator's last answer has a key that starts so; skips are not answers."""
    begins = Answer.key.startswith(beginning, autoescape=True)
    conditions = (Answer.project_id == project_id, Answer.annotator == annotator, begins)
    rows = session.execute(select(Answer.left_id, Answer.right_id).where(*conditions, ~changed()).order_by(Answer.id))
    return [(left, right) for left, right in rows]


def changed() -> ColumnElement[bool]:
    """Tell whether the annotator of an answer has since answered its pair again or retracted it; skips do not count."""
    later = aliased(Answer)
    later_answers = select(later.id).where(
        later.project_id == Answer.project_id,
        later.left_id == Answer.left_id,
        later.right_id == Answer.right_id,
        later.annotator == Answer.annotator,
        later.id > Answer.id,
        later.answer != AnswerKind.SKIP,
    )
    return later_answers.exists()


def own_before(session: Session, project_id: int, annotator: str, beginning: str) -> dict[tuple[int, int], Answer]:
    """Return this annotator's last answers before an act on the act's pairs; the act's keys start so.

    Leaves out pairs that others have answered since: given again, an old answer would override later ones. An answer
    that settles its pair counts before later ones that do not.
    """
    begins = Answer.key.startswith(beginning, autoescape=True)
    conditions = (Answer.project_id == project_id, Answer.annotator == annotator)
    act = select(Answer.left_id, Answer.right_id, Answer.id).where(*conditions, begins).subquery()
    same = and_(Answer.left_id == act.c.left_id, Answer.right_id == act.c.right_id, Answer.id < act.c.id)
    later = aliased(Answer)
    overtaken = select(later.id).where(
        later.project_id == project_id,
        later.left_id == Answer.left_id,
        later.right_id == Answer.right_id,
        later.annotator != annotator,
        later.id > Answer.id,
        later.answer != AnswerKind.SKIP,
        or_(later.settles, ~Answer.settles),
    )
    earlier = select(Answer).join(act, same).where(*conditions, Answer.answer != AnswerKind.SKIP, ~overtaken.exists())
    return {(answer.left_id, answer.right_id): answer for answer in session.scalars(earlier.order_by(Answer.id))}


def stored_keys(session: Session, project_id: int, keys: Iterable[str]) -> set[str]:
    """Return which of the clients' keys are already stored in the project."""
    conditions = (Answer.project_id == project_id, Answer.key.in_(list(keys)))
    return set(session.scalars(select(Answer.key).where(*conditions)))


def store_answers(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Store each row, all of one project, unless its key is already stored.

    The answers get the project's current guidelines version unless the row names one. Other writers of answers in the
    project wait until this transaction ends: a later answer must not be visible before an earlier one, because cutoffs,
    cursors and pages store the last answer they have seen, and a pair's last answer is its label.
    """
    if not rows:
        return
    settings = lock_answers(session, rows[0]["project_id"])
    given_under = {"guidelines": version_of(settings.get("guidelines", ""))}
    pairs = [(row["left_id"], row["right_id"]) for row in rows]
    with announcing_disagreements(session, rows[0]["project_id"], pairs):
        store_once(session, Answer, [given_under | row for row in rows])


def lock_answers(session: Session, project_id: int) -> dict[str, Any]:
    """Return the project's settings, and keep others from answering in it until this transaction ends.

    An act that depends on labels locks before it reads them: they must not change until it is stored.
    """
    query = select(Project.settings).where(Project.id == project_id)
    return session.scalars(query.with_for_update(key_share=True)).one()


def store_once(session: Session, table: type[Answer] | type[CheckAnswer], rows: Sequence[dict[str, Any]]) -> None:
    """Insert each row unless its project already has its key.

    Two tabs may replay the same answers at once; if the database lets both write, the second must not fail.
    """
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    session.execute(dialect.insert(table).on_conflict_do_nothing(index_elements=["project_id", "key"]), rows)


def answer_at_once(
    session: Session, project_id: int, annotator: str, pairs: Sequence[tuple[int, int]], answer: AnswerKind, act: str
) -> None:
    """Give this answer to each pair in the annotator's name. act: prefix of the answers' keys."""
    time = now()
    store_answers(
        session,
        [
            {
                "project_id": project_id,
                "left_id": left,
                "right_id": right,
                "annotator": annotator,
                "answer": answer,
                "key": f"{act}-{place}",
                "created_at": time,
            }
            for place, (left, right) in enumerate(pairs)
        ],
    )
