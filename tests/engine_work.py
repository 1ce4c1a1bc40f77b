"""Work for the tests of engines, in a file that other processes load quickly."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from db.domain import InputError, Progress
from learner.engine.engine import Work


def doubling() -> Work[int, int]:
    def work(part: int, progress: Progress) -> int:
        progress("double", 0.5)
        return 2 * part

    return work


def dying(folder: Path, deaths: int) -> Work[int, tuple[int, int]]:
    """Work that kills its process at the third part, so many times."""

    def work(part: int, progress: Progress) -> tuple[int, int]:
        died = len(list(folder.iterdir()))
        if part == 2 and died < deaths:
            (folder / str(died)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part, part * part

    return work


def slow(seconds: float) -> Work[int, int]:
    def work(part: int, progress: Progress) -> int:
        time.sleep(seconds)
        return part

    return work


def large() -> Work[int, np.ndarray]:
    return lambda part, progress: np.full(30 * 2**20, part, dtype=np.uint8)


def failing() -> Work[int, int]:
    def work(part: int, progress: Progress) -> int:
        raise InputError(f"part {part} has no texts: give it some")

    return work
