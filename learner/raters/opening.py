"""Open the rater of a project's setup, as far as the operator allows it, with its key from the environment."""

import random
from collections.abc import Mapping

from allpairs.db.rating import RaterKind, RaterSetup, require_usable
from allpairs.learner.raters.endpoint import Endpoint
from allpairs.learner.raters.function import find_function
from allpairs.learner.raters.rating import Rater, RaterError


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
