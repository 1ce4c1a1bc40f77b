"""Keep the weights that measure best during a training."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Look(NamedTuple):
    """A measurement in a training: the learning rate, the steps taken, and the value on the development data."""

    learning_rate: float
    step: int
    value: float


class BestWeights:
    """Measures networks several times during their training, and keeps their weights at the best time.

    It is called after every step (`training_loop.Watch`). measure(): the higher, the better; ties go to fewer steps.
    record: a module that holds the measurements, so that other processes can hand them over with the weights.
    """

    def __init__(
        self, networks: Sequence[nn.Module], measure: Callable[[], float], checks: int, learning_rate: float
    ) -> None:
        self.networks, self.measure, self.checks, self.learning_rate = networks, measure, checks, learning_rate
        self.record = nn.Module()
        self.record.register_buffer("looks", torch.full((checks + 1, 2), torch.nan, dtype=torch.float64))
        self._weights: list[dict[str, Tensor]] = []

    @property
    def looks(self) -> list[Look]:
        """The measurements so far, in order."""
        rows = self.record.get_buffer("looks").tolist()
        return [Look(self.learning_rate, int(step), value) for step, value in rows if not math.isnan(value)]

    @property
    def best(self) -> Look | None:
        """The best measurement; None before the first."""
        return max(self.looks, key=lambda look: (look.value, -look.step), default=None)

    def __call__(self, step: int, steps: int, loss: float = 0.0) -> None:
        """Measure if it is time to: `checks` times at equal distances, the last time after the last step."""
        if step and step not in {steps - steps * at // self.checks for at in range(self.checks)}:
            return
        modes = [network.training for network in self.networks]
        value = self.measure()
        for network, mode in zip(self.networks, modes, strict=True):
            network.train(mode)
        self.record.get_buffer("looks")[len(self.looks)] = torch.tensor([step, value], dtype=torch.float64)
        if self.best == Look(self.learning_rate, step, value):
            self._weights = [{name: value.clone() for name, value in one.state_dict().items()} for one in self.networks]

    def restore(self) -> None:
        """Give the networks their best weights, if they were measured here."""
        for network, weights in zip(self.networks, self._weights, strict=False):
            network.load_state_dict(weights)
