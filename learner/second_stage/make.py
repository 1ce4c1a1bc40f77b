"""Make a round's second stage from its labels, and decide whether it is kept."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from allpairs.db.domain import SecondStageUse
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.metrics.average_precision import average_precision, curve_from_scores
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs, count_pairs
from allpairs.learner.search.inner_product import Space
from allpairs.learner.search.nearest import searches_exactly
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.second_stage.agreement import fit_agreement
from allpairs.learner.second_stage.competition import Competition
from allpairs.learner.second_stage.field_features import FieldFeatures, cuts_of, has_agreement
from allpairs.learner.second_stage.fit import FitSample, calibrated, cross_fitted, fit, joined_samples, spanning
from allpairs.learner.second_stage.rescore import PairFeatures, best_dataset_pairs, features_of, rescore
from allpairs.learner.second_stage.second_stage import HIGHEST, SEAM, SecondStage, above

LEAST = 5  # labels of each class
LEAST_AGREEING = 1  # where an agreement of columns is there before any label
MOST_FITTED = 100_000  # candidates that an agreement is estimated from


CHANCE = 0.05  # how often features of labels that say nothing seem to tell matches from others
TOLERATED = 0.02  # loss of average precision over the labels: the encoder has seen them, the second stage has not
# Unlabelled pairs that serve as negatives: their number and weight. Above them are FIRST_RANK pairs for each training
# text, and all likely matches; they are drawn from the next WIDTH for each text, below which the first stage is sure.
IMPUTED = 1_500
IMPUTED_WEIGHT = 1.0
FIRST_RANK = 0.5
WIDTH = 1.5
LIKELY = 0.2


@dataclass(frozen=True)
class Staged:
    """A score's output layer, its second stage, if it has one, and the pairs that it scores again.

    competition: of the dataset's texts, where there is a second stage. gain: how much higher average precision over the
    labels is with a second stage, each label scored by one that has not seen it; None if it was not tried.
    """

    layer: OutputLayer
    second: SecondStage | None = None
    rescored: Rescored = NOTHING
    competition: Competition | None = None
    gain: float | None = None

    @property
    def by_columns(self) -> bool:
        """Whether its second stage starts from the agreement of columns."""
        return self.second is not None and self.second.agreement is not None

    def as_dict(self) -> dict[str, Any]:
        """Return its entries in a matcher's details: only the gain if it is not used, nothing if it was not tried."""
        if self.gain is None:
            return {}
        return {"second_stage": {"gain": self.gain, **({} if self.second is None else self.second.as_dict())}}


def make_staged(
    dataset: Dataset,
    vectors: np.ndarray,
    labelled: Labelled,
    layer: OutputLayer,
    use: SecondStageUse,
    rng: np.random.Generator,
    space: Space,
    progress: Progress = no_progress,
) -> Staged:
    """Make the second stage of the score of these vectors (texts, d) and this layer, if its use allows it.

    Where several columns are compared it starts from their agreement, and `auto` always keeps it. Else `auto` keeps it
    if the features alone, without the first score, tell matches from others among labels that its weights have not
    seen, and if it does not lower the cross-validated average precision over the labels by more than 0.02. Evaluation
    texts neither train it nor serve as negatives. There is none where all pairs are too many to look at: one that an
    approximate search missed would keep its first score, above those of the others.
    """
    if use == "off" or not _looks_at_all(dataset, space):
        return Staged(layer)
    pairs, floor = _candidates(dataset, vectors, space, progress)
    places = _places(dataset, pairs, labelled)
    label = labelled.label[places >= 0]
    fields = _field_features(dataset, pairs)
    if min(label.sum(), len(label) - label.sum()) < (LEAST_AGREEING if fields.agreement else LEAST):
        return Staged(layer)
    features = features_of(dataset, vectors, space, dataset.lexicon, dataset.symmetric, fields, progress)
    labelled_places = places[places >= 0]
    imputed = _imputed(dataset, pairs, labelled, layer, rng)
    sample = _sample(pairs.take(labelled_places), label, 1.0, features)
    negatives = _sample(pairs.take(imputed), np.zeros(len(imputed), dtype=np.int64), IMPUTED_WEIGHT, features)
    held_out, added = cross_fitted(sample, negatives, layer, floor, fields)
    before, after = (average_precision(curve_from_scores(scores, label)) for scores in (sample.score, held_out))
    gain = after - before
    if use == "auto" and not fields.agreement and (gain < -TOLERATED or not tells(added, label)):
        return Staged(layer, gain=gain)
    fitted = fit(joined_samples(sample, negatives), layer, floor, fields)
    if not fields.agreement:
        fitted = calibrated(fitted, held_out, label)
    rescored = rescore(fitted.second, pairs, features, len(dataset.texts))
    return Staged(fitted.layer, fitted.second, rescored, features.competition, gain)


def staged_without_labels(
    dataset: Dataset, vectors: np.ndarray, space: Space, progress: Progress = no_progress
) -> Staged | None:
    """Return the score by the agreement of columns alone; None without columns to compare, or for too many pairs.

    vectors: (texts, d) in the space, which only say which pairs are candidates.
    """
    if not has_agreement(dataset.kinds) or not _looks_at_all(dataset, space):
        return None
    pairs, floor = _candidates(dataset, vectors, space, progress)
    fields = _field_features(dataset, pairs)
    assert fields.agreement is not None
    layer = spanning(floor)
    logits = fields.agreement.logit(fields.figures(pairs.left, pairs.right))
    score = above((logits - layer.b) / layer.w, floor)
    return Staged(layer, rescored=Rescored(Pairs(pairs.left, pairs.right, score), len(dataset.texts)))


def _looks_at_all(dataset: Dataset, space: Space) -> bool:
    """Return whether the best pairs are found among all: an approximate search may miss some."""
    return space.distance == "cosine" and searches_exactly(len(dataset.left), len(dataset.right))


def _candidates(dataset: Dataset, vectors: np.ndarray, space: Space, progress: Progress) -> tuple[Pairs, float]:
    """Return the pairs to score again, best first, and the floor of their scores.

    It lies between the last of them and the next pair: no rounding decides which are scored again.
    """
    best = best_dataset_pairs(dataset, vectors, space, progress=progress)
    if len(best) == count_pairs(len(dataset.left), len(dataset.right), dataset.symmetric):
        return best, float(best.score.min(initial=HIGHEST)) - SEAM
    return best.take(np.arange(len(best) - 1)), float(best.score[-2:].mean())


def _field_features(dataset: Dataset, pairs: Pairs) -> FieldFeatures:
    """Return the features by column of the candidates, with their agreement if there are several."""
    fields = FieldFeatures(dataset.fields, dataset.kinds)
    if not has_agreement(fields.kinds):
        return fields
    step = 1 + len(pairs) // MOST_FITTED
    fitted = pairs.take(np.arange(0, len(pairs), step))
    texts = len(dataset.left) + (0 if dataset.symmetric else len(dataset.right))
    figures = fields.figures(fitted.left, fitted.right)
    agreement = fit_agreement(figures, cuts_of(fields.kinds), texts // step)
    return replace(fields, agreement=agreement)


def tells(values: np.ndarray, label: np.ndarray) -> bool:
    """Return whether the values of matches are higher than those of others by more than chance, one-sided.

    The test is that of Mann and Whitney (1947). Values that labels were fitted to must not be of these labels.
    """
    result = mannwhitneyu(values[label == 1], values[label == 0], alternative="greater")
    return bool(result.pvalue < CHANCE)


def _places(dataset: Dataset, pairs: Pairs, labelled: Labelled) -> np.ndarray:
    """Return the position of each labelled pair among the pairs, -1 for those that are not there."""
    keys, labelled_keys = (dataset.keys(pair_set.left, pair_set.right) for pair_set in (pairs, labelled))
    if not len(keys):
        return np.full(len(labelled_keys), -1)
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys, labelled_keys, sorter=order), len(keys) - 1)]
    return np.where(keys[place] == labelled_keys, place, -1)


def _imputed(
    dataset: Dataset, pairs: Pairs, labelled: Labelled, layer: OutputLayer, rng: np.random.Generator
) -> np.ndarray:
    """Draw unlabelled training pairs a little below the best, if any, as positions in the pairs (best first)."""
    training = np.isin(pairs.left, dataset.train_left) & np.isin(pairs.right, dataset.train_right)
    known = np.isin(dataset.keys(pairs.left, pairs.right), dataset.keys(labelled.left, labelled.right))
    free = np.flatnonzero(training & ~known)
    texts = len(dataset.train_left) + (0 if dataset.symmetric else len(dataset.train_right))
    likely = int((layer.probability(pairs.score[free]) >= LIKELY).sum())
    first = max(round(FIRST_RANK * texts), likely)
    below = free[first : first + round(WIDTH * texts)]
    return rng.choice(below, min(IMPUTED, len(below)), replace=False)


def _sample(pairs: Pairs, label: np.ndarray, weight: float, features: PairFeatures) -> FitSample:
    return FitSample(pairs.score, features.values(pairs), label, np.full(len(pairs), weight))
