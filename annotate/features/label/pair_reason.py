"""Why a pair was chosen for labelling, and how its score has changed since."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import is_allowed
from allpairs.annotate.kit.jobs.prepared import probability
from allpairs.db.domain import ROUTED, AnswerKind, Purpose
from allpairs.db.errors import InputError
from allpairs.db.files.arrays import DAMAGE, read_arrays, require_array
from allpairs.db.files.artifacts import held
from allpairs.db.files.checksums import Damaged
from allpairs.db.labels.answers import own_answers
from allpairs.db.labels.pairs import labels_of
from allpairs.db.projects.items import item_texts
from allpairs.db.projects.matchers import SCORES, matchers_of
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Round, StoredModel, Task


@dataclass(frozen=True)
class Alike:
    """A labelled pair near this one when it was chosen: its texts, its current label, its similarity (mean cosine)."""

    left: str
    right: str
    answer: AnswerKind | None
    alike: float


@dataclass(frozen=True)
class RoundScore:
    """A pair's score under a round's model, and its probability if that model is trained."""

    number: int
    score: float
    p: float | None


@dataclass(frozen=True)
class Reasons:
    """Why a pair was chosen. An audit pair was sampled: it has neither rank nor score nor neighbours."""

    left: str
    right: str
    purpose: Purpose
    strategy: str
    batch: int | None  # None: an audit batch
    rank: int  # from 1, in its batch
    batch_size: int
    put_up_at: datetime
    chosen_by: int | None  # number of the matcher that chose; 0: the pre-trained encoder
    alike: Sequence[Alike]
    scores: Sequence[RoundScore]


def last_answered(engine: Engine, project_id: int, annotator: str) -> int | None:
    """Return the task that the annotator answered last."""
    with reading(engine) as session:
        newest = own_answers(session, project_id, annotator, 1)
    return newest[0].task_id if newest else None


def reasons(engine: Engine, project_id: int, task_id: int) -> Reasons:
    """Return why the task's pair was chosen, and its scores since. Raises InputError if there is no such task.

    People who may not see others' answers get no labelled pairs: some of those go to several people.
    """
    with reading(engine) as session:
        task = session.get(Task, task_id)
        if task is None or task.project_id != project_id:
            raise InputError(f"this project has no task {task_id}: reload the page")
        batch = session.get_one(Round, task.round_id)
        chosen_by = session.get(StoredModel, batch.matcher_id) if batch.matcher_id else None
        texts = item_texts(session, [task.left_id, task.right_id])
        audited = task.purpose == Purpose.AUDIT
        sees = is_allowed(session, Right.SEE, project_id)
        return Reasons(
            left=texts[task.left_id],
            right=texts[task.right_id],
            purpose=task.purpose,
            strategy=batch.strategy if task.strategy == ROUTED else task.strategy,  # a verdict is no reason to show
            batch=batch.number,
            rank=task.position + 1,
            batch_size=batch.size,
            put_up_at=batch.created_at,
            chosen_by=chosen_by.number if chosen_by else None,
            alike=_alike(session, task) if sees and not audited else (),
            scores=() if audited else _scores(session, task, chosen_by),
        )


def _alike(session: Session, task: Task) -> list[Alike]:
    pairs = task.alike or []
    texts = item_texts(session, [item for left, right, _ in pairs for item in (left, right)])
    labels = labels_of(session, task.project_id, [(left, right) for left, right, _ in pairs])
    return [Alike(texts[left], texts[right], labels.get((left, right)), cosine) for left, right, cosine in pairs]


def _scores(session: Session, task: Task, chosen_by: StoredModel | None) -> list[RoundScore]:
    """Return the scores under the matcher that chose the pair, and under each one since its label."""
    first = chosen_by.number if chosen_by else 0
    scores = [RoundScore(first, task.score, task.p)]
    for matcher in reversed(matchers_of(session, task.project_id)):
        score = read_score(matcher, task.left_id, task.right_id) if matcher.number > first else None
        if score is not None:
            p = probability(matcher, np.array([score]))
            scores.append(RoundScore(matcher.number, score, None if p is None else float(p[0])))
    return scores


def read_score(matcher: StoredModel, left_id: int, right_id: int) -> float | None:
    """Return the pair's score under the matcher; None if it was not labelled when the matcher was trained.

    Also None if the file of scores is damaged.
    """
    if not matcher.folder:
        return None
    try:
        with held((artifacts() / matcher.folder).parent / SCORES) as path:
            left, right, score = read_arrays(path, ("left", "right", "score")).values()
        require_array(left, "int64", (None,))
        require_array(right, "int64", left.shape)
        require_array(score, "float32", left.shape)
    except (FileNotFoundError, Damaged, *DAMAGE):
        return None
    start, end = np.searchsorted(left, [left_id, left_id + 1])
    place = start + int(np.searchsorted(right[start:end], right_id))
    return float(score[place]) if place < end and right[place] == right_id else None
