"""The stage that compares the best re-ranker with the bi-encoder over all pairs of test texts, by sampling.

Re-ranking figures describe the order of a short list. A matcher must separate a few right pairs from all others, so the
re-ranker is measured like every other scorer (`learner.files.evaluate`), with an interval on its gain.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.reranking.reranker import load_reranker, pair_scores
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.evaluation.importance_sampling import estimate_from_strata
from allpairs.learner.evaluation.sampling_designs import Population, stratified
from allpairs.learner.files.evaluate import gains
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.pipelines.multiview.first import VECTORS
from allpairs.learner.pipelines.multiview.formats import read_qrels, read_texts
from allpairs.learner.pipelines.multiview.inputs import TEST, TestSet, is_one_list, texts_of
from allpairs.learner.pipelines.multiview.matched import matcher_factors
from allpairs.learner.pipelines.multiview.trainings import MODEL, best_training
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.search.exact import count_pairs

FILE = "all_pairs.json"
MOST = 200_000  # passages: more are not encoded just for this
FIGURES = ("average_precision", "precision_at_recall_20")
ENCODE = 0.3  # share of the stage's work


@dataclass(frozen=True)
class RelevantSides:
    """All test queries and passages, and the right pairs (n, 2) as rows of them, each once.

    rows: of the passages in their whole list. symmetric: both are one list, of which each pair counts once.
    """

    queries: list[str]
    passages: list[str]
    rows: np.ndarray
    positives: np.ndarray
    symmetric: bool

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return count_pairs(len(self.queries), len(self.passages), self.symmetric)


def measure_all_pairs(run: Run, folder: Path, progress: Progress) -> None:
    """Write the figures of both models, and the re-ranker's gain, to the folder."""
    test = texts_of(run).tests[0]
    figures: dict[str, object] = {}
    if run.config.all_pairs and len(test.passages) <= MOST:
        sides = all_sides(run, test)
        if len(sides.positives) and sides.pairs > len(sides.positives):
            figures = _measured(run, sides, progress)
    (folder / FILE).write_text(json.dumps(figures), encoding="utf-8")


def all_sides(run: Run, test: TestSet) -> RelevantSides:
    """Return every test query and every passage, judged or not, re-ranked or not.

    Within one list: the test texts on both sides; without test queries, the held-out texts and their right partners.
    """
    one_list, names, queries, right = is_one_list(run, TEST), *_asked(run, test)
    place = test.passages.rows_of((*names, *(passage for _, passage in right)))
    pairs = [(query, place[passage]) for query, passage in right if passage in place]
    if not one_list:
        passages = test.passages.all()
        return RelevantSides(queries, passages, np.arange(len(passages)), _rows(pairs), False)
    rows = np.unique([place[name] for name in names] + [passage for _, passage in pairs])
    pair_rows = np.searchsorted(rows, [(place[names[query]], passage) for query, passage in pairs]).reshape(-1, 2)
    texts = test.passages.take(rows)
    return RelevantSides(
        texts, texts, rows, _rows((min(pair), max(pair)) for pair in pair_rows.tolist() if pair[0] != pair[1]), True
    )


def _asked(run: Run, test: TestSet) -> tuple[list[str], list[str], list[tuple[int, str]]]:
    """Return ids and texts of all test queries, and the right pairs: rows of queries, and ids of passages."""
    if run.inputs.test_queries is None:
        known = test.pairs[test.pairs[:, 1] >= 0]
        ids = test.passages.take(known[:, 1], "id")
        return test.queries.all("id"), test.queries.all(), list(zip(known[:, 0].tolist(), ids, strict=True))
    names, queries = map(list, zip(*read_texts(Path(run.inputs.test_queries)), strict=True))
    row = {id_: number for number, id_ in enumerate(names)}
    judged = read_qrels(Path(run.inputs.test_qrels))
    return names, queries, [(row[pair.query], pair.passage) for pair in judged if pair.right and pair.query in row]


def _rows(pairs: Iterable[tuple[int, int]]) -> np.ndarray:
    return np.array(sorted(set(pairs)), dtype=np.int64).reshape(-1, 2)


def _measured(run: Run, sides: RelevantSides, progress: Progress) -> dict[str, object]:
    encoder = load_encoder(run.config.first_stage.encoder)
    right = unit(_vectors(run, encoder, sides, part_of(progress, 0.0, ENCODE)))
    left = right if sides.symmetric else unit(encoder.encode(sides.queries))
    folders = [model.parent for model in run.of("trainings").glob(f"variant-*/seed-*/{MODEL}")]
    reranker = load_reranker(str(best_training(folders) / MODEL))

    def score(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        pairs = np.column_stack([rows, columns])
        part = part_of(progress, ENCODE, 1.0)
        return pair_scores(reranker, sides.queries, sides.passages, pairs, part).astype(np.float32)

    rng = np.random.default_rng([run.config.seed, 5])
    population = Population(left, right, sides.positives, sides.symmetric)
    strata = stratified(population, score, run.config.all_pairs, rng)
    sampled = estimate_from_strata(score(*sides.positives.T), strata, "stratified", rng, OutputLayer(1.0, 0.0))
    matcher = run.inputs.test_queries and run.inputs.matcher  # else it was trained on the held-out share
    compared = matcher_factors(Path(matcher).parent, sides.queries, sides.passages) if matcher else (left, right)
    base = evaluate_exact(*compared, sides.positives, sides.symmetric)
    assert base is not None  # there is a positive
    return {
        "pairs": sampled.pairs,
        "positives": sampled.positives,
        "read": sum(len(model.scores) for model in strata),
        "compared": "the newest matcher" if matcher else run.config.first_stage.encoder,
        "re-ranker": {name: sampled.estimates[name].as_dict() for name in FIGURES},
        "bi-encoder": {name: base.estimates[name].as_dict() for name in FIGURES},
        "gain": {name: model.as_dict() for name, model in gains(sampled.estimates, base.estimates).items()},
    }


def _vectors(run: Run, encoder: Encoder, sides: RelevantSides, progress: Progress) -> np.ndarray:
    """Return the passages' vectors (n, d), reusing those of a dense first stage."""
    path = run.of("candidates") / VECTORS.format(texts_of(run).test_passages.path.stem)
    if path.exists():
        return np.asarray(np.load(path, mmap_mode="r")[sides.rows])
    return encoder.encode(sides.passages, progress)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors scaled to length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12))
