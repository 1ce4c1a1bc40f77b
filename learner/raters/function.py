"""A Python function as a rater: what `module:function` names gives the probability of a match, or nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module

from allpairs.db.domain import Verdict
from allpairs.learner.light.rating.prompt import Prompt
from allpairs.learner.outside.waiting import Heed, attend, no_heed
from allpairs.learner.raters.rating import RaterError, Rating

Judge = Callable[[str, str], float | None]  # left, right: the probability of a match, from 0 to 1; None to abstain
HALF = 0.5
LONGEST = 600.0  # seconds for one pair


class FunctionRater:
    """A function that rates, in a thread of its own; p of exactly one half abstains."""

    def __init__(self, name: str, judge: Judge, thread: ThreadPoolExecutor) -> None:
        self.name = name
        self.answers = 0  # none costs anything
        self._judge = judge
        self._thread = thread

    def rate(self, prompt: Prompt, left: str, right: str, heed: Heed = no_heed) -> Rating:
        """Return the function's verdict. Raises RaterError if it fails, is too slow, or returns no probability."""
        try:
            chance = attend(self._thread.submit(self._ask, left, right), heed, LONGEST)
        except TimeoutError:
            raise RaterError(f"{self.name} took longer than {LONGEST:g} seconds for a pair") from None
        if chance is None or chance == HALF:
            return Rating(Verdict.ABSTAIN, chance)
        if not 0 <= chance <= 1:
            raise RaterError(f"{self.name} returned {chance}: it must return a probability from 0 to 1, or None")
        return Rating(Verdict.YES if chance > HALF else Verdict.NO, chance)

    def _ask(self, left: str, right: str) -> float | None:
        try:
            p = self._judge(left, right)
            return None if p is None else float(p)
        except Exception as error:
            raise RaterError(f"{self.name} failed with {type(error).__name__}: {error}") from error


@cache
def find_function(name: str) -> FunctionRater:
    """Return the rater that `module:function` names. Raises RaterError if this Python cannot import it.

    The module is imported in the one thread that calls the function in this process, as some libraries want it.
    """
    thread = ThreadPoolExecutor(1, "rater")
    return FunctionRater(name, thread.submit(_imported, name).result(), thread)


def _imported(name: str) -> Judge:
    module, _, function = name.partition(":")
    try:
        judge: object = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise RaterError(f"{name!r} cannot be imported: {error}. Name it as module:function") from error
    if not callable(judge):
        raise RaterError(f"{name!r} is no function")
    return judge
