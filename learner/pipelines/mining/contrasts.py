"""Right pairs beside wrong ones, which teach and measure a cross-encoder, and the bi-encoder's score of each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.learner.models.bi_encoder_training import load_retriever
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.pipelines.mining.answers.negatives import PassageAnswer
from allpairs.learner.pipelines.mining.crossencoder import Contrasts
from allpairs.learner.pipelines.mining.first_score import features, fit_first_score
from allpairs.learner.pipelines.mining.inputs import MiningTexts
from allpairs.learner.pipelines.mining.margin import Candidates
from allpairs.learner.pipelines.mining.propose import RETRIEVER, Vectors, wrong_of
from allpairs.learner.pipelines.mining.shards import disk_neighbours
from allpairs.learner.pipelines.pipeline import Run

Pairs = Sequence[tuple[str, str]]
Vectorize = Callable[[np.ndarray], np.ndarray]  # from rows of texts to unit vectors


def contrasts(run: Run, texts: MiningTexts, pairs: Pairs, questions: Sequence[PassageAnswer], stream: int) -> Contrasts:
    """Return these pairs with wrong second texts of each. questions: the same pairs as questions, if they are.

    Wrong texts are constructed if the task can, with the random numbers of this stream; else they are the bi-encoder's
    finds for each pair's first text (Joshi et al. 2022, section 3.2). Raises InputError if there are none.
    """
    k = run.config.crossencoder.negatives
    wrong = wrong_of(run, texts, questions, k, np.random.default_rng([run.config.seed, stream])) or _found(
        run, texts, pairs, k
    )
    rows: dict[str, int] = {}

    def numbered(lists: Iterable[Sequence[str]]) -> np.ndarray:
        return np.array([[rows.setdefault(text, len(rows)) for text in row] for row in lists], dtype=np.int64)

    right = numbered(pairs)
    wrong_rows = numbered(wrong)
    return Contrasts(list(rows), right, wrong_rows, np.zeros((len(right), 1 + k), dtype=np.float32))


def _found(run: Run, texts: MiningTexts, pairs: Pairs, k: int) -> list[list[str]]:
    """Return, for each pair, k texts that the bi-encoder finds for its first text, without right ones."""
    right: dict[str, set[str]] = {}  # by first text, which counts as right for itself
    for x, y in texts.directed(pairs):
        right.setdefault(identity(x), {identity(x)}).add(identity(y))
    queries = load_retriever(run.of("biencoder") / RETRIEVER).query.encode([x for x, _ in pairs])
    near_rows, _ = disk_neighbours(queries, Vectors(run.of("vectors")).y, k + max(map(len, right.values())))
    near = np.array(texts.y.take(near_rows.ravel()), dtype=object).reshape(near_rows.shape).tolist()
    wrong = []
    for (x, _), texts_near in zip(pairs, near, strict=True):
        wrong_texts = [text for text in texts_near if identity(text) not in right[identity(x)]]
        if not wrong_texts:
            raise InputError("the second list has no wrong text for a pair: add more texts")
        wrong.append([wrong_texts[place % len(wrong_texts)] for place in range(k)])
    return wrong


def with_first_scores(
    run: Run, texts: MiningTexts, seeds: Contrasts, development: Contrasts | None, filtered: Candidates
) -> tuple[Contrasts, Contrasts | None, np.ndarray]:
    """Return the same with the bi-encoder's log-odds, and those of the kept pairs, (n,) float32.

    They are fitted to the seed pairs.
    """
    retriever = load_retriever(run.of("biencoder") / RETRIEVER)
    vectors = Vectors(run.of("vectors"))
    lists = vectors.kept()
    k = run.config.margin.neighbours

    def measured(x: np.ndarray, y: np.ndarray, of_x: Vectorize, of_y: Vectorize) -> np.ndarray:
        (x, left), (y, right) = (np.unique(rows, return_inverse=True) for rows in (x, y))
        return features(of_x(x), of_y(y), np.column_stack([left, right]), lists, k, texts.one_list)

    def of_texts(pairs: Contrasts) -> np.ndarray:
        encoders = (partial(_unit, encoder, pairs.texts) for encoder in (retriever.query, retriever.passage))
        return measured(*pairs.pairs.T, *encoders)

    seed_features = of_texts(seeds)
    is_right = np.arange(len(seed_features)) % seeds.first.shape[1] == 0
    score = fit_first_score(seed_features[is_right], seed_features[~is_right])
    of_kept = score(measured(filtered.x, filtered.y, *(partial(_stored, side) for side in (vectors.x, vectors.y))))
    seeds = replace(seeds, first=score(seed_features).reshape(seeds.first.shape))
    if development is not None:
        development = replace(development, first=score(of_texts(development)).reshape(development.first.shape))
    return seeds, development, of_kept


def _stored(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return these rows of vectors on disk, float32."""
    return vectors[rows].astype(np.float32)


def _unit(encoder: Encoder, texts: Sequence[str], rows: np.ndarray) -> np.ndarray:
    """Return unit vectors of these rows of the texts, (len(rows), d) float32."""
    vectors = encoder.encode([texts[row] for row in rows])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
