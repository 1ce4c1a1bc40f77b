"""What a machine rater is worth, on the pairs that people answered without seeing what it said."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from allpairs.db.domain import DECIDED, AnswerKind, Verdict
from allpairs.db.estimate import Estimate, wilson
from allpairs.db.labels.pairs import Pair
from allpairs.db.raters.judged import Judged
from allpairs.learner.light.stats.alternative_annotator import AlternativeAnnotator, alternative_annotator

METHOD = "Wilson"
BANDS = ("lowest third", "middle third", "highest third")  # of the scores
TENTHS = 10
FEWEST = 30  # pairs with a score, from which on bands are told apart

Votes = Sequence[tuple[int, int, str, AnswerKind]]  # left_id, right_id, annotator, answer


@dataclass(frozen=True)
class Quality:
    """How a rater did on some pairs; None where there is nothing to divide by.

    Abstentions count in `abstains` alone: the other shares are among the pairs of which it said yes or no.
    """

    pairs: int
    sensitivity: Estimate | None  # of matches: called a match
    specificity: Estimate | None  # of the others: called none
    accuracy: Estimate | None
    abstains: Estimate | None


@dataclass(frozen=True)
class Band:
    """The quality among the pairs whose scores lie between two, both included."""

    name: str
    low: float
    high: float
    quality: Quality


@dataclass(frozen=True)
class Tenth:
    """The verdicts whose p lies in one tenth: the mean of p, and the share of matches with its 95% interval."""

    p_from: float
    p_to: float
    p: float
    share: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True)
class Together:
    """On pairs with answers of several people: how often two of them agree, and how often the rater and one of them.

    Both are means over the same pairs. An abstention agrees with nobody.
    """

    pairs: int
    people: Estimate
    rater: Estimate


@dataclass(frozen=True)
class Worth:
    """What a rater is worth. error: the expected calibration error (ECE); None without probabilities.

    weight: what a verdict counts beside a person's label where verdicts train.
    """

    quality: Quality
    bands: list[Band]
    calibration: list[Tenth]
    error: float | None
    together: Together | None
    test: AlternativeAnnotator | None
    weight: float

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "quality": asdict(self.quality),
            "bands": [asdict(band) for band in self.bands],
            "weight": self.weight,
            "calibration": [asdict(one) for one in self.calibration],
            "calibration_error": self.error,
            "together": self.together and asdict(self.together),
            "alternative_annotator": self.test and asdict(self.test) | {"passes": self.test.passes},
        }


def worth_of(judged: Sequence[Judged], verdicts: Mapping[Pair, Verdict], votes: Votes, weight: float = 0.0) -> Worth:
    """Return what the rater is worth.

    judged: its verdicts on pairs that people answered; verdicts: all of them; votes: on pairs with several answers;
    weight: of a verdict in training.
    """
    shared = _opinions(votes, verdicts)
    said = [_as_match(verdicts[pair]) for pair in shared]
    tenths = calibration_of(judged)
    return Worth(
        quality_of(judged),
        _bands(judged),
        tenths,
        _calibration_error(tenths),
        _together(shared, said),
        alternative_annotator(list(shared.values()), said),
        weight,
    )


def quality_of(judged: Sequence[Judged]) -> Quality:
    """Return how the rater did on these pairs, with 95% intervals (Wilson 1927)."""
    said = [one for one in judged if one.verdict != Verdict.ABSTAIN]
    right = [_as_match(one.verdict) == one.match for one in said]

    def among(match: bool) -> Estimate | None:
        hits = [hit for hit, one in zip(right, said, strict=True) if one.match is match]
        return share(sum(hits), len(hits))

    return Quality(
        len(judged),
        among(True),
        among(False),
        share(sum(right), len(said)),
        share(len(judged) - len(said), len(judged)),
    )


def share(hits: float, n: int) -> Estimate | None:
    """Return hits / n with its 95% interval; None of nothing."""
    return Estimate(hits / n, *wilson(hits, n), METHOD, n) if n else None


def calibration_of(judged: Sequence[Judged]) -> list[Tenth]:
    """Return each tenth of p that holds verdicts: mean p, share of matches with its 95% interval, pairs."""
    known = [(one.p, one.match) for one in judged if one.p is not None]
    p, match = np.array(known, dtype=float).reshape(-1, 2).T
    at = np.minimum((p * TENTHS).astype(int), TENTHS - 1)
    return [_tenth(int(place), p[at == place], match[at == place]) for place in np.unique(at)]


def _tenth(place: int, p: np.ndarray, match: np.ndarray) -> Tenth:
    low, high = wilson(float(match.sum()), len(match))
    return Tenth(place / TENTHS, (place + 1) / TENTHS, float(p.mean()), float(match.mean()), low, high, len(match))


def _calibration_error(tenths: Sequence[Tenth]) -> float | None:
    """Return the expected calibration error: the mean distance of p and share, over pairs."""
    pairs = sum(one.pairs for one in tenths)
    return sum(abs(one.p - one.share) * one.pairs for one in tenths) / pairs if pairs else None


def _bands(judged: Sequence[Judged]) -> list[Band]:
    """Return the quality by thirds of the score, the lowest first; empty with fewer than 30 scores."""
    scored = sorted((one for one in judged if one.score is not None), key=lambda one: one.score or 0.0)
    if len(scored) < FEWEST:
        return []
    parts = np.array_split(np.arange(len(scored)), len(BANDS))
    of = {name: [scored[at] for at in part] for name, part in zip(BANDS, parts, strict=True)}
    return [Band(name, some[0].score or 0.0, some[-1].score or 0.0, quality_of(some)) for name, some in of.items()]


def _opinions(votes: Votes, verdicts: Mapping[Pair, Verdict]) -> dict[Pair, dict[str, bool]]:
    """Return who called each rated pair a match, for pairs on which two people or more said yes or no."""
    said: dict[Pair, dict[str, bool]] = defaultdict(dict)
    for left, right, who, answer in votes:
        if answer in DECIDED and (left, right) in verdicts:
            said[left, right][who] = answer == AnswerKind.POSITIVE
    return {pair: people for pair, people in said.items() if len(people) > 1}


def _together(shared: Mapping[Pair, Mapping[str, bool]], said: Sequence[bool | None]) -> Together | None:
    if not shared:
        return None
    people = [np.mean([one == other for one, other in combinations(of.values(), 2)]) for of in shared.values()]
    both = zip(shared.values(), said, strict=True)
    rater = [np.mean([one == verdict for one in of.values()]) for of, verdict in both]
    among, with_rater = (share(float(sum(part)), len(shared)) for part in (people, rater))
    return Together(len(shared), among, with_rater) if among and with_rater else None


def _as_match(verdict: Verdict) -> bool | None:
    return {Verdict.YES: True, Verdict.NO: False}.get(verdict)
