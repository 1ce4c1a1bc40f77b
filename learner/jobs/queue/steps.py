"""A step of a job, which waits for a database that is being restarted."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from dbos import DBOS

from allpairs.db.maintenance.error_messages import fault_of

TRIES = 8  # how often a step is tried
WAIT = 1.0  # seconds to the second try; each wait is twice the one before

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def job_step(work: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the function as a step: its result is kept, so that a job that is resumed does not repeat it.

    It must be safe to run twice. It runs again, for two minutes, while the database is away, locked or read-only.
    """
    retried = DBOS.step(
        retries_allowed=True, max_attempts=TRIES, interval_seconds=WAIT, backoff_rate=2.0, should_retry=will_pass
    )
    return retried(work)


def will_pass(error: BaseException) -> bool:
    """Return whether the error is about a database that will be back."""
    fault = fault_of(error)
    return fault is not None and fault.passes
