"""What a machine rater says of a pair: kept apart from people's answers, and never shown before one."""

from dataclasses import dataclass
from typing import Protocol

from allpairs.db.domain import Verdict
from allpairs.db.errors import InputError
from allpairs.learner.light.rating.prompt import Prompt
from allpairs.learner.outside.waiting import Poll, no_poll


class RaterError(InputError):
    """The rater cannot be asked: its endpoint refuses or does not answer, or its function fails."""


@dataclass(frozen=True)
class PairRating:
    """A verdict on a pair. p: the probability of a match, None if the rater gives none; tokens that it took."""

    verdict: Verdict
    p: float | None
    tokens_in: int = 0
    tokens_out: int = 0


class Rater(Protocol):
    """Something that rates pairs of texts. answers: how many it has given, each of which costs something."""

    answers: int

    def rate(self, prompt: Prompt, left: str, right: str, poll: Poll = no_poll) -> PairRating:
        """Return the verdict on these two texts. poll: called every half second meanwhile; what it raises ends it.

        Raises RaterError if it cannot be asked.
        """
