"""Two rounds compared, pair by pair: the pairs whose probability changed most."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from allpairs.annotate.kit.jobs.prepared import (
    ExploredRound,
    Known,
    Scored,
    known_pairs,
    prepared_best_pairs,
    probability,
)

TOP = 20_000  # the best pairs of each round are compared, beside all known ones
DRAWN = 1_500  # points of the plot
BITS = 31  # of an item's id


@dataclass(frozen=True)
class ComparedPairs:
    """Pairs with both probabilities, (n,) float64, the greatest change first; scored: by the second round.

    bound: the pair is missing from one round's stored pairs, so its p there is an upper bound, and its change a lower
    bound. truth: (n,) int8, 1 or 0 where the answer is known, else -1.
    """

    scored: Scored
    before: np.ndarray
    after: np.ndarray
    bound: np.ndarray
    truth: np.ndarray

    def __len__(self) -> int:
        return len(self.before)

    @property
    def change(self) -> np.ndarray:
        """The rise of p, (n,) float64."""
        return self.after - self.before

    def take(self, chosen: np.ndarray | slice) -> "ComparedPairs":
        """Return the pairs at these positions, in this order."""
        rest = (self.before, self.after, self.bound, self.truth)
        return ComparedPairs(self.scored.take(chosen), *(column[chosen] for column in rest))


def compare_rounds(first: ExploredRound, second: ExploredRound) -> ComparedPairs:
    """Compare all known pairs and the best 20,000 of each round, by falling change of p. Both need an output layer."""
    first_pairs = _stored_pairs(first)
    second_pairs = _stored_pairs(second)
    keys = np.unique(np.concatenate([first_pairs.compared, second_pairs.compared]))
    before, bound_before = first_pairs.look_up(keys)
    after, bound_after = second_pairs.look_up(keys)
    p_before = probability(first.matcher, before)
    p_after = probability(second.matcher, after)
    assert p_before is not None and p_after is not None
    # A pair below a round's stored ones may have any lower score: use the smallest change that is certain.
    p_before = np.where(bound_before, np.minimum(p_before, p_after), p_before)
    p_after = np.where(bound_after, np.minimum(p_before, p_after), p_after)
    scored = Scored(keys >> BITS, keys & ((1 << BITS) - 1), after)
    truth = np.maximum(first_pairs.truth_of(keys), second_pairs.truth_of(keys))
    order = np.argsort(-np.abs(p_after - p_before), kind="stable")
    columns = (p_before, p_after, bound_before | bound_after, truth)
    return ComparedPairs(scored.take(order), *(column[order] for column in columns))


def drawn(compared: ComparedPairs, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of the pairs to plot: half of them the most changed, the others sampled from the rest."""
    most = np.arange(min(len(compared), DRAWN // 2))
    rest = np.arange(len(most), len(compared))
    return np.concatenate([most, rng.choice(rest, size=min(len(rest), DRAWN - len(most)), replace=False)])


def points_table(compared: ComparedPairs) -> pd.DataFrame:
    """Return one row for each pair, with both probabilities."""
    return pd.DataFrame({"p_before": compared.before, "p_after": compared.after})


def changes_table(compared: ComparedPairs, texts: Mapping[int, str]) -> pd.DataFrame:
    """Return one row for each pair: both texts, both probabilities, the change, and the known answer (1, 0, empty)."""
    left = compared.scored.left.tolist()
    right = compared.scored.right.tolist()
    return pd.DataFrame(
        {
            "text1": [texts[id_] for id_ in left],
            "text2": [texts[id_] for id_ in right],
            "p_before": compared.before,
            "p_after": compared.after,
            "change": compared.change,
            "known": pd.array([truth if truth >= 0 else None for truth in compared.truth.tolist()], dtype="Int64"),
        }
    )


@dataclass(frozen=True)
class _StoredPairs:
    """The pairs that a round has stored, by key, ascending; lowest: the score below which pairs are not stored.

    compared: the keys of the pairs to compare; known, truth: the keys of the known pairs, ascending, and their answers.
    """

    keys: np.ndarray
    score: np.ndarray
    lowest: float
    compared: np.ndarray
    known: np.ndarray
    truth: np.ndarray

    def look_up(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the score of each pair, float32, and whether it is only an upper bound."""
        places, is_stored = _places(self.keys, keys)
        return np.where(is_stored, self.score[places], np.float32(self.lowest)), ~is_stored

    def truth_of(self, keys: np.ndarray) -> np.ndarray:
        """Return the known answer of each pair, (n,) int8; -1 where there is none."""
        if not len(self.known):
            return np.full(len(keys), -1, dtype=np.int8)
        places, is_known = _places(self.known, keys)
        return np.where(is_known, self.truth[places], np.int8(-1))


def _stored_pairs(round_: ExploredRound) -> _StoredPairs:
    best = prepared_best_pairs(round_)
    known = known_pairs(round_)
    of_best = _keys(best)
    of_known = _keys(known.scored)
    keys, first = np.unique(np.concatenate([of_best, of_known]), return_index=True)
    order = np.argsort(of_known)
    return _StoredPairs(
        keys,
        np.concatenate([best.score, known.scored.score])[first],
        float(best.score[-1]),
        np.concatenate([of_best[:TOP], of_known]),
        of_known[order],
        known.truth[order],
    )


def _places(keys: np.ndarray, searched: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of each wanted key among the ascending ones, and whether it is there."""
    places = np.minimum(np.searchsorted(keys, searched), len(keys) - 1)
    return places, keys[places] == searched


def _keys(scored: Scored) -> np.ndarray:
    """Return one int64 for each pair of items, equal for equal pairs."""
    keys: np.ndarray = (scored.left << BITS) | scored.right
    return keys


def confident_mistakes(known: Known) -> Scored:
    """Return the known negatives, the highest score first: p rises with the score, so the model is surest of these."""
    negatives = known.scored.take(known.truth == 0)
    return negatives.take(np.argsort(-negatives.score, kind="stable"))


def missed_positives(known: Known) -> Scored:
    """Return the known positives, the lowest score first."""
    positives = known.scored.take(known.truth == 1)
    return positives.take(np.argsort(positives.score, kind="stable"))


def wrong_above(scored: Scored, threshold: float) -> int:
    """Return how many of the pairs score at least `threshold`."""
    return int((scored.score >= threshold).sum())
