"""The engine that works on the parts of a large computation: this process, or a Ray cluster."""

import os

from allpairs.db.errors import InputError
from allpairs.learner.runtime.protocol import ENGINE, LOCAL, Engine


def default_engine() -> Engine:
    """Return the engine set in the environment: ALLPAIRS_ENGINE `local` (default) or `ray`, at ALLPAIRS_RAY_ADDRESS.

    Raises InputError for another value, and if Ray is not installed.
    """
    name = os.environ.get("ALLPAIRS_ENGINE", "local")
    if name == "local":
        return LOCAL
    if name == "ray":
        return _on_ray(os.environ.get("ALLPAIRS_RAY_ADDRESS") or None)
    raise InputError(f"{ENGINE} is {name!r}: set it to local or ray")


def _on_ray(address: str | None) -> Engine:
    """Return the cluster at the address."""
    try:
        from allpairs.learner.runtime.ray_engine import OnRay  # part of an optional requirement
    except ModuleNotFoundError as error:
        raise InputError(
            f"{ENGINE}=ray needs Ray: pip install -r requirements-cluster.txt, or set it to local"
        ) from error
    return OnRay(address)
