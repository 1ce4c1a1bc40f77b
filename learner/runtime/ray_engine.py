"""Parts of a stage as tasks of a Ray cluster. Ray schedules, moves and repeats them; we only define them."""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import ray
from ray.exceptions import (
    ObjectStoreFullError,
    OutOfDiskError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
)
from ray.remote_function import RemoteFunction

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.protocol import ADDRESS, ENGINE, LOCAL, Part, Result, Work, slices

AHEAD = 2  # parts for each process that run or wait to be fetched: the store never holds more results
ROUNDS = 3  # parts for each process if their size is free: the last ones then delay nobody for long
RETRIES = 10  # of a part whose process or machine is lost
CONNECT = 5.0  # seconds until an address counts as wrong
LOOK = 1.0  # seconds between two checks for cancellation
# Environment variables that tasks need to find code and models as we do.
CARRIED = ("HF_HUB_OFFLINE", "PYTHONPATH", "ALLPAIRS_HOME", "ALLPAIRS_ARTIFACTS")


class OnRay:
    """The cluster at an address; without one a cluster of this machine alone, which ends with the process.

    Connects on first use, once for each process.
    """

    def __init__(self, address: str | None = None) -> None:
        self.address = address

    def map(
        self,
        make: Callable[..., Work[Part, Result]],
        arguments: Sequence[Any],
        parts: Sequence[Part],
        stage: str,
        progress: Progress = no_progress,
        on_device: bool = True,
    ) -> Iterator[Result]:
        """Do as `Engine.map`. A single part is computed here, so that nothing needs to be moved.

        A part whose process, machine or memory is lost is repeated. Raises InputError if no cluster answers, and if it
        has no room for what is given.
        """
        if len(parts) < 2:
            yield from LOCAL.map(make, arguments, parts, stage, progress)
            return
        _connect(self.address)
        waiting: deque[ray.ObjectRef] = deque()
        left = deque(parts)
        try:
            shared = {
                id(argument): ray.put(argument) for argument in arguments
            }  # an object that is given twice is moved once
            task = self._task(on_device)
            most = AHEAD * self._processes(on_device)
            for count in range(len(parts)):
                while left and len(waiting) < most:
                    waiting.append(task.remote(make, left.popleft(), *(shared[id(argument)] for argument in arguments)))
                yield _first(waiting, stage, progress, count / len(parts))
            progress(stage, 1.0)
        except (ObjectStoreFullError, OutOfDiskError, OutOfMemoryError) as error:  # here, or in a part of its result
            raise InputError(
                f"the Ray cluster has no room to {stage}: give its nodes more memory or disk (object_store_memory), or "
                f"add nodes; {ENGINE}=local works in this process alone"
            ) from error
        except RayTaskError as error:
            raise error.cause from error
        except RayError as error:
            first_line = str(error).strip().splitlines()[0]
            raise InputError(f"the Ray cluster could not {stage}: {first_line}; see its logs") from error
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)

    def parts(self, n: int, least: int, most: int) -> list[slice]:
        """Return slices as `Engine.parts`, several for each process. Raises InputError if no cluster answers."""
        if n <= least:
            return slices(n, least)
        _connect(self.address)
        return slices(n, min(most, max(least, -(-n // (ROUNDS * self._processes(True))))))

    def _task(self, on_device: bool) -> RemoteFunction:
        gpus = 1 if on_device and _gpus() else 0
        return _work_at.options(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)

    def _processes(self, on_device: bool) -> int:
        """Return how many parts run at once: one for each GPU if wanted and available, else one for each core."""
        return max(1, int((on_device and _gpus()) or _total("CPU", ray.nodes())))


def _connect(address: str | None) -> None:
    """Connect to Ray. Raises InputError if nothing answers at the address."""
    if ray.is_initialized():
        return
    _require_answer(address)
    _hand_on_remarks()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage statistics to Ray's makers
    carried = {name: os.environ[name] for name in CARRIED if name in os.environ}
    try:
        ray.init(
            address=address or "local",
            runtime_env={"env_vars": {**carried, ENGINE: "local"}},  # a part is computed where it arrives
            log_to_driver=False,
            configure_logging=False,
            include_dashboard=None if address else False,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(_unanswered(address, str(error).splitlines()[0])) from error
    # Ray shares an array's memory between the processes of a machine, but copies subclasses of arrays into each.
    ray.util.register_serializer(np.memmap, serializer=np.asarray, deserializer=np.asarray)


def _hand_on_remarks() -> None:
    """Route Ray's messages in this process to our log, errors only."""
    logger = logging.getLogger("ray")
    logger.handlers.clear()
    logger.propagate = True
    logger.setLevel(logging.ERROR)


def _require_answer(address: str | None) -> None:
    """Raise InputError if nothing listens at the address: Ray itself would try for minutes."""
    host, _, port = (address or "").rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host.removeprefix("ray://"), int(port)), CONNECT).close()
    except OSError as error:
        raise InputError(_unanswered(address, error.strerror or str(error))) from error


def _unanswered(address: str | None, reason: str) -> str:
    return f"no Ray cluster answers at {address}: {reason}; check {ADDRESS}"


def _gpus() -> float:
    """Return the GPUs on nodes with cores; the GPU of a worker's machine, which offers no cores, takes no parts."""
    return _total("GPU", [node for node in ray.nodes() if node["Resources"].get("CPU", 0.0) >= 1])


def _total(name: str, nodes: Sequence[dict[str, Any]]) -> float:
    return sum(float(node["Resources"].get(name, 0.0)) for node in nodes if node["Alive"])


def _first(waiting: "deque[ray.ObjectRef]", stage: str, progress: Progress, share: float) -> Any:
    """Remove the first waiting reference and return its result; meanwhile report progress, which may raise."""
    while True:
        progress(stage, share)
        # `get` with a time limit would restart the fetch each time, and a large result would never arrive.
        if ray.wait([waiting[0]], timeout=LOOK, fetch_local=False)[0]:
            result = ray.get(waiting[0])
            waiting.popleft()
            return result


@ray.remote  # type: ignore[untyped-decorator]  # Ray has no types
def _work_at(make: Callable[..., Work[Any, Any]], part: Any, *arguments: Any) -> Any:
    return _on_processor(make(*arguments)(part, no_progress))


def _on_processor(result: Any) -> Any:
    """Return the result with its tensors in ordinary memory, where every process can read them."""
    if getattr(result, "is_cuda", False):
        return result.cpu()
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return tuple(map(_on_processor, result))
    return result
