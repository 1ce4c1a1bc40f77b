"""Open the rater of a project's setup: a language model's endpoint, or a Python function in a thread of its own."""

import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module

from allpairs.db.domain import Verdict
from allpairs.db.rating import RaterKind, RaterSetup, require_usable
from allpairs.learner.light.rating.prompt import Prompt
from allpairs.learner.outside.waiting import Poll, attend, no_poll
from allpairs.learner.raters.endpoint import Endpoint
from allpairs.learner.raters.rating import PairRating, Rater, RaterError

Judge = Callable[[str, str], float | None]  # left, right: the probability of a match, from 0 to 1; None to abstain
HALF = 0.5
LONGEST = 600.0  # seconds for one pair


def open_rater(setup: RaterSetup, environment: Mapping[str, str], rng: random.Random) -> Rater:
    """Return the rater. rng: of the times it waits before it asks again.

    Raises InputError for an address that cannot be used, for a function or key that the environment does not allow, for
    a function that cannot be imported, and for a key that is not there.
    """
    require_usable(setup, environment)
    if setup.kind == RaterKind.FUNCTION:
        return find_function(setup.function)
    key = environment.get(setup.key_name) if setup.key_name else None
    if setup.key_name and not key:
        raise RaterError(f"the worker's environment has no {setup.key_name}: start the worker with it, and try again")
    if key and not (key.isascii() and key.isprintable()):  # no header may hold it, and no error show it
        raise RaterError(f"the key in {setup.key_name} has characters that no key has: copy it again")
    return Endpoint(setup.url, setup.model, key, setup.samples, rng=rng)


class FunctionRater:
    """A function that rates, in a thread of its own; p of exactly one half abstains."""

    def __init__(self, name: str, judge: Judge, thread: ThreadPoolExecutor) -> None:
        self.name = name
        self.answers = 0  # none costs anything
        self._judge = judge
        self._thread = thread

    def rate(self, prompt: Prompt, left: str, right: str, poll: Poll = no_poll) -> PairRating:
        """Return the function's verdict. Raises RaterError if it fails, is too slow, or returns no probability."""
        try:
            chance = attend(self._thread.submit(self._ask, left, right), poll, LONGEST)
        except TimeoutError:
            raise RaterError(f"{self.name} took longer than {LONGEST:g} seconds for a pair") from None
        if chance is None or chance == HALF:
            return PairRating(Verdict.ABSTAIN, chance)
        if not 0 <= chance <= 1:
            raise RaterError(f"{self.name} returned {chance}: it must return a probability from 0 to 1, or None")
        return PairRating(Verdict.YES if chance > HALF else Verdict.NO, chance)

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
