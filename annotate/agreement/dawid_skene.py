"""Consensus of annotators who err: what each pair is, and how often each annotator is right about it."""

from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-9  # of the mean log-likelihood, below which it is taken as risen no more
MOST_STEPS = 1_000
PRIOR = 0.5  # of a right and of a wrong answer (Jeffreys), so that one answer makes nobody infallible


@dataclass(frozen=True)
class Consensus:
    """What annotators' answers say together.

    positive: (pairs,) the probability that each is a match; sensitivity: (annotators,) the share of matches that each
    calls one; specificity: (annotators,) the share of others that each calls none; prevalence: the share of matches.
    """

    positive: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray
    prevalence: float


def dawid_skene(
    pair: np.ndarray, annotator: np.ndarray, said: np.ndarray, times: np.ndarray | None = None, prior: float = PRIOR
) -> Consensus:
    """The consensus by expectation-maximisation, which begins with each pair's share of yes (Dawid and Skene 1979).

    pair, annotator, said: (answers,) ints from 0, and whether it was a yes. times: (pairs,) how many pairs are answered
    like each, where those that are alike are given once. prior: what is added to the counts of right
    and of wrong answers; 0 is the paper's maximum likelihood. Raises ValueError where there is no answer.
    """
    if not len(pair):
        raise ValueError("there is no answer to make a consensus of")
    yes = said.astype(float)
    positive = np.bincount(pair, yes) / np.bincount(pair)
    often = np.ones(len(positive)) if times is None else times.astype(float)
    before = -np.inf
    for _ in range(MOST_STEPS):
        match, other = (positive * often)[pair], ((1 - positive) * often)[pair]
        sensitivity = _rate(annotator, match, yes, prior)
        specificity = _rate(annotator, other, 1 - yes, prior)
        prevalence = float(np.average(positive, weights=often))
        ends = (
            _chance(prevalence, sensitivity, pair, annotator, yes),
            _chance(1 - prevalence, 1 - specificity, pair, annotator, yes),
        )
        top = np.maximum(*ends)
        likely = top + np.log(np.exp(ends[0] - top) + np.exp(ends[1] - top))
        positive = np.exp(ends[0] - likely)
        now = float(np.average(likely, weights=often))
        if now - before < TOLERANCE:
            break
        before = now
    return Consensus(positive, sensitivity, specificity, prevalence)


def _rate(annotator: np.ndarray, weight: np.ndarray, right: np.ndarray, prior: float) -> np.ndarray:
    """(annotators,) The share of right answers, each weighing as much as its pair is what it is taken for."""
    whole = np.bincount(annotator, weight)
    with np.errstate(invalid="ignore"):
        return (np.bincount(annotator, weight * right) + prior) / (whole + 2 * prior)


def _chance(share: float, says_yes: np.ndarray, pair: np.ndarray, annotator: np.ndarray, yes: np.ndarray) -> np.ndarray:
    """(pairs,) The logarithm of the probability that a pair is of this kind, and is answered as it was."""
    with np.errstate(divide="ignore"):
        each = np.where(yes > 0, np.log(says_yes)[annotator], np.log1p(-says_yes)[annotator])
        return np.maximum(np.log(share), -1e3) + np.bincount(pair, np.maximum(each, -1e3))
