"""A Python function as a rater: what `module:function` names gives the probability of a match, or nothing."""

from collections.abc import Callable
from importlib import import_module

from allpairs.db.domain import Verdict
from allpairs.db.raters.prompt import Prompt
from allpairs.learner.raters.rating import RaterError, Rating

Judge = Callable[[str, str], float | None]  # left, right: the probability of a match, from 0 to 1; None to abstain
HALF = 0.5


class FunctionRater:
    """A function that rates; p of exactly one half abstains."""

    def __init__(self, name: str, judge: Judge) -> None:
        self.name, self._judge = name, judge

    def rate(self, prompt: Prompt, left: str, right: str) -> Rating:
        """Return the function's verdict. Raises RaterError if it fails, or returns no probability."""
        try:
            p = self._judge(left, right)
            chance = None if p is None else float(p)
        except Exception as error:
            raise RaterError(f"{self.name} failed with {type(error).__name__}: {error}") from error
        if chance is None or chance == HALF:
            return Rating(Verdict.ABSTAIN, chance)
        if not 0 <= chance <= 1:
            raise RaterError(f"{self.name} returned {chance}: it must return a probability from 0 to 1, or None")
        return Rating(Verdict.YES if chance > HALF else Verdict.NO, chance)


def find_function(name: str) -> FunctionRater:
    """Return the rater that `module:function` names. Raises RaterError if this Python cannot import it."""
    module, _, function = name.partition(":")
    try:
        judge = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise RaterError(f"{name!r} cannot be imported: {error}. Name it as module:function") from error
    if not callable(judge):
        raise RaterError(f"{name!r} is no function")
    return FunctionRater(name, judge)
