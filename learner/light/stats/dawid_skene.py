"""Consensus of fallible annotators: what each pair is, and how often each annotator is right."""

from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-7  # the iteration stops once no pair's probability changes by more
MOST_STEPS = 1_000
PRIOR = 0.5  # pseudo-count (Jeffreys) of right and wrong answers, matches and others: one answer proves little
CHAINS = 20  # of the Gibbs sampler
BURN_IN = 100  # first steps of each chain, which are dropped
STEPS = 100  # steps of each chain after these
_LEAST = 1e-300  # the least value whose logarithm is taken


@dataclass(frozen=True)
class Consensus:
    """What annotators' answers say together.

    positive: (pairs,) the probability that each is a match; sensitivity: (annotators,) the share of matches that each
    annotator calls a match; specificity: (annotators,) the share of other pairs that each calls no match; prevalence:
    the share of matches.
    """

    positive: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray
    prevalence: float


@dataclass(frozen=True)
class Answers:
    """Annotators' answers about pairs. Pairs with the same answers are given once.

    yes, no: (pairs, annotators) how often each said so; times: (pairs,) ints, how many pairs have these answers.
    """

    yes: np.ndarray
    no: np.ndarray
    times: np.ndarray


def answers_of(
    pair: np.ndarray, annotator: np.ndarray, positive: np.ndarray, times: np.ndarray | None = None
) -> Answers:
    """Return the answers as tables. pair, annotator, positive: (answers,) ints from 0, and whether each was a yes.

    Raises ValueError where there is no answer.
    """
    if not len(pair):
        raise ValueError("there is no answer to make a consensus of")
    size = (pair.max() + 1, annotator.max() + 1)
    counts = np.zeros(size)
    yes = np.zeros(size)
    np.add.at(counts, (pair, annotator), 1)
    np.add.at(yes, (pair, annotator), positive)
    return Answers(yes, counts - yes, np.ones(size[0], dtype=np.int64) if times is None else times)


def dawid_skene(answers: Answers, prior: float = PRIOR, tolerance: float = TOLERANCE) -> Consensus:
    """Return the consensus by expectation-maximization from each pair's share of yes (Dawid and Skene 1979).

    prior: pseudo-counts of right and wrong answers, of matches and others, so that each step raises the posterior; 0
    is the paper's maximum likelihood.
    """
    yes = answers.yes
    no = answers.no
    times = answers.times
    positive = yes.sum(axis=1) / (yes + no).sum(axis=1)
    for _ in range(MOST_STEPS):
        match = positive * times
        negative = (1 - positive) * times
        sensitivity = _share(match @ yes, match @ no, prior)
        specificity = _share(negative @ no, negative @ yes, prior)
        prevalence = _share(match.sum(), negative.sum(), prior)
        before = positive
        positive = _chance(answers, sensitivity, specificity, prevalence)
        if np.abs(positive - before).max() < tolerance:
            break
    return Consensus(positive, sensitivity, specificity, float(prevalence))


def posterior(answers: Answers, around: Consensus, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return draws (draws, annotators) of each annotator's sensitivity and specificity from their posterior.

    Gibbs sampling (Paun and others 2018, with the same prior as `dawid_skene`) starts at the consensus and draws, in
    turn, what each pair is and how often each annotator is right about such pairs. The draws thus reflect both kinds
    of uncertainty: which pairs are matches, and how accurate each annotator is.
    """
    positive = np.tile(around.positive, (CHAINS, 1))
    draws = []
    for step in range(BURN_IN + STEPS):
        match = rng.binomial(answers.times, positive)
        negative = answers.times - match
        sensitivity = rng.beta(match @ answers.yes + PRIOR, match @ answers.no + PRIOR)
        specificity = rng.beta(negative @ answers.no + PRIOR, negative @ answers.yes + PRIOR)
        prevalence = rng.beta(match.sum(axis=1) + PRIOR, negative.sum(axis=1) + PRIOR)
        positive = _chance(answers, sensitivity, specificity, prevalence[:, None])
        if step >= BURN_IN:
            draws.append((sensitivity, specificity))
    drawn = np.array(draws)  # (steps, 2, chains, annotators)
    return np.concatenate(drawn[:, 0]), np.concatenate(drawn[:, 1])


def _share(right: np.ndarray, wrong: np.ndarray, prior: float) -> np.ndarray:
    return (right + prior) / np.maximum(right + wrong + 2 * prior, _LEAST)


def _chance(
    answers: Answers, sensitivity: np.ndarray, specificity: np.ndarray, prevalence: float | np.ndarray
) -> np.ndarray:
    """Return the probability (..., pairs) that each pair is a match, given its answers. Shares: (..., annotators)."""
    match = _log(prevalence) + _log(sensitivity) @ answers.yes.T + _log(1 - sensitivity) @ answers.no.T
    no_match = _log(1 - prevalence) + _log(1 - specificity) @ answers.yes.T + _log(specificity) @ answers.no.T
    return np.exp(match - np.logaddexp(match, no_match))


def _log(share: float | np.ndarray) -> np.ndarray:
    return np.log(np.maximum(share, _LEAST))
