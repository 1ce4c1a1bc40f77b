"""Ask a judge about a pair."""

import random
from typing import Any

from allpairs.db.domain import RaterKind, RaterSetup, Verdict
from allpairs.db.raters.prompt import Example, Prompt
from allpairs.learner.raters.endpoint import Endpoint
from allpairs.learner.raters.opening import open_rater
from allpairs.learner.raters.rating import Rater, Rating
from tests.helpers.services.judge import Play, judging

PROMPT = Prompt(
    "Do both ask the same?",
    "Same: one answer serves both.",
    (Example("a", "b", Verdict.YES), Example("c", "d", Verdict.NO)),
)
SECRET = "sk-secret-0815"


def rate(play: Play, left: str = "x", right: str = "y", waits: list[float] | None = None, **options: Any) -> Rating:
    """Return what the judge says, which is asked again without waiting; waits: gets the seconds."""
    with judging(play) as found:
        waits = [] if waits is None else waits
        return Endpoint(found.url, "tiny", rng=random.Random(0), wait=waits.append, **options).rate(PROMPT, left, right)


def by_function(name: str) -> Rater:
    """Return the rater of a function that the operator has named."""
    setup = RaterSetup(name="x", kind=RaterKind.FUNCTION, function=name)
    return open_rater(setup, {"ALLPAIRS_RATER_FUNCTIONS": name}, random.Random(0))
