"""Fit the second stage: a logistic regression on labels and imputed negatives, with its prior at the first score.

Labels alone would not do: they are the pairs that the first stage finds uncertain, so they say little of the many that
it ranks a little lower. A sample of these, unlabelled, serves as negatives. docs/log.md has the measurements.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq, minimize

from allpairs.learner.models.output_layer import OutputLayer, sigmoid
from allpairs.learner.second_stage.field_features import FieldFeatures
from allpairs.learner.second_stage.second_stage import HIGHEST, SecondStage, features_with, standardized

# The prior in standard deviations of the sample: the first score, a constant, and each feature.
SCORE = 0.6
SCORE_DEVIATION = 0.3
# Beside an agreement of columns: its logit as it is, and less of the first score, whose encoder has seen the labels.
AGREEMENT = 1.0
AGREEMENT_DEVIATION = 0.3
SCORE_BESIDE = 0.3
SCORE_BESIDE_DEVIATION = 0.1
BIAS_DEVIATION = 2.0
WEIGHT_DEVIATION = 0.5
LEAST_SCORE = 0.1
ROOM = 10.0  # logits from one half to the floor, and to a score of 1
BOUNDS = {1: (0.0, None), -1: (None, 0.0), 0: (None, None)}  # of a feature's weight by its sign
FOLDS = 5
MOST_SHIFT = 1_000.0  # of a logit: any label is certain there


@dataclass(frozen=True)
class FitSample:
    """Pairs to fit on: first scores (n,), features (n, f), labels 0 or 1 (n,), and weights (n,)."""

    score: np.ndarray
    values: np.ndarray
    label: np.ndarray
    weight: np.ndarray

    def take(self, chosen: np.ndarray) -> "FitSample":
        """Return the pairs at these positions."""
        return FitSample(self.score[chosen], self.values[chosen], self.label[chosen], self.weight[chosen])


@dataclass(frozen=True)
class Fitted:
    """A second stage, and the output layer of its scores and of those below its floor."""

    second: SecondStage
    layer: OutputLayer


def fit(sample: FitSample, layer: OutputLayer, floor: float, fields: FieldFeatures) -> Fitted:
    """Fit the second stage; layer: the output layer of the first scores; fields: the features by column.

    It keeps its layer where that is steep enough: the new scores are then the logits on its scale. A flat one, of
    labels whose first scores tell little, would leave no room between the floor and 1. An agreement of columns needs
    much of it.
    """
    score = sample.score.astype(np.float64)
    middle = score.mean()
    spread = score.std() + 1e-6
    mean, deviation = _moments(sample.values)
    constant_column = np.ones(len(score))
    x = np.column_stack([(score - middle) / spread, constant_column, standardized(sample.values, mean, deviation)])
    signs = [sign for sign, _ in features_with(fields.kinds).values()]
    prior = np.r_[SCORE, np.zeros(1 + len(signs))]
    prior_deviation = np.r_[SCORE_DEVIATION, BIAS_DEVIATION, np.full(len(signs), WEIGHT_DEVIATION)]
    if fields.agreement:
        prior[0] = SCORE_BESIDE
        prior_deviation[0] = SCORE_BESIDE_DEVIATION
        prior[-1] = AGREEMENT * deviation[-1]
        prior_deviation[-1] = AGREEMENT_DEVIATION * deviation[-1]
    weights = _regressed(x, sample, signs, prior, prior_deviation)
    slope = float(weights[0] / spread)  # the second logit for each unit of the first score
    constant = float(weights[1] - slope * middle)
    steep = layer if layer.w >= slope else OutputLayer(slope, constant)
    whole = spanning(floor) if fields.agreement else steep
    bias = (constant - whole.b) / whole.w
    weight = weights[2:] / whole.w
    second = SecondStage(floor, slope / whole.w, bias, mean, deviation, weight, fields.kinds, fields.agreement)
    return Fitted(second, whole)


def spanning(floor: float) -> OutputLayer:
    """Return the layer whose logits run from -10 at the floor to 10 at a score of 1."""
    w = 2 * ROOM / (HIGHEST - floor)
    return OutputLayer(w, ROOM - w * HIGHEST)


def _moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the standard deviation of each feature where it is known, (features,) float64."""
    known = ~np.isnan(values)
    number = np.maximum(known.sum(0), 1)
    filled = np.where(known, values, 0.0).astype(np.float64)
    mean = filled.sum(0) / number
    return mean, np.sqrt((known * (filled - mean) ** 2).sum(0) / number) + 1e-6


def _regressed(
    x: np.ndarray, sample: FitSample, signs: Sequence[int], prior: np.ndarray, deviation: np.ndarray
) -> np.ndarray:
    """Return the weights (2 + features,) of score, constant and features that are likeliest with the normal prior.

    signs: which features may only speak for a match, 1, or against one, -1: they never count for the contrary.
    """
    y = sample.label.astype(np.float64)

    def loss(t: np.ndarray) -> tuple[float, np.ndarray]:
        logits = x @ t
        distance = (t - prior) / deviation
        value = np.sum(sample.weight * (np.logaddexp(0, logits) - y * logits)) + 0.5 * np.sum(distance**2)
        return float(value), x.T @ (sample.weight * (sigmoid(logits) - y)) + distance / deviation

    bounds = [(LEAST_SCORE, None), (None, None), *map(BOUNDS.__getitem__, signs)]
    weights: np.ndarray = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x
    return weights


def cross_fitted(
    labelled: FitSample, imputed: FitSample, layer: OutputLayer, floor: float, fields: FieldFeatures
) -> tuple[np.ndarray, np.ndarray]:
    """Return each labelled pair's new logit, and what its features add to it, by a stage that has not seen its label.

    Both (n,) float64.
    """
    logits = np.empty(len(labelled.label))
    added = np.empty(len(labelled.label))
    for remainder, fold in _folds(labelled.label):
        part = labelled.take(remainder)
        fitted = fit(joined_samples(part, imputed), layer, floor, fields)
        values = labelled.values[fold]
        logits[fold] = fitted.layer.logit(fitted.second.score(labelled.score[fold], values))
        added[fold] = fitted.layer.w * fitted.second.added(values).sum(1)
    return logits, added


def calibrated(fitted: Fitted, logits: np.ndarray, label: np.ndarray) -> Fitted:
    """Return the same with the bias that gives labels of both classes, by their `cross_fitted` logits, their mean p.

    Some of the pairs that served as negatives are matches, which makes p too low: not that of the labels.
    """
    shift = brentq(lambda amount: float(sigmoid(logits + amount).mean() - label.mean()), -MOST_SHIFT, MOST_SHIFT)
    return replace(fitted, second=replace(fitted.second, bias=fitted.second.bias + shift / fitted.layer.w))


def joined_samples(first: FitSample, second: FitSample) -> FitSample:
    """Return the pairs of both."""
    columns = ("score", "values", "label", "weight")
    return FitSample(*(np.concatenate([getattr(first, name), getattr(second, name)]) for name in columns))


def _folds(label: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield positions of the others, and of each fold: both classes are dealt out in turn."""
    fold = np.empty(len(label), dtype=np.int64)
    for value in (0, 1):
        positions = np.flatnonzero(label == value)
        fold[positions] = np.arange(len(positions)) % FOLDS
    for number in range(FOLDS):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
