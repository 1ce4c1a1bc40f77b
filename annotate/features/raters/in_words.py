"""What a machine rater is worth, as rows of a table and as sentences."""

from allpairs.annotate.features.raters.measured import Quality, Together, Worth
from allpairs.db.estimate import Estimate
from allpairs.learner.light.stats.alternative_annotator import PAIRS, PEOPLE, AlternativeAnnotator

NOTHING = "–"
NOT_ENOUGH = (
    f"Not enough people for the alternative annotator test: it takes {PEOPLE}, each with {PAIRS} rated pairs that "
    "another one has answered, too."
)
COLUMNS = ("By score", "Answered", "Sensitivity", "Specificity", "Accuracy", "Abstains")


def quality_rows(worth: Worth) -> list[tuple[str, ...]]:
    """Return a row for all pairs and one for each band of scores; columns as COLUMNS."""
    of = [("all", worth.quality)]
    of += [(f"{band.name} ({band.low:.2f}–{band.high:.2f})", band.quality) for band in worth.bands]
    return [(name, f"{one.pairs:,}", *_cells(one)) for name, one in of]


def _cells(one: Quality) -> tuple[str, ...]:
    """Return the shares with their numbers of pairs; abstentions are among all pairs that were answered."""
    among = [with_interval(share) for share in (one.sensitivity, one.specificity, one.accuracy)]
    return *among, _interval(one.abstains) if one.abstains else NOTHING


def with_interval(found: Estimate | None) -> str:
    """Return the share with its 95% interval and its number of pairs."""
    return NOTHING if found is None else f"{_interval(found)}, n = {found.labels:,}"


def _interval(found: Estimate) -> str:
    return f"{found.value:.2f} ({found.low:.2f}–{found.high:.2f})"


def sentences(worth: Worth) -> list[str]:
    """Return what else is known: calibration, people's agreement beside the rater's, and the test."""
    found = [] if worth.error is None else [f"Expected calibration error of its probabilities: {worth.error:.2f}."]
    return [*found, _weight(worth.weight), _together(worth.together), _test(worth.test)]


def _weight(weight: float) -> str:
    if not weight:
        return "In training its verdicts would have no weight: they disagree with people's answers, or are too few."
    return f"Where verdicts train, one counts as much as {weight:.2f} of a person's label."


def _together(one: Together | None) -> str:
    if one is None:
        return "No rated pair has answers of several people, so nothing tells how far people agree with each other."
    return (
        f"On {one.pairs:,} rated pairs with several people, two people agree {_of(one.people)} of the time, the rater "
        f"and one of them {_of(one.rater)}."
    )


def _of(share: Estimate) -> str:
    return f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})"


def _test(found: AlternativeAnnotator | None) -> str:
    if found is None:
        return NOT_ENOUGH
    wins = sum(one.wins for one in found.against)
    said = "passes" if found.passes else "does not pass"
    return (
        f"It {said} the alternative annotator test (ε = {found.epsilon:g}): it holds its own against {wins} of "
        f"{len(found.against)} people, and does at least as well as a person on {found.advantage:.0%} of the pairs."
    )
