"""Open the rater of a project's setup, with its key from the environment."""

import random
from collections.abc import Mapping

from allpairs.db.domain import RaterKind, RaterSetup
from allpairs.learner.raters.endpoint import Endpoint
from allpairs.learner.raters.function import find_function
from allpairs.learner.raters.rating import Rater, RaterError


def open_rater(setup: RaterSetup, environment: Mapping[str, str], rng: random.Random) -> Rater:
    """Return the rater. rng: of the times it waits before it asks again.

    Raises RaterError for an address or a function that cannot be used, and for a key that is not in the environment.
    """
    if setup.kind == RaterKind.FUNCTION:
        return find_function(setup.function)
    key = environment.get(setup.key_name) if setup.key_name else None
    if setup.key_name and not key:
        raise RaterError(f"the worker's environment has no {setup.key_name}: start the worker with it, and try again")
    return Endpoint(setup.url, setup.model, key, setup.samples, rng=rng)
