"""The ranks of real positives under the bundled encoder: WikiQA's test questions, and half of Amazon–Google."""

from pathlib import Path

import numpy as np

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.corpus.split import read_split, split_corpus
from allpairs.db.domain import DEFAULT_ENCODER
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.loop.simulate import dataset_of
from allpairs.learner.metrics.average_precision import Curve
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.search.exact import count_pairs
from benchmarks.data.pools import Pool

FILES = {
    "wikiqa": ("wikiqa_questions", "wikiqa_sentences", "wikiqa_gold"),
    "amazon_google": ("amazon_google_left", "amazon_google_right", "amazon_google_gold"),
}


def real(name: str, data: Path, cache: Path) -> Pool:
    """Return the evaluation pairs of a data set, from the files of `benchmarks.data.datasets`, cached in `cache`."""
    kept = cache / f"{name}.npz"
    if not kept.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        pool = _measure(name, data)
        np.savez(kept, positives=pool.positives, pairs=pool.pairs)
    with np.load(kept) as stored:
        return Pool(name, int(stored["pairs"]), stored["positives"])


def _measure(name: str, data: Path) -> Pool:
    corpus = load_corpus(*(data / f"{file}.csv" for file in FILES[name]))
    split = data / f"{name}_split.csv"
    whole = read_split(split, corpus) if split.is_file() else split_corpus(corpus, 0.5, np.random.default_rng(0))
    dataset = dataset_of(whole)
    encoder = load_encoder(DEFAULT_ENCODER)
    left, right = (
        encoder.encode([dataset.texts[row] for row in rows])
        for rows in (dataset.evaluation_left, dataset.evaluation_right)
    )
    measured = evaluate_exact(left, right, dataset.evaluation_positives, dataset.symmetric)
    assert measured is not None
    pairs = count_pairs(len(left), len(right), dataset.symmetric)
    return Pool(name, pairs, ranks_of(measured.curve, len(dataset.evaluation_positives)))


def ranks_of(curve: Curve, positives: int) -> np.ndarray:
    """Return the positives' ranks (k,) int64, ascending, from an exact curve; in a tie positives come last."""
    true = np.round(curve.recall * positives).astype(np.int64)
    reached = np.round(true / curve.precision).astype(np.int64)
    group = np.repeat(np.arange(len(true)), np.diff(true, prepend=0))
    return reached[group] - (true[group] - np.arange(1, positives + 1))
