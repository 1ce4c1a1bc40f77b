"""The interface between training and its processes: who computes which rows of a step, and one common gradient."""

import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn

from allpairs.db.errors import InputError

PROCESSES = "ALLPAIRS_PROCESSES"  # an environment variable
# The contents of the folder that the processes of a training share.
GIVEN, WEIGHTS, FAILED = "given.pt", "weights.pt", "failed"

Row = TypeVar("Row")


class Group(Protocol):
    """The processes that train a model together, as one of them sees it. All go through the same steps."""

    def whole(self, make: Callable[[list[Row]], Tensor], rows: list[Row]) -> Tensor:
        """Return make(rows), a vector (d,) for each row: a process computes its share, and gets all of them.

        Whatever is computed from all of them (a batch norm, a softmax over the step) is the same in every process;
        gradients flow only into its own share.
        """

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """Average every gradient over the processes, which gives the gradient of a single process."""


class Alone:
    """One process, which does everything."""

    def whole(self, make: Callable[[list[Row]], Tensor], rows: list[Row]) -> Tensor:
        """Return make(rows)."""
        return make(rows)

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """Do nothing."""


ALONE = Alone()


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
