"""What the page Explore reads: the rounds, the prepared arrays of a round, its best pairs and known answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.open_jobs import JobProgress, newest_progress
from allpairs.annotate.kit.jobs.requests import request_apart
from allpairs.db.domain import AnswerKind, Kind, Split
from allpairs.db.errors import InputError
from allpairs.db.files.arrays import DAMAGE, read_arrays
from allpairs.db.files.artifacts import held, is_there
from allpairs.db.labels.answers import count_after
from allpairs.db.labels.pairs import Pair, gold_answers, in_round, labels_of
from allpairs.db.labels.tasks import newest_round
from allpairs.db.projects.evaluations import matchers_with_evaluations
from allpairs.db.projects.jobs import EXPLORE, OPEN
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.records import Rows, records_of_items
from allpairs.db.results.explorations import KNOWN, PAIRS, Exploration, exploration_folder, read_exploration
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Evaluation, StoredModel
from allpairs.db.texts.changes import version_of_texts

Ids = np.ndarray  # (n,) int64


@dataclass(frozen=True)
class Scored:
    """Pairs of items with their scores under one matcher: three arrays of one length (int64, int64, float32)."""

    left: Ids
    right: Ids
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.left)

    def take(self, chosen: np.ndarray | slice) -> "Scored":
        """Return the pairs at these positions, in this order."""
        return Scored(self.left[chosen], self.right[chosen], self.score[chosen])

    @property
    def pairs(self) -> list[Pair]:
        """The item ids of each pair."""
        return list(zip(self.left.tolist(), self.right.tolist(), strict=True))


@dataclass(frozen=True)
class Known:
    """All labelled and all gold pairs, and equal texts of two lists; label, gold: (n,) int8: 1, 0, or -1 for none."""

    scored: Scored
    label: np.ndarray
    gold: np.ndarray
    equal: np.ndarray

    @property
    def truth(self) -> np.ndarray:
        """The known answers, (n,) int8: people's labels, else gold."""
        return np.where(self.label >= 0, self.label, self.gold)


@dataclass(frozen=True)
class ExploredRound:
    """A matcher with its figures and its prepared arrays."""

    matcher: StoredModel
    evaluation: Evaluation | None
    exploration: Exploration | None

    @property
    def folder(self) -> Path:
        """The folder of the arrays."""
        return exploration_folder(self.matcher)


@dataclass(frozen=True)
class ShownPair:
    """A pair with everything that a page shows of it.

    splits: of both items; p, label, gold: None if there is none; rows: the columns of both texts side by side; why:
    what each part adds to the log-odds of a match, if that is known.
    """

    left_id: int
    right_id: int
    left: str
    right: str
    splits: tuple[Split, Split]
    score: float
    p: float | None
    label: AnswerKind | None
    gold: bool | None
    in_batch: bool
    rows: Rows = ()
    why: str = ""


def rounds_of(engine: Engine, project_id: int) -> list[ExploredRound]:
    """Return the matchers of the project, the newest first; what was prepared of other texts is as if it were not."""
    with reading(engine) as session:
        matchers = matchers_with_evaluations(session, project_id)
        version = version_of_texts(session, project_id)
    return [ExploredRound(matcher, figures, _prepared(matcher, version)) for matcher, figures in reversed(matchers)]


def _prepared(matcher: StoredModel, version: int) -> Exploration | None:
    exploration = read_exploration(exploration_folder(matcher))
    return exploration if exploration is not None and exploration.texts == version else None


def kind_of(engine: Engine, project_id: int) -> Kind:
    """Return whether the project has one list of texts or two."""
    with reading(engine) as session:
        return Kind(project_of(session, project_id).kind)


def request_exploration(engine: Engine, project_id: int, number: int) -> str:
    """Request the job that prepares this round and return its id. It changes nothing.

    Raises InputError while another round is being prepared.
    """
    return request_apart(engine, project_id, EXPLORE, number, right=Right.SEE)


def preparation_progress(engine: Engine, matcher: StoredModel) -> JobProgress:
    """Return the progress of the project's newest preparation; one that ended before the matcher was made is over."""
    newest = newest_progress(engine, matcher.project_id, EXPLORE)
    is_past = newest.job is not None and newest.job.state not in OPEN and newest.job.created_at < matcher.created_at
    return replace(newest, job=None) if is_past else newest


def is_due(round_: ExploredRound, last: JobProgress) -> bool:
    """Return whether the round lacks its arrays and may be prepared unasked: the last preparation has not failed."""
    return round_.exploration is None and (last.job is None or last.job.state == "done")


def vectors_are_kept(matcher: StoredModel) -> bool:
    """Return whether the texts' vectors are stored; for the pre-trained encoder this is unknown, so False."""
    return matcher.folder is not None and is_there((artifacts() / matcher.folder).with_name("vectors.npy"))


def answers_since(engine: Engine, project_id: int, exploration: Exploration) -> int:
    """Return how many answers are newer than the known pairs of the exploration."""
    with reading(engine) as session:
        return count_after(session, project_id, exploration.cutoff)


def prepared_best_pairs(round_: ExploredRound) -> Scored:
    """Return the best pairs of the round, the best first."""
    return Scored(*read_prepared_arrays(round_.folder / PAIRS, "left", "right", "score"))


def known_pairs(round_: ExploredRound) -> Known:
    """Return the pairs of the round that people or gold have answered, in no order."""
    left, right, score, label, gold, equal = read_prepared_arrays(
        round_.folder / KNOWN, "left", "right", "score", "label", "gold", "equal"
    )
    return Known(Scored(left, right, score), label, gold, equal)


def read_prepared_arrays(path: Path, *names: str) -> list[np.ndarray]:
    """Return the file's arrays of these names. Raises InputError if it is damaged."""
    try:
        with held(path):
            return list(read_arrays(path, names).values())
    except DAMAGE:
        raise InputError(f"the file {path} is damaged: prepare the round again") from None


def probability(matcher: StoredModel, score: np.ndarray) -> np.ndarray | None:
    """Return p = sigmoid(w·score + b), (n,) float64; None for the pre-trained encoder, which has no output layer."""
    if matcher.w is None or matcher.b is None:
        return None
    logits = matcher.w * score.astype(np.float64) + matcher.b
    p: np.ndarray = 0.5 * (1 + np.tanh(logits / 2))
    return p


def shown_pairs(engine: Engine, matcher: StoredModel, scored: Scored) -> list[ShownPair]:
    """Return the pairs in their order, with their texts and what is known of them now."""
    p = probability(matcher, scored.score)
    ps = [None] * len(scored) if p is None else p.tolist()
    with reading(engine) as session:
        return described_pairs(session, matcher.project_id, scored.pairs, scored.score.tolist(), ps)


def described_pairs(
    session: Session, project_id: int, pairs: Sequence[Pair], scores: Sequence[float], ps: Sequence[float | None]
) -> list[ShownPair]:
    """Return the pairs in their order, with their texts and what is known of them now."""
    records = records_of_items(session, project_id, {id_ for pair in pairs for id_ in pair})
    texts = records.texts
    splits = records.splits
    labels = labels_of(session, project_id, pairs)
    gold = gold_answers(session, pairs)
    batch = newest_round(session, project_id)
    tasks = in_round(session, batch, pairs) if batch else set()
    return [
        ShownPair(
            left,
            right,
            texts[left],
            texts[right],
            (splits[left], splits[right]),
            score,
            p,
            labels.get((left, right)),
            gold.get((left, right)),
            (left, right) in tasks,
            records.rows(left, right),
        )
        for (left, right), score, p in zip(pairs, scores, ps, strict=True)
    ]
