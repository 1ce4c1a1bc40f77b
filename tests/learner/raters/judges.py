"""Functions that rate, or fail to."""

import time
from pathlib import Path


def sure(left: str, right: str) -> float:
    """Say that every pair matches."""
    return 0.9


def unsure(left: str, right: str) -> None:
    """Say nothing."""


def broken(left: str, right: str) -> float:
    """Fail."""
    raise ZeroDivisionError("nothing to divide by")


def wild(left: str, right: str) -> float:
    """Return what is no probability."""
    return 2.0


def touch(left: str, right: str) -> float:
    """Make a file of the first text's name."""
    Path(left).touch()
    return 0.9


def slow(left: str, right: str) -> float:
    """Take its time."""
    time.sleep(2.5)
    return 0.9
