"""The ranks of real positives under the bundled encoder: WikiQA's test questions, half of two other data sets."""

from pathlib import Path

import numpy as np

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.corpus.split import read_split, split_corpus
from allpairs.db.domain import DEFAULT_ENCODER
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.data.lexical_features import lexical_vectors
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.audit.strata import BINS, count_similarities, rank_bands
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.metrics.average_precision import Curve
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.search.exact import count_pairs
from benchmarks.data.pools import Pool

FILES = {
    "wikiqa": ("wikiqa_questions", "wikiqa_sentences", "wikiqa_gold"),
    "amazon_google": ("amazon_google_left", "amazon_google_right", "amazon_google_gold"),
    "mlquestions": ("mlquestions_test_queries", "mlquestions_passages", "mlquestions_test_gold"),
}
WEAK = "_weak"  # ends the name of a pool under 12 random projections of the encoder's vectors: many positives lie deep
PROJECTIONS = 12
NAMES = [*FILES, *(name + WEAK for name in FILES)]


def real(name: str, data: Path, cache: Path) -> Pool:
    """Return the evaluation pairs of a data set, from the files of `benchmarks.data.datasets`, cached in `cache`."""
    kept = cache / f"{name}.npz"
    if not kept.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        pool = _measure(name, data)
        np.savez(kept, positives=pool.positives, pairs=pool.pairs, alike=pool.alike)
    with np.load(kept) as stored:
        return Pool(name, int(stored["pairs"]), stored["positives"], stored["alike"])


def _measure(name: str, data: Path) -> Pool:
    whole = name.removesuffix(WEAK)
    corpus = load_corpus(*(data / f"{file}.csv" for file in FILES[whole]))
    split = data / f"{whole}_split.csv"
    dataset = dataset_of(read_split(split, corpus) if split.is_file() else split_corpus(corpus, 0.5, random(0)))
    vectors = load_encoder(DEFAULT_ENCODER).encode(dataset.texts)
    lexical = lexical_vectors(dataset.texts)
    if name != whole:
        vectors = vectors @ random(1).standard_normal((vectors.shape[1], PROJECTIONS)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    left = dataset.evaluation_left
    right = dataset.evaluation_right
    both = Sides(vectors[left], vectors[right], left, right, dataset.symmetric, (lexical[left], lexical[right]))
    measured = evaluate_exact(both.left, both.right, dataset.evaluation_positives, dataset.symmetric)
    assert measured is not None
    pairs = count_pairs(len(left), len(right), dataset.symmetric)
    return Pool(name, pairs, ranks_of(measured.curve, len(dataset.evaluation_positives)), _alike(dataset, both))


def _alike(dataset: Dataset, both: Sides) -> np.ndarray:
    """Return the share of its band's pairs that are lexically at least as similar as each positive, by rank, (k,)."""
    bands = rank_bands(rank_all(both.left, both.right, both.symmetric))
    counts = count_similarities(bands, both)
    share = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1] / bands.sizes[:, None]
    left, right = dataset.evaluation_positives.T
    scores = both.scores(left, right)
    similarity = both.similarities(left, right)
    assert similarity is not None
    bins = np.clip((similarity + 1) / 2 * BINS, 0, BINS - 1).astype(np.int64)
    alike: np.ndarray = share[bands.place(scores), bins]
    return alike[np.argsort(-scores, kind="stable")]


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def ranks_of(curve: Curve, positives: int) -> np.ndarray:
    """Return the positives' ranks (k,) int64, ascending, from an exact curve; in a tie positives come last."""
    true = np.round(curve.recall * positives).astype(np.int64)
    reached = np.round(true / curve.precision).astype(np.int64)
    group = np.repeat(np.arange(len(true)), np.diff(true, prepend=0))
    return reached[group] - (true[group] - np.arange(1, positives + 1))
