"""A matcher measured over all pairs of files: every pair scored, or a sample of the negatives."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from db.corpus.corpus import Corpus
from db.domain import DEFAULT_ENCODER, InputError, Progress, Side, Split, no_progress
from learner.dataset import Dataset
from learner.designs import Population, cosines, near_random, stratified
from learner.encoder import load_encoder
from learner.estimation import estimate
from learner.matcher import Matcher
from learner.rounds import evaluate
from learner.simulate import dataset_of

DESIGNS = {"near-random": near_random, "stratified": stratified}
METHODS = ("exact", *DESIGNS)


@dataclass(frozen=True)
class Method:
    """How to measure: exactly, or from about `sample` scored negatives; `base`: the encoder of the cheap score."""

    name: str = "exact"
    sample: int = 200_000
    base: str = DEFAULT_ENCODER
    seed: int = 0


def checked_method(name: str, sample: int, base: str, seed: int) -> Method:
    """The method. Raises InputError for a name that is not known."""
    if name not in METHODS:
        raise InputError(f"--method {name!r} is not known: use {', '.join(METHODS)}")
    return Method(name, sample, base, seed)


def evaluate_corpus(
    matcher: Matcher, corpus: Corpus, method: Method, progress: Progress = no_progress
) -> dict[str, Any]:
    """The estimates by name, with `pairs`, `positives`, the curve and, where sampled, the strata.

    A corpus without splits is measured whole. Raises InputError without a gold positive.
    """
    dataset = dataset_of(_all_evaluation(corpus))
    if not len(dataset.evaluation_positives):
        raise InputError("the gold file names no positive pair of these items: there is nothing to measure")
    vectors = _encode(matcher, dataset, progress)
    if method.name == "exact":
        return _exact(dataset, vectors, progress)
    return _sampled(dataset, vectors, method, progress)


def _exact(dataset: Dataset, vectors: np.ndarray, progress: Progress) -> dict[str, Any]:
    measured = evaluate(dataset, vectors, progress)
    assert measured is not None
    return {
        **{name: found.as_dict() for name, found in measured.estimates.items()},
        "pairs": measured.pairs,
        "positives": measured.positives,
        "curve": measured.curve.thinned().as_dict(),
    }


def _sampled(dataset: Dataset, vectors: np.ndarray, method: Method, progress: Progress) -> dict[str, Any]:
    rng = np.random.default_rng(method.seed)
    cheap = _encode(Matcher(load_encoder(method.base), None), dataset, progress)
    left, right, positives = dataset.evaluation_left, dataset.evaluation_right, dataset.evaluation_positives
    population = Population(cheap[left], cheap[right], positives, dataset.symmetric)

    def score(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return cosines(vectors, vectors, left[rows], right[columns])

    strata = DESIGNS[method.name](population, score, method.sample, rng, progress)
    estimates, curve = estimate(score(*positives.T), strata, method.name, rng)
    return {
        **{name: found.as_dict() for name, found in estimates.items()},
        "pairs": population.pairs,
        "positives": len(positives),
        "curve": curve.thinned().as_dict(),
        "strata": [
            {"name": one.name, "size": one.size, "sampled": len(one.scores), "weight": one.weight} for one in strata
        ],
    }


def _all_evaluation(corpus: Corpus) -> Corpus:
    if any(item.split is not None for item in corpus.items):
        return corpus
    return replace(corpus, items=[replace(item, split=Split.EVALUATION) for item in corpus.items])


def _encode(matcher: Matcher, dataset: Dataset, progress: Progress) -> np.ndarray:
    """Vectors (len(texts), d); rows outside the evaluation items stay zero."""
    rows = np.union1d(dataset.evaluation_left, dataset.evaluation_right)
    vectors = np.zeros((len(dataset.texts), matcher.encoder.dimension), dtype=np.float32)
    vectors[rows] = matcher.encoder.encode([dataset.texts[row] for row in rows], progress)
    return vectors


def sides_of(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the left and of the right items (the same rows in a symmetric corpus)."""
    left = np.array([row for row, item in enumerate(corpus.items) if item.side == Side.LEFT], dtype=np.int64)
    right = np.array([row for row, item in enumerate(corpus.items) if item.side == Side.RIGHT], dtype=np.int64)
    return left, right if len(right) else left
