"""Ask again where that may help."""

import random
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
TRIES = 6
LONGEST_WAIT = 120.0  # seconds: an endpoint that asks for more is as good as down


class Later(Exception):
    """It failed, but may succeed later. after: seconds that it asks to wait for, if it says so."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


def patiently(call: Callable[[], Found], rng: random.Random, wait: Callable[[float], object]) -> Found:
    """Return what the call gives, tried six times while it raises Later: after about 1, 2, 4, 8 and 16 seconds.

    It waits as long as the endpoint asks, up to two minutes. Raises the last Later.
    """
    for tried in range(TRIES):
        try:
            return call()
        except Later as error:
            after = 2**tried * (0.5 + rng.random()) if error.after is None else error.after
            if tried + 1 == TRIES or after > LONGEST_WAIT:
                raise
            wait(after)
    raise AssertionError("the last try returns or raises")
