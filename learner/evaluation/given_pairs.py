"""Figures on known pairs, positives and negatives: what papers report where only those are labelled.

Source: Mussmann, Jia and Liang (2020), section 3.1 (accuracy and F1 of QQP, clean MAP and answer F1 of WikiQA). They
say little about all pairs: given negatives are few, and were chosen for being hard.
"""

import numpy as np

from allpairs.db.corpus.graph import components
from allpairs.db.estimate import Estimate
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.metrics.average_precision import Confusion, average_precision, curve_from_scores
from allpairs.learner.scorers.scorer import Scorer


def given_figures(dataset: Dataset, scorer: Scorer) -> dict[str, Estimate]:
    """Return the figures of the known evaluation pairs by name; none unless both classes are known.

    stated_accuracy and stated_f1 are at the scorer's threshold; with two lists, and a left item that has both a given
    positive and a given negative, also question_map and, at the threshold, question_f1 and pair_f1. Those of one list
    have the positives that closure adds, as in the paper's Table 1, unless the corpus says otherwise. Each figure is
    exact for these pairs; `labels` is their number.
    """
    left, right, label = dataset.evaluation_given.T
    positive = label == 1
    if not positive.any() or positive.all():
        return {}
    scores = scorer.score(left, right)
    threshold = scorer.layer.threshold if scorer.layer else None
    values = {} if threshold is None else _of_pairs(scores >= threshold, positive)
    if not dataset.symmetric and len(_mixed(left, positive)):
        values |= _of_questions(left, scores, positive, threshold)
    return {name: Estimate(value, value, value, "exact", len(label)) for name, value in values.items()}


def why_all_negative(dataset: Dataset) -> str:
    """Return why nothing can be measured or trained if gold names negatives alone; empty if it does not."""
    if len(dataset.positives) or not len(dataset.known_pairs):
        return ""
    negatives = f"{len(dataset.known_pairs):,} negative"
    problem = f"no known pair is positive ({negatives}), and figures over all pairs need positives"
    return f"{problem}: add pairs with label 1, or check the column label"


def why_none_to_measure(dataset: Dataset) -> str:
    """Return why no known positive is among the evaluation pairs, and what helps."""
    if not len(dataset.positives):
        return why_all_negative(dataset) or "no known pair is a match of two texts: add pairs with label 1"
    known = np.concatenate([dataset.positives, dataset.known_pairs[:, :2]])
    groups = len(np.unique(components(len(dataset.texts), known)[dataset.positives[:, 0]]))
    problem = f"none of the {len(dataset.positives):,} known matches is a pair of texts kept for measuring"
    if dataset.symmetric and groups == 1:
        return f"{problem}: they all belong to one group, which is never divided; add known matches of other texts"
    return f"{problem}: use a larger --test-fraction, or another --seed"


def _of_pairs(predicted: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    return {"stated_accuracy": float((predicted == positive).mean()), "stated_f1": pair_f1(predicted, positive)}


def _of_questions(
    questions: np.ndarray, scores: np.ndarray, positive: np.ndarray, threshold: float | None
) -> dict[str, float]:
    ranked = {"question_map": question_map(questions, scores, positive)}
    if threshold is None:
        return ranked
    return {
        **ranked,
        "question_f1": question_f1(questions, scores, positive, threshold),
        "pair_f1": pair_f1(scores >= threshold, positive),
    }


def pair_f1(predicted: np.ndarray, positive: np.ndarray) -> float:
    """Return the F1 over pairs, one reading of the paper's a-F1.

    Arrays (n,) bool; at least one pair is positive.
    """
    true = float((predicted & positive).sum())
    return Confusion(true, float(predicted.sum()) - true, float(positive.sum())).figures()["f1"]


def question_f1(questions: np.ndarray, scores: np.ndarray, positive: np.ndarray, threshold: float) -> float:
    """Return the F1 of answering each question with its best candidate, if that reaches the threshold.

    This is the released code's a-F1. A question with a positive should be answered. Arrays (n,), one entry a pair; at
    least one pair is positive.
    """
    order = np.lexsort((-scores, questions))
    best = order[np.unique(questions[order], return_index=True)[1]]
    predicted = scores[best] >= threshold
    true = float((predicted & positive[best]).sum())
    answerable = len(np.unique(questions[positive]))
    return Confusion(true, float(predicted.sum()) - true, answerable).figures()["f1"]


def question_map(questions: np.ndarray, scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the mean average precision over questions with both a positive and a negative (clean MAP).

    Arrays (n,), one entry a pair; at least one question has both.
    """
    order = np.argsort(questions, kind="stable")
    groups = np.split(order, np.unique(questions[order], return_index=True)[1][1:])
    mixed = [group for group in groups if positive[group].any() and not positive[group].all()]
    return float(np.mean([average_precision(curve_from_scores(scores[group], positive[group])) for group in mixed]))


def _mixed(questions: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return the questions with both a positive and a negative."""
    return np.intersect1d(questions[positive], questions[~positive])
