"""Consensus of annotators who err: what each pair is, and how often each annotator is right about it."""

from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-7  # of each pair's probability: a step that changes none by more is the last
MOST_STEPS = 1_000
PRIOR = 0.5  # of a right and of a wrong answer, of a match and of none (Jeffreys): one answer makes nobody infallible
CHAINS, BURN_IN, KEPT = 20, 100, 100  # of the sampler: chains, and steps of each
_LEAST = 1e-300  # what zero is taken for where its logarithm is needed


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


@dataclass(frozen=True)
class Answers:
    """What annotators said about pairs, those that are answered alike given once.

    yes, no: (pairs, annotators) how often each said so; times: (pairs,) ints, how many pairs are answered like each.
    """

    yes: np.ndarray
    no: np.ndarray
    times: np.ndarray


def answers_of(pair: np.ndarray, annotator: np.ndarray, said: np.ndarray, times: np.ndarray | None = None) -> Answers:
    """The answers as tables. pair, annotator, said: (answers,) ints from 0, and whether it was a yes.

    Raises ValueError where there is no answer.
    """
    if not len(pair):
        raise ValueError("there is no answer to make a consensus of")
    size = (pair.max() + 1, annotator.max() + 1)
    every, yes = np.zeros(size), np.zeros(size)
    np.add.at(every, (pair, annotator), 1)
    np.add.at(yes, (pair, annotator), said)
    return Answers(yes, every - yes, np.ones(size[0], dtype=np.int64) if times is None else times)


def dawid_skene(answers: Answers, prior: float = PRIOR, tolerance: float = TOLERANCE) -> Consensus:
    """The consensus by expectation-maximisation, which begins with each pair's share of yes (Dawid and Skene 1979).

    prior: what is added to the counts of right and of wrong answers, of matches and of others, so that each step
    raises the posterior; 0 is the paper's maximum likelihood.
    """
    yes, no, times = answers.yes, answers.no, answers.times
    positive = yes.sum(axis=1) / (yes + no).sum(axis=1)
    for _ in range(MOST_STEPS):
        match, other = positive * times, (1 - positive) * times
        sensitivity = _share(match @ yes, match @ no, prior)
        specificity = _share(other @ no, other @ yes, prior)
        prevalence = _share(match.sum(), other.sum(), prior)
        before, positive = positive, _chance(answers, sensitivity, specificity, prevalence)
        if np.abs(positive - before).max() < tolerance:
            break
    return Consensus(positive, sensitivity, specificity, float(prevalence))


def posterior(answers: Answers, around: Consensus, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws (draws, annotators) of every annotator's sensitivity and specificity from what the answers leave possible.

    Gibbs sampling (Paun and others 2018, with the same prior as `dawid_skene`) that begins at the consensus: what each
    pair is, then how often everyone is right about such pairs, in turn. So both are uncertain: which pairs are matches,
    and how well so many of them tell what an annotator does.
    """
    positive = np.tile(around.positive, (CHAINS, 1))
    kept = []
    for step in range(BURN_IN + KEPT):
        match = rng.binomial(answers.times, positive)
        other = answers.times - match
        sensitivity = rng.beta(match @ answers.yes + PRIOR, match @ answers.no + PRIOR)
        specificity = rng.beta(other @ answers.no + PRIOR, other @ answers.yes + PRIOR)
        prevalence = rng.beta(match.sum(axis=1) + PRIOR, other.sum(axis=1) + PRIOR)
        positive = _chance(answers, sensitivity, specificity, prevalence[:, None])
        if step >= BURN_IN:
            kept.append((sensitivity, specificity))
    drawn = np.array(kept)  # (steps, 2, chains, annotators)
    return np.concatenate(drawn[:, 0]), np.concatenate(drawn[:, 1])


def _share(right: np.ndarray, wrong: np.ndarray, prior: float) -> np.ndarray:
    return (right + prior) / np.maximum(right + wrong + 2 * prior, _LEAST)


def _chance(
    answers: Answers, sensitivity: np.ndarray, specificity: np.ndarray, prevalence: float | np.ndarray
) -> np.ndarray:
    """(..., pairs) The probability that each pair is a match, answered as it was. Shares are (..., annotators)."""
    match = _log(prevalence) + _log(sensitivity) @ answers.yes.T + _log(1 - sensitivity) @ answers.no.T
    other = _log(1 - prevalence) + _log(1 - specificity) @ answers.yes.T + _log(specificity) @ answers.no.T
    return np.exp(match - np.logaddexp(match, other))


def _log(share: float | np.ndarray) -> np.ndarray:
    return np.log(np.maximum(share, _LEAST))
