"""Audits for tests: projects with an annotator who is never wrong, populations of pairs, and pools of strata."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.stats import norm
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind, DesignKind, Split
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Design, Evaluation, Item, Round, StoredModel, Task
from allpairs.learner.evaluation.audit.ranking import BINS, HIGH, LOW, Ranking
from allpairs.learner.evaluation.audit.sample import Sample
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.exact import AllPairs, evaluate_exact
from allpairs.learner.jobs.audit import job as steps
from allpairs.learner.jobs.data.evaluation_snapshot import item_pair_scores as scores_under
from allpairs.learner.jobs.data.evaluation_snapshot import sides, take_snapshot
from allpairs.learner.jobs.data.project_data import read_project
from tests.helpers.factories import make_project

TOPICS, EVALUATION = 6, 60
HIGHEST, PAIRS = 256, EVALUATION * (EVALUATION - 1) // 2
POSITIVE, NEGATIVE, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE
keys = itertools.count()


def texts(n: int = 80) -> list[str]:
    """Return texts on six alternating topics, mostly of words of their topic."""
    rng = np.random.default_rng(0)
    words = [[f"word{topic}{k}" for k in range(4)] + ["the", "of", "and"] for topic in range(TOPICS)]
    return [f"{i} " + " ".join(rng.choice(words[i % TOPICS], 5)) for i in range(n)]


def make_audited(engine: Engine, encoder: Path, **settings: Any) -> int:
    """Make a project of 80 texts, 60 of them evaluation items, without known matches; return its id."""
    quick: dict[str, Any] = {"first": 10, "neighbours": 10, "epochs": 1, "learning_rate": 1e-3}
    return make_project(engine, texts(), evaluation=EVALUATION, encoder=str(encoder), **(quick | settings))


def add_model(
    engine: Engine, project_id: int, number: int, encoder: Path, blend: Mapping[str, Any] = MappingProxyType({})
) -> int:
    """Add a matcher and return its id: number 0 is the pre-trained encoder, others have an output layer.

    blend: the score's components besides the cosine, as in `learner.scoring.score.Blend.as_dict`.
    """
    folder = f"project-{project_id}/job-{number}/model" if number else None
    if folder is not None:
        (artifacts() / folder).parent.mkdir(parents=True)
        (artifacts() / folder).symlink_to(encoder)
    made: dict[str, Any] = {"folder": folder, "details": dict(blend)} | ({"w": 9.0, "b": -8.0} if number else {})
    with writing(engine) as session:
        row = StoredModel(project_id=project_id, number=number, encoder=str(encoder), **made)
        session.add(row)
        session.flush()
        return row.id


def run_audit(engine: Engine, project_id: int, draw: int = 0) -> str:
    """Run the job's steps in order and return its summary."""
    with writing(engine) as session:
        job_id = add_job(session, project_id, steps.NAME).id
    steps.update_figures(job_id, project_id, bool(draw))
    return steps.draw_audit_batch(project_id, draw) if draw else ""


def tasks_of(engine: Engine, round_id: int | None = None) -> list[Task]:
    """Return the tasks of a round, by default the newest one, in order."""
    with reading(engine) as session:
        newest = select(Round.id).order_by(Round.id.desc()).limit(1).scalar_subquery()
        mine = Task.round_id == (newest if round_id is None else round_id)
        return list(session.scalars(select(Task).where(mine).order_by(Task.position)))


def truth(engine: Engine) -> dict[tuple[int, int], bool]:
    """Return whether each pair of evaluation items is on one topic."""
    with reading(engine) as session:
        there = Item.split == Split.EVALUATION, Item.withdrawn_at.is_(None)
        items = session.scalars(select(Item).where(*there).order_by(Item.id)).all()
    topics = {item.id: int(item.text.split()[0]) % TOPICS for item in items}
    return {pair: topics[pair[0]] == topics[pair[1]] for pair in itertools.combinations(topics, 2)}


def label(engine: Engine, tasks: list[Task], kind: AnswerKind | None = None) -> None:
    """Answer every task, with the truth by default."""
    known = truth(engine)
    with writing(engine) as session:
        session.add_all(
            Answer(project_id=task.project_id, task_id=task.id, left_id=task.left_id, right_id=task.right_id,
                   annotator="ann", key=f"audit-{next(keys)}",
                   answer=kind or (POSITIVE if known[pair_of(task)] else NEGATIVE))
            for task in tasks
        )  # fmt: skip


def draw_and_label(engine: Engine, project_id: int, draw: int) -> list[Task]:
    """Draw an audit batch, answer it with the truth, update the figures, and return its tasks."""
    run_audit(engine, project_id, draw)
    tasks = tasks_of(engine)
    label(engine, tasks)
    run_audit(engine, project_id)
    return tasks


def pair_of(task: Task) -> tuple[int, int]:
    return task.left_id, task.right_id


def evaluation_of(engine: Engine, number: int) -> Evaluation:
    """Return the figures of the matcher of this number."""
    with reading(engine) as session:
        return session.scalars(select(Evaluation).join(StoredModel).where(StoredModel.number == number)).one()


def designs_of(engine: Engine) -> list[Design]:
    with reading(engine) as session:
        return list(session.scalars(select(Design).where(Design.kind == DesignKind.AUDIT).order_by(Design.number)))


def in_top(engine: Engine, project_id: int, number: int = 0) -> dict[tuple[int, int], bool]:
    """Return the truth of the top's pairs in the newest design, made under the matcher of this number."""
    known, scores = truth(engine), scores_of(engine, project_id, number)
    edge = min(stratum["low"] for stratum in designs_of(engine)[-1].strata if stratum["top"])
    return {pair: known[pair] for pair, score in scores.items() if score >= edge}


def scores_of(engine: Engine, project_id: int, number: int) -> dict[tuple[int, int], float]:
    """Return every evaluation pair's score under the matcher of this number."""
    with reading(engine) as session:
        data = read_project(session, project_id)
        matcher = session.scalars(select(StoredModel).where(StoredModel.number == number)).one()
    pairs = list(truth(engine))
    left, right = np.array(pairs).T
    seen = take_snapshot(data, matcher, None, lambda stage, done: None)
    return dict(zip(pairs, scores_under(data, seen.vectors, left, right, seen.rescored).tolist(), strict=True))


def exact(engine: Engine, project_id: int, number: int, known: dict[tuple[int, int], bool]) -> AllPairs:
    """Return the figures of the matcher of this number over all pairs, with exactly these positives as gold."""
    with reading(engine) as session:
        data = read_project(session, project_id)
        matcher = session.scalars(select(StoredModel).where(StoredModel.number == number)).one()
    seen = take_snapshot(data, matcher, None, lambda stage, done: None)
    both = sides(data, seen.vectors, rescored=seen.rescored)
    positives = np.searchsorted(both.left_ids, [pair for pair, positive in known.items() if positive])
    found = evaluate_exact(both.left, both.right, positives, True, rescored=both.rescored)
    assert found is not None
    return found


def figures(evaluation: Evaluation) -> dict[str, tuple[float, float, float]]:
    return {name: (one["value"], one["low"], one["high"]) for name, one in evaluation.estimates.items()}


WIDTH = (HIGH - LOW) / BINS  # of a ranking's bin


def unit_vectors(n: int, seed: int = 0, d: int = 8) -> np.ndarray:
    """Return (n, d) float32 of length 1, uniform over directions."""
    made = np.random.default_rng(seed).standard_normal((n, d))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def make_sides(symmetric: bool, n: int = 70, m: int = 50, seed: int = 0) -> Sides:
    """Return n left items; the right side is the same or m others. Ids differ from rows, so mix-ups show."""
    left = unit_vectors(n, seed)
    right = left if symmetric else unit_vectors(m, seed + 1_000)
    ids = 1_000 + 3 * np.arange(n)
    return Sides(left, right, ids, ids if symmetric else 9_000 + 2 * np.arange(m), symmetric)


def all_pairs(sides: Sides) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and scores of all pairs, one by one."""
    n, m = len(sides.left), len(sides.right)
    rows, columns = np.triu_indices(n, 1) if sides.symmetric else np.indices((n, m)).reshape(2, -1)
    return rows, columns, (sides.left @ sides.right.T)[rows, columns]


def ranking_of(bins: np.ndarray) -> tuple[Ranking, np.ndarray]:
    """Return the ranking of pairs in these bins (n,), from 0 at the top, and their scores: the bins' middles."""
    counts = np.bincount(BINS - 1 - bins, minlength=BINS).astype(np.int64)
    return Ranking(counts), HIGH - (bins + 0.5) * WIDTH


@dataclass(frozen=True)
class Pool:
    """A pool of strata by rank. sizes: (h,) pairs in each; positives: ascending ranks, from 1, of all its positives."""

    sizes: np.ndarray
    positives: np.ndarray

    def draw(self, labels: np.ndarray, rng: np.random.Generator) -> tuple[Sample, np.ndarray]:
        """Draw so many labelled pairs of each stratum; return the sample and their ranks."""
        drawn = np.minimum(labels, self.sizes)
        ends = np.cumsum(self.sizes)
        ranks = np.concatenate([
            1 + end - size + rng.choice(size, n, replace=False)
            for end, size, n in zip(ends, self.sizes, drawn, strict=True)
        ])  # fmt: skip
        stratum = np.repeat(np.arange(len(self.sizes)), drawn)
        weight = (self.sizes / np.maximum(drawn, 1))[stratum]
        sample = Sample(stratum, np.isin(ranks, self.positives), weight, self.sizes)
        return sample, ranks.astype(np.float64)

    def truth(self, threshold_rank: int) -> dict[str, float]:
        """Return the pool's figures with every pair labelled."""
        found = np.arange(1, len(self.positives) + 1)
        precision = found / self.positives
        true = int((self.positives <= threshold_rank).sum())
        return {
            "average_precision": float(precision.mean()),
            "precision_at_recall_20": float(precision[int(np.ceil(0.2 * len(found))) - 1]),
            "positives": float(len(found)),
            "precision": true / threshold_rank,
            "recall": true / len(found),
            "f1": 2 * true / (len(found) + threshold_rank),
        }


def doubling(floor: int, top: int = 128) -> np.ndarray:
    """Return sizes of strata, each as large as all above it together, down to at least `floor` pairs."""
    sizes = [top]
    while sum(sizes) < floor:
        sizes.append(sum(sizes))
    return np.array(sizes)


def normal_pool(
    mean: float, deviation: float, rng: np.random.Generator, pairs: int = 10**8, positives: int = 1_000
) -> Pool:
    """Return all pairs down to the last: negatives score N(0, 1), positives N(mean, deviation)."""
    scores = np.sort(rng.normal(mean, deviation, positives))[::-1]
    above = np.cumsum(rng.poisson(pairs * np.diff(norm.sf(scores), prepend=0.0)))
    ranks = above + np.arange(1, positives + 1)
    sizes = doubling(pairs)
    sizes[-1] -= sizes.sum() - pairs
    return Pool(sizes, ranks)
