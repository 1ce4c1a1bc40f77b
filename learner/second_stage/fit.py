"""Fit the second stage: a logistic regression on labels and imputed negatives, with its prior at the first score.

Labels alone would not do: they are the pairs that the first stage finds uncertain, so they say little of the many that
it ranks a little lower. A sample of these, unlabelled, serves as negatives. docs/log.md has the measurements.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq, minimize

from allpairs.learner.models.output_layer import OutputLayer, sigmoid
from allpairs.learner.second_stage.field_features import Kinds
from allpairs.learner.second_stage.second_stage import SecondStage, features_with, standardized

# The prior in standard deviations of the sample: the first score, a constant, and each feature.
SCORE = 0.6
SCORE_DEVIATION = 0.3
BIAS_DEVIATION = 2.0
WEIGHT_DEVIATION = 0.5
LEAST_SCORE = 0.1
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


def fit(sample: FitSample, layer: OutputLayer, floor: float, kinds: Kinds) -> Fitted:
    """Fit the second stage; layer: the output layer of the first scores; kinds: of the columns that are compared.

    It keeps its layer where that is steep enough: the new scores are then the logits on its scale. A flat one, of
    labels whose first scores tell little, would leave no room between the floor and 1.
    """
    score = sample.score.astype(np.float64)
    middle = score.mean()
    spread = score.std() + 1e-6
    mean, deviation = _moments(sample.values)
    constant_column = np.ones(len(score))
    x = np.column_stack([(score - middle) / spread, constant_column, standardized(sample.values, mean, deviation)])
    signs = [sign for sign, _ in features_with(kinds).values()]
    weights = _regressed(x, sample.label.astype(np.float64), sample.weight, signs)
    slope = float(weights[0] / spread)  # the second logit for each unit of the first score
    constant = float(weights[1] - slope * middle)
    whole = layer if layer.w >= slope else OutputLayer(slope, constant)
    bias = (constant - whole.b) / whole.w
    weight = weights[2:] / whole.w
    return Fitted(SecondStage(floor, slope / whole.w, bias, mean, deviation, weight, kinds), whole)


def _moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the standard deviation of each feature where it is known, (features,) float64."""
    known = ~np.isnan(values)
    number = np.maximum(known.sum(0), 1)
    filled = np.where(known, values, 0.0).astype(np.float64)
    mean = filled.sum(0) / number
    return mean, np.sqrt((known * (filled - mean) ** 2).sum(0) / number) + 1e-6


def _regressed(x: np.ndarray, y: np.ndarray, weight: np.ndarray, signs: Sequence[int]) -> np.ndarray:
    """Return the weights (2 + features,) of score, constant and features that are likeliest with the prior.

    signs: which features may only speak for a match, 1, or against one, -1: they never count for the contrary.
    """
    prior = np.r_[SCORE, np.zeros(1 + len(signs))]
    spread = np.r_[SCORE_DEVIATION, BIAS_DEVIATION, np.full(len(signs), WEIGHT_DEVIATION)]

    def loss(t: np.ndarray) -> tuple[float, np.ndarray]:
        logits = x @ t
        distance = (t - prior) / spread
        value = np.sum(weight * (np.logaddexp(0, logits) - y * logits)) + 0.5 * np.sum(distance**2)
        return float(value), x.T @ (weight * (sigmoid(logits) - y)) + distance / spread

    bounds = [(LEAST_SCORE, None), (None, None), *map(BOUNDS.__getitem__, signs)]
    weights: np.ndarray = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x
    return weights


def cross_fitted(
    labelled: FitSample, imputed: FitSample, layer: OutputLayer, floor: float, kinds: Kinds
) -> tuple[np.ndarray, np.ndarray]:
    """Return each labelled pair's new logit, and what its features add to it, by a stage that has not seen its label.

    Both (n,) float64.
    """
    logits = np.empty(len(labelled.label))
    added = np.empty(len(labelled.label))
    for remainder, fold in _folds(labelled.label):
        part = labelled.take(remainder)
        fitted = fit(joined_samples(part, imputed), layer, floor, kinds)
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
