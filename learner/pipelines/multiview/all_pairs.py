"""The stage that measures the best re-ranker over all pairs of test texts, by sampling, against the bi-encoder.

Re-ranking's own figures say how a short list is ordered. A matcher is asked more: to tell a few right pairs from all
others, so the re-ranker is measured like every other scorer (`learner.evaluate`), with an interval on its gain.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from db.domain import Progress
from learner.backbones.reranker import Reranker, load_reranker, scores_of, truth_logits
from learner.designs import Population, stratified
from learner.encoder import Encoder, load_encoder
from learner.estimation import estimate
from learner.evaluate import gains
from learner.evaluation import evaluate_exact
from learner.output_layer import OutputLayer
from learner.pipelines.multiview.first import VECTORS
from learner.pipelines.multiview.formats import read_qrels, read_texts
from learner.pipelines.multiview.inputs import TestSet, texts_of
from learner.pipelines.multiview.trainings import FIGURE, MODEL
from learner.pipelines.pipeline import Run
from learner.search import count_pairs

FILE = "all_pairs.json"
MOST = 200_000  # passages: more are not encoded for this alone
FIGURES = ("average_precision", "precision_at_recall_20")
ENCODE = 0.3  # of the stage's work


@dataclass(frozen=True)
class Sides:
    """All test queries and passages, and the right pairs (n, 2) as rows of them, each once."""

    queries: list[str]
    passages: list[str]
    positives: np.ndarray
    symmetric: bool

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return count_pairs(len(self.queries), len(self.passages), self.symmetric)


def measure_all_pairs(run: Run, folder: Path, progress: Progress) -> None:
    """Nothing; the folder holds the figures of both models, and what the re-ranker has more."""
    test = texts_of(run).tests[0]
    found: dict[str, object] = {}
    if run.config.all_pairs and len(test.passages) <= MOST:
        sides = all_sides(run, test)
        if len(sides.positives) and sides.pairs > len(sides.positives):
            found = _measured(run, sides, progress)
    (folder / FILE).write_text(json.dumps(found))


def all_sides(run: Run, test: TestSet) -> Sides:
    """Every test query against every passage, whether judged, and whether among those that are re-ranked or not.

    One list against itself is symmetric.
    """
    passages = test.passages.all()
    if run.inputs.test_queries is None:
        return Sides(test.queries.all(), passages, test.pairs[test.pairs[:, 1] >= 0], False)
    names, queries = map(list, zip(*read_texts(Path(run.inputs.test_queries)), strict=True))
    symmetric = queries == passages and names == list(test.passages.values("id"))
    row = {id_: at for at, id_ in enumerate(names)}
    right = [one for one in read_qrels(Path(run.inputs.test_qrels)) if one.right and one.query in row]
    place = test.passages.rows_of(one.passage for one in right)
    pairs = {(row[one.query], place[one.passage]) for one in right if one.passage in place}
    if symmetric:
        pairs = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    return Sides(queries, passages, np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2), symmetric)


def _measured(run: Run, sides: Sides, progress: Progress) -> dict[str, object]:
    encoder = load_encoder(run.config.first_stage.encoder)
    left = (
        unit(_vectors(run, encoder, sides.passages, progress))
        if sides.symmetric
        else unit(encoder.encode(sides.queries))
    )
    right = left if sides.symmetric else unit(_vectors(run, encoder, sides.passages, progress))
    reranker = load_reranker(str(best_model(run.of("trainings"))))

    def score(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return _scores(
            reranker, sides, np.column_stack([rows, columns]), lambda s, d: progress(s, ENCODE + (1 - ENCODE) * d)
        )

    rng = np.random.default_rng([run.config.seed, 5])
    population = Population(left, right, sides.positives, sides.symmetric)
    strata = stratified(population, score, run.config.all_pairs, rng)
    ours = estimate(score(*sides.positives.T), strata, "stratified", rng, OutputLayer(1.0, 0.0))
    base = evaluate_exact(left, right, sides.positives, sides.symmetric)
    assert base is not None  # there is a positive
    return {
        "pairs": ours.pairs, "positives": ours.positives, "read": sum(len(one.scores) for one in strata),
        "re-ranker": {name: ours.estimates[name].as_dict() for name in FIGURES},
        "bi-encoder": {name: base.estimates[name].as_dict() for name in FIGURES},
        "gain": {name: one.as_dict() for name, one in gains(ours.estimates, base.estimates).items()},
    }  # fmt: skip


def _vectors(run: Run, encoder: Encoder, passages: list[str], progress: Progress) -> np.ndarray:
    """The passages' vectors (n, d): those of the dense first stage where there was one."""
    texts = texts_of(run)
    path = run.of("candidates") / VECTORS.format(texts.test_passages.path.stem)
    if path.exists():
        return np.asarray(np.load(path))
    return encoder.encode(passages, lambda words, done: progress(words, ENCODE * done))


def _scores(reranker: Reranker, sides: Sides, pairs: np.ndarray, progress: Progress) -> np.ndarray:
    return scores_of(truth_logits(reranker, sides.queries, sides.passages, pairs, progress)).astype(np.float32)


def best_model(stage: Path) -> Path:
    """The folder of the model that is best on the test, of all variants; of equal ones the first."""
    kept = sorted(one.parent for one in stage.glob(f"variant-*/seed-*/{MODEL}"))
    return max(kept, key=lambda one: float(json.loads((one / FIGURE).read_text()))) / MODEL


def unit(vectors: np.ndarray) -> np.ndarray:
    """The vectors at length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12))
