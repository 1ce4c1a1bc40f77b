"""Watching a training: whatever is measured after its steps, in whichever process that is."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import nn


class Watch(ABC):
    """Is called after every step of a training, and notes rows of numbers.

    networks: what learns; the training sets it, as another process has copies. record: a module that holds the rows,
    so that another process can hand them over with the weights.
    """

    def __init__(self, most: int, columns: int) -> None:
        self.networks: Sequence[nn.Module] = []
        self.record = nn.Module()
        self.record.register_buffer("rows", torch.full((most, columns), torch.nan, dtype=torch.float64))

    @property
    def noted(self) -> list[list[float]]:
        """The rows so far, in order."""
        return [row for row in self.record.get_buffer("rows").tolist() if not math.isnan(row[0])]

    def note(self, *row: float) -> None:
        """Append a row, which begins with the step."""
        self.record.get_buffer("rows")[len(self.noted)] = torch.tensor(row, dtype=torch.float64)

    @abstractmethod
    def __call__(self, step: int, steps: int, loss: float = 0.0) -> None:
        """Look at the networks after this step, from 1, of so many; loss: the step's."""
