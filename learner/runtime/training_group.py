"""The interface between training and its processes: who computes which rows of a step, and one common gradient."""

import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from allpairs.db.errors import InputError

PROCESSES = "ALLPAIRS_PROCESSES"  # an environment variable
# The contents of the folder that the processes of a training share.
ARGUMENTS = "arguments.pt"
WEIGHTS = "weights.pt"
FAILED = "failed"

Row = TypeVar("Row")


class Group(Protocol):
    """The processes that train a model together, as one of them sees it. All go through the same steps.

    rank: the number of this process, from 0; size: how many there are. Gradients are averaged: a loss that only some
    process adds to a step counts `size` times there.
    """

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def share(self, rows: np.ndarray) -> np.ndarray:
        """Return which of the rows of a step are this process's; in order of length, each gets as many tokens."""

    def whole(self, make: Callable[[list[Row]], Tensor], rows: list[Row]) -> Tensor:
        """Return make(rows), a vector (d,) for each row: a process computes its share, and gets all of them.

        Whatever is computed from all of them (a batch norm, a softmax over the step) is the same in every process;
        gradients flow only into its own share.
        """

    def average(self, parameters: Iterable[nn.Parameter], loss: float) -> float:
        """Average every gradient over the processes, which gives the gradient of a single process; and the loss."""


class SingleProcess:
    """One process, which does everything."""

    rank = 0
    size = 1

    def share(self, rows: np.ndarray) -> np.ndarray:
        """Return all rows."""
        return rows

    def whole(self, make: Callable[[list[Row]], Tensor], rows: list[Row]) -> Tensor:
        """Return make(rows)."""
        return make(rows)

    def average(self, parameters: Iterable[nn.Parameter], loss: float) -> float:
        """Return the loss."""
        return loss


SINGLE_PROCESS = SingleProcess()


def seed_of(seed: int, group: Group) -> int:
    """Return the seed of what this process draws for its own rows, such as dropout; the first process's is the seed."""
    return seed + (group.rank << 32)


def process_count() -> int:
    """Return how many processes train: ALLPAIRS_PROCESSES in the environment, else one.

    Raises InputError if that is not such a number, or more than the number of GPUs, or if accelerate is not installed.
    """
    written = os.environ.get("ALLPAIRS_PROCESSES", "1")
    if not written.isdecimal() or int(written) < 1:
        raise InputError(f"{PROCESSES} is {written!r}: set it to the number of processes that train, such as 2")
    n = int(written)
    if n > 1 and torch.cuda.is_available() and n > torch.cuda.device_count():
        raise InputError(
            f"{PROCESSES} is {n}, but there are {torch.cuda.device_count()} GPUs: set it to no more than that"
        )
    if n > 1 and find_spec("accelerate") is None:
        raise InputError(f"{PROCESSES}={n} needs accelerate: pip install -r requirements-cluster.txt, or set it to 1")
    return n
