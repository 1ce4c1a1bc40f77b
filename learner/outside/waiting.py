"""Waits that hear a cancel: each calls a function every half second, which may raise."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

POLL_SECONDS = 0.5  # seconds between two calls of a function that may end the wait

Poll = Callable[[], object]
Outcome = TypeVar("Outcome")


def no_poll() -> None:
    """Let a wait go on."""


def rest(
    seconds: float,
    poll: Poll,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Sleep for so long. poll: called every half second."""
    end = clock() + seconds
    while (left := end - clock()) > 0:
        sleep(min(POLL_SECONDS, left))
        poll()


def attend(work: Future[Outcome], poll: Poll, seconds: float) -> Outcome:
    """Return what a thread finds out, or raise what it raises. poll: called every half second until then.

    Raises TimeoutError after so many seconds; the thread goes on.
    """
    end = time.monotonic() + seconds
    while True:
        left = max(0.0, end - time.monotonic())
        try:
            return work.result(min(POLL_SECONDS, left))
        except TimeoutError:
            if work.done():
                return work.result()
            if not left:
                raise
        poll()
