"""What a machine rater is worth, on the pairs that people answered without seeing what it said."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from pydantic import Field

from allpairs.annotate.kit.api import ApiOutput
from allpairs.db.domain import DECIDED, AnswerKind, Verdict
from allpairs.db.estimate import Estimate, wilson
from allpairs.db.labels.pairs import Pair
from allpairs.db.rating import Judged
from allpairs.learner.light.stats.alternative_annotator import (
    PAIRS,
    PEOPLE,
    AlternativeAnnotator,
    alternative_annotator,
)
from allpairs.learner.light.stats.reliability import Tenth, tenths

METHOD = "Wilson"
BANDS = ("lowest third", "middle third", "highest third")  # of the scores
FEWEST = 30  # pairs with a score, from which on bands are told apart
NOTHING = "–"
NOT_ENOUGH = (
    f"Not enough people for the alternative annotator test: it takes {PEOPLE}, each with {PAIRS} rated pairs that "
    "another one has answered, too."
)
COLUMNS = ("By score", "Answered", "Sensitivity", "Specificity", "Accuracy", "Abstains")

Votes = Sequence[tuple[int, int, str, AnswerKind]]  # left_id, right_id, annotator, answer


class RaterQuality(ApiOutput):
    """How verdicts compare with people's answers on some pairs; null where there is nothing to divide by.

    Abstentions count in `abstains` alone: the other shares are among the pairs of which it said yes or no.
    """

    pairs: int
    sensitivity: Estimate | None = Field(description="Of the matches: called a match.")
    specificity: Estimate | None = Field(description="Of the others: called none.")
    accuracy: Estimate | None = Field(description="Share of its yes and no that people say, too.")
    abstains: Estimate | None


class RaterBand(ApiOutput):
    """The same among pairs whose scores lie between `low` and `high`, both included."""

    name: str
    low: float
    high: float
    quality: RaterQuality


class RaterAndPeople(ApiOutput):
    """On pairs with answers of several people: how often two of them agree, and how often the rater and one of them.

    Both are means over the same pairs. An abstention agrees with nobody.
    """

    pairs: int
    people: Estimate
    rater: Estimate


class RaterWorth(ApiOutput):
    """What a machine rater is worth, on pairs that people answered without seeing what it said."""

    quality: RaterQuality
    bands: list[RaterBand] = Field(description="By thirds of the matcher's scores; empty with fewer than 30.")
    calibration: list[Tenth] = Field(description="Of its probabilities; empty without them.")
    calibration_error: float | None = Field(description="The expected calibration error.")
    weight: float = Field(description="What a verdict counts beside a person's label where verdicts train; 0: nothing.")
    together: RaterAndPeople | None = Field(description="Null: no rated pair has answers of several people.")
    alternative_annotator: AlternativeAnnotator | None = Field(description="Null: too few people or pairs.")


def worth_of(
    judged: Sequence[Judged], verdicts: Mapping[Pair, Verdict], votes: Votes, weight: float = 0.0
) -> RaterWorth:
    """Return what the rater is worth.

    judged: its verdicts on pairs that people answered; verdicts: all of them; votes: on pairs with several answers;
    weight: of a verdict in training.
    """
    opinions = _opinions(votes, verdicts)
    rater = [_as_match(verdicts[pair]) for pair in opinions]
    calibration = _calibration(judged)
    return RaterWorth(
        quality=_quality(judged),
        bands=_bands(judged),
        calibration=calibration,
        calibration_error=_calibration_error(calibration),
        weight=weight,
        together=_together(list(opinions.values()), rater),
        alternative_annotator=alternative_annotator(list(opinions.values()), rater),
    )


def _quality(judged: Sequence[Judged]) -> RaterQuality:
    """Return how the rater did on these pairs, with 95% intervals (Wilson 1927)."""
    decided = [pair for pair in judged if pair.verdict != Verdict.ABSTAIN]

    def hits(pairs: Sequence[Judged]) -> Estimate | None:
        return _share(sum(_as_match(pair.verdict) == pair.match for pair in pairs), len(pairs))

    return RaterQuality(
        pairs=len(judged),
        sensitivity=hits([pair for pair in decided if pair.match]),
        specificity=hits([pair for pair in decided if not pair.match]),
        accuracy=hits(decided),
        abstains=_share(len(judged) - len(decided), len(judged)),
    )


def _share(hits: float, n: int) -> Estimate | None:
    """Return hits / n with its 95% interval; None if n is 0."""
    return Estimate(hits / n, *wilson(hits, n), METHOD, n) if n else None


def _calibration(judged: Sequence[Judged]) -> list[Tenth]:
    rated = [(pair.p, pair.match) for pair in judged if pair.p is not None]
    p, match = np.array(rated, dtype=float).reshape(-1, 2).T
    return tenths(p, match, np.ones(len(p)))


def _calibration_error(calibration: Sequence[Tenth]) -> float | None:
    """Return the expected calibration error: the mean distance of p and share, over pairs."""
    pairs = sum(tenth.pairs for tenth in calibration)
    return sum(abs(tenth.p - tenth.share) * tenth.pairs for tenth in calibration) / pairs if pairs else None


def _bands(judged: Sequence[Judged]) -> list[RaterBand]:
    """Return the quality by thirds of the score, the lowest first; empty with fewer than 30 scores."""
    scored = sorted((pair.score, place) for place, pair in enumerate(judged) if pair.score is not None)
    if len(scored) < FEWEST:
        return []
    bands = []
    for name, places in zip(BANDS, np.array_split(np.arange(len(scored)), len(BANDS)), strict=True):
        third = [scored[place] for place in places]
        quality = _quality([judged[place] for _, place in third])
        bands.append(RaterBand(name=name, low=third[0][0], high=third[-1][0], quality=quality))
    return bands


def _opinions(votes: Votes, verdicts: Mapping[Pair, Verdict]) -> dict[Pair, dict[str, bool]]:
    """Return who called each rated pair a match, for pairs on which two people or more said yes or no."""
    opinions: dict[Pair, dict[str, bool]] = defaultdict(dict)
    for left, right, annotator, answer in votes:
        if answer in DECIDED and (left, right) in verdicts:
            opinions[left, right][annotator] = answer == AnswerKind.POSITIVE
    return {pair: people for pair, people in opinions.items() if len(people) > 1}


def _together(opinions: Sequence[Mapping[str, bool]], rater: Sequence[bool | None]) -> RaterAndPeople | None:
    """Return how often people agree with each other and with the rater; None without pairs."""
    among = [np.mean([a == b for a, b in combinations(people.values(), 2)]) for people in opinions]
    with_rater = [
        np.mean([answer == match for answer in people.values()]) for people, match in zip(opinions, rater, strict=True)
    ]
    people_agree = _share(float(sum(among)), len(opinions))
    rater_agrees = _share(float(sum(with_rater)), len(opinions))
    if people_agree is None or rater_agrees is None:
        return None
    return RaterAndPeople(pairs=len(opinions), people=people_agree, rater=rater_agrees)


def _as_match(verdict: Verdict) -> bool | None:
    return {Verdict.YES: True, Verdict.NO: False}.get(verdict)


def quality_rows(worth: RaterWorth) -> list[tuple[str, ...]]:
    """Return a row for all pairs and one for each band of scores; columns as COLUMNS."""
    rows = [("all", worth.quality)]
    rows += [(f"{band.name} ({band.low:.2f}–{band.high:.2f})", band.quality) for band in worth.bands]
    return [(name, f"{quality.pairs:,}", *_cells(quality)) for name, quality in rows]


def _cells(quality: RaterQuality) -> tuple[str, ...]:
    """Return the shares with their numbers of pairs; abstentions are among all pairs that were answered."""
    shares = (quality.sensitivity, quality.specificity, quality.accuracy)
    cells = [NOTHING if share is None else f"{_interval(share)}, n = {share.labels:,}" for share in shares]
    return *cells, _interval(quality.abstains) if quality.abstains else NOTHING


def _interval(share: Estimate) -> str:
    return f"{share.value:.2f} ({share.low:.2f}–{share.high:.2f})"


def worth_sentences(worth: RaterWorth) -> list[str]:
    """Return what else is known: calibration, people's agreement beside the rater's, and the test."""
    sentences = [_weight(worth.weight), _agreement(worth.together), _test(worth.alternative_annotator)]
    if worth.calibration_error is None:
        return sentences
    return [f"Expected calibration error of its probabilities: {worth.calibration_error:.2f}.", *sentences]


def _weight(weight: float) -> str:
    if not weight:
        return "In training its verdicts would have no weight: they disagree with people's answers, or are too few."
    return f"Where verdicts train, one counts as much as {weight:.2f} of a person's label."


def _agreement(together: RaterAndPeople | None) -> str:
    if together is None:
        return "No rated pair has answers of several people, so nothing tells how far people agree with each other."
    return (
        f"On {together.pairs:,} rated pairs with several people, two people agree {_percent(together.people)} of the "
        f"time, the rater and one of them {_percent(together.rater)}."
    )


def _percent(share: Estimate) -> str:
    return f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})"


def _test(test: AlternativeAnnotator | None) -> str:
    if test is None:
        return NOT_ENOUGH
    wins = sum(person.wins for person in test.against)
    result = "passes" if test.passes else "does not pass"
    return (
        f"It {result} the alternative annotator test (ε = {test.epsilon:g}): it holds its own against {wins} of "
        f"{len(test.against)} people, and does at least as well as a person on {test.advantage:.0%} of the pairs."
    )
