"""Which engine works at the parts of a large computation: this process, or a Ray cluster."""

import os

from db.errors import InputError
from learner.runtime.protocol import ENGINE, LOCAL, Engine


def default_engine() -> Engine:
    """The engine that the environment names: ALLPAIRS_ENGINE `local` (or nothing) or `ray`, ALLPAIRS_RAY_ADDRESS where.

    Raises InputError for another word, and where Ray is not installed.
    """
    name = os.environ.get("ALLPAIRS_ENGINE", "local")
    if name == "local":
        return LOCAL
    if name == "ray":
        return _on_ray(os.environ.get("ALLPAIRS_RAY_ADDRESS") or None)
    raise InputError(f"{ENGINE} is {name!r}: set it to local or ray")


def _on_ray(address: str | None) -> Engine:
    """The cluster at the address."""
    try:
        from learner.runtime.ray_engine import OnRay  # of an optional requirement
    except ModuleNotFoundError as error:
        raise InputError(
            f"{ENGINE}=ray needs Ray: pip install -r requirements-cluster.txt, or set it to local"
        ) from error
    return OnRay(address)
