"""One round: the browser's rounds and the simulator's use the same few functions."""

from dataclasses import dataclass, replace

import numpy as np

from allpairs.db.domain import SEED_STRATEGY, SPREAD_STRATEGY, Settings
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.evaluation.exact import TIE, AllPairs, evaluate_exact
from allpairs.learner.evaluation.given_pairs import given_figures
from allpairs.learner.evaluation.importance_sampling import estimate_from_strata
from allpairs.learner.evaluation.sampling_designs import NEAR_RANDOM, Population, near_random
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import OutputLayer, fit_output_layer
from allpairs.learner.runtime.device import default_device
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.search.exact import Pairs, count_pairs
from allpairs.learner.search.inner_product import COSINE, Space, as_left, as_right, factors, magnitude, scores
from allpairs.learner.search.nearest import Near, near_pairs
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.second_stage.make import Staged
from allpairs.learner.strategies.basic import strategy
from allpairs.learner.strategies.caps import with_controls, within_cap
from allpairs.learner.strategies.pool import Background, Pool, draw_training_pairs, unscored

NO_BACKGROUND = Background()
EXACT_PAIRS = {"cpu": 2 * 10**11, "cuda": 2 * 10**13}  # about half an hour of two cores, or of a GPU (docs/scale.md)
SAMPLED = 1_000_000  # negatives besides the near ones where there are more pairs: scoring them takes seconds


@dataclass(frozen=True)
class Batch:
    """Pairs to label, the most useful first: rows of the dataset, and the strategy that chose them.

    near: the near pairs that the strategy chose from, if it asked for them; layer: the output layer of their scores.
    """

    pairs: Pairs
    strategy: str
    near: Near | None = None
    layer: OutputLayer | None = None

    @property
    def p(self) -> np.ndarray | None:
        """The probability of each pair, (n,) float64; None without an output layer."""
        return None if self.layer is None else self.layer.probability(self.pairs.score)


def choose(
    dataset: Dataset,
    vectors: np.ndarray,
    layer: OutputLayer | None,
    known: np.ndarray,
    n: int,
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress = no_progress,
    background: Background = NO_BACKGROUND,
    space: Space = COSINE,
    whole: Staged | None = None,
) -> Batch:
    """Choose at most n unlabelled training pairs, each unordered pair once, with their scores under the newest model.

    vectors: (len(texts), d) in the space, under the model that chooses, whose second stage has no say: pairs that the
    first one finds uncertain teach the encoder more (docs/log.md); layer: its output layer, or None without a
    trained one: then the strategy's seed chooses, or without one of its own the setting: the most similar pairs
    (Mussmann, Jia and Liang 2020, section 4.2), half of them or all, and, while all answers are positive, pairs from
    further down; known: keys of the labelled pairs; background: their answers, and what some strategies need besides;
    whole: the score by columns, if several are compared, trained or not: its pairs are then those to choose from, but
    for strategies that look at the pre-trained encoder alone. Raises InputError if an input is missing.
    """
    is_trained = layer is not None
    rescored = NOTHING
    if whole is not None and not STRATEGIES[settings.strategy].static:
        layer = whole.layer
        rescored = whole.rescored
    name = settings.strategy if is_trained and _can_rank(layer) else _seed(settings, background.labelled)
    if not len(dataset.train_left) or not len(dataset.train_right):
        return Batch(unscored(*np.empty((2, 0), dtype=np.int64)), name)
    search_vectors = _seen(settings.strategy, vectors, background)
    pool = Pool(
        lambda: (
            _free(dataset, rescored, known, settings)
            if len(rescored)
            else _near(dataset, search_vectors, known, settings, space, rng, progress)
        ),
        layer,
        lambda count, rng: draw_training_pairs(dataset, known, count, rng),
        settings.first,
        background,
    )
    controls = round(settings.control_share * n)
    rank = strategy(name)
    pairs = within_cap(lambda count: rank(pool, count, rng), n - controls, settings.per_text)
    if controls:
        pairs = with_controls(pairs, pool.candidates, controls, len(dataset.texts), rng)
    score = rescored.replace(pairs.left, pairs.right, scores(vectors, pairs.left, pairs.right, space))
    return Batch(replace(pairs, score=score), name, pool.searched, layer)


def _can_rank(layer: OutputLayer | None) -> bool:
    """Return whether there is a layer under which some scores are more uncertain than others."""
    return layer is not None and layer.threshold is not None


def _seed(settings: Settings, labelled: Labelled) -> str:
    """Return the strategy that chooses while there is no trained layer."""
    seed = STRATEGIES[settings.strategy].seed
    if seed != SEED_STRATEGY:
        return seed
    if 0 < labelled.positives == len(labelled):
        return SPREAD_STRATEGY
    return settings.first_batch


def _seen(strategy_name: str, vectors: np.ndarray, background: Background) -> np.ndarray:
    """Return the vectors to search candidates in."""
    if not STRATEGIES[strategy_name].static:
        return vectors
    if background.pretrained is None:
        raise InputError(f"{strategy_name} needs the vectors of the pre-trained encoder: choose another strategy here")
    return background.pretrained


def _free(dataset: Dataset, rescored: Rescored, known: np.ndarray, settings: Settings) -> Near:
    """Return the training pairs among these whose key is not known."""
    pairs = rescored.pairs
    inside = np.isin(pairs.left, dataset.train_left) & np.isin(pairs.right, dataset.train_right)
    free = inside & ~np.isin(dataset.keys(pairs.left, pairs.right), known)
    return Near(pairs.take(free), "exact", settings.neighbours)


def _near(
    dataset: Dataset,
    vectors: np.ndarray,
    known: np.ndarray,
    settings: Settings,
    space: Space,
    rng: np.random.Generator,
    progress: Progress,
) -> Near:
    """Return near training pairs whose key is not known."""
    left = dataset.train_left
    right = dataset.train_right
    sides = factors(vectors, left, right, space)
    near = near_pairs(*sides, settings.neighbours, dataset.symmetric, rng, settings.search, progress)
    pairs = Pairs(left[near.pairs.left], right[near.pairs.right], near.pairs.score)
    return replace(near, pairs=pairs.take(~np.isin(dataset.keys(pairs.left, pairs.right), known)))


def refit(vectors: np.ndarray, labelled: Labelled, space: Space) -> OutputLayer:
    """Fit the output layer of a trained encoder to the labels' scores under its current vectors (texts, d)."""
    return fit_output_layer(scores(vectors, labelled.left, labelled.right, space), labelled.label)


def evaluate_dataset(
    dataset: Dataset,
    vectors: np.ndarray,
    progress: Progress = no_progress,
    layer: OutputLayer | None = None,
    space: Space = COSINE,
    seed: int = 0,
    exact: bool = False,
    rescored: Rescored = NOTHING,
) -> AllPairs | None:
    """Return the figures over all evaluation pairs, or None without a gold positive among them.

    They are exact, unless there are so many pairs that this takes hours and `exact` does not insist: then the near
    pairs are counted, and the others sampled. An output layer adds the figures at its threshold, given negatives those
    on the known pairs. rescored: the pairs of rows that have another score than their vectors.
    """
    if not len(dataset.evaluation_positives):
        return None
    scorer = VectorScorer(vectors, layer, space, rescored)
    sides = len(dataset.evaluation_left), len(dataset.evaluation_right)
    exact = exact or count_pairs(*sides, dataset.symmetric) <= EXACT_PAIRS[default_device()]
    measured = _exact(dataset, scorer, progress) if exact else _sampled(dataset, scorer, seed, progress)
    return replace(measured, estimates={**measured.estimates, **given_figures(dataset, scorer)})


def _exact(dataset: Dataset, scorer: VectorScorer, progress: Progress) -> AllPairs:
    space = scorer.space
    layer = scorer.layer
    left = scorer.vectors[dataset.evaluation_left]
    right = left if dataset.symmetric else scorer.vectors[dataset.evaluation_right]
    measured = evaluate_exact(
        as_left(left, space),
        as_right(right, space),
        dataset.evaluation_positives,
        dataset.symmetric,
        progress=progress,
        layer=layer,
        tie=TIE * magnitude(left, right, space),
        rescored=scorer.rescored.within(dataset.evaluation_left, dataset.evaluation_right),
    )
    assert measured is not None  # there is a positive
    return measured


def _sampled(dataset: Dataset, scorer: VectorScorer, seed: int, progress: Progress) -> AllPairs:
    """Estimate by the near + random design, with the scorer's own score as the cheap one."""
    left = dataset.evaluation_left
    right = dataset.evaluation_right
    positives = dataset.evaluation_positives
    population = Population(*factors(scorer.vectors, left, right, scorer.space), positives, dataset.symmetric)

    def score(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return scorer.score(left[rows], right[columns], progress)

    rng = np.random.default_rng(seed)
    strata = near_random(population, score, SAMPLED, rng, progress)
    return estimate_from_strata(score(*positives.T), strata, NEAR_RANDOM, rng, scorer.layer)
