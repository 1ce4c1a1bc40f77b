"""Work for the tests of engines, in a module that other processes load quickly."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.protocol import Engine, Work


def doubling() -> Work[int, int]:
    def work(part: int, progress: Progress) -> int:
        progress("double", 0.5)
        return 2 * part

    return work


def dying(marker: Path, at: int, make: Callable[..., Work[Any, Any]], *given: Any) -> Work[tuple[int, Any], Any]:
    """Return a stage's own work on its numbered parts, which kills the process of this part, once."""
    own = make(*given)

    def work(part: tuple[int, Any], progress: Progress) -> Any:
        number, rows = part
        found = own(rows, progress)
        if number == at and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    return work


@dataclass(frozen=True)
class Mortal:
    """An engine that kills one of its processes in the middle of the first stage; the marker then exists."""

    engine: Engine
    marker: Path

    def map(
        self,
        make: Callable[..., Work[Any, Any]],
        given: Sequence[Any],
        parts: Sequence[Any],
        stage: str,
        progress: Progress = no_progress,
        on_device: bool = True,
    ) -> Iterator[Any]:
        """Map as `Engine.map` does."""
        at = max(1, len(parts) // 2)  # never of a single part, which this process works at
        numbered = list(enumerate(parts))
        return self.engine.map(dying, (self.marker, at, make, *given), numbered, stage, progress, on_device)

    def parts(self, n: int, least: int, most: int) -> list[slice]:
        """Split as `Engine.parts` does."""
        return self.engine.parts(n, least, most)


def slow(seconds: float) -> Work[int, int]:
    def work(part: int, progress: Progress) -> int:
        time.sleep(seconds)
        return part

    return work


def reading(*vectors: np.ndarray) -> Work[int, list[bool]]:
    """Return work that tells which of the vectors are in read-only shared memory; arrays of one's own are writable."""

    def work(part: int, progress: Progress) -> list[bool]:
        return [not array.flags.writeable for array in vectors]

    return work


def large() -> Work[int, np.ndarray]:
    return lambda part, progress: np.full(150 * 2**20, part, dtype=np.uint8)


def without_room() -> Work[int, int]:
    def work(part: int, progress: Progress) -> int:
        from ray.exceptions import OutOfDiskError

        raise OutOfDiskError("no space left on device")

    return work


def failing() -> Work[int, int]:
    def work(part: int, progress: Progress) -> int:
        raise InputError(f"part {part} has no texts: give it some")

    return work
