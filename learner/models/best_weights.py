"""Keep the weights that measure best during a training."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor, nn

from allpairs.learner.models.watch import Watch


class Look(NamedTuple):
    """A measurement in a training: the learning rate, the steps taken, and the value on the development data."""

    learning_rate: float
    step: int
    value: float


class BestWeights(Watch):
    """Measures networks several times during their training, and gives them their best weights after the last step.

    measure(): the higher, the better; ties go to fewer steps.
    """

    def __init__(
        self, networks: Sequence[nn.Module], measure: Callable[[], float], checks: int, learning_rate: float
    ) -> None:
        super().__init__(checks + 1, 2)
        self.networks = networks
        self.measure = measure
        self.checks = checks
        self.learning_rate = learning_rate
        self._weights: list[dict[str, Tensor]] = []

    @property
    def looks(self) -> list[Look]:
        """The measurements so far, in order."""
        return [Look(self.learning_rate, int(step), value) for step, value in self.noted]

    @property
    def best(self) -> Look | None:
        """The best measurement; None before the first."""
        return max(self.looks, key=lambda look: (look.value, -look.step), default=None)

    def __call__(self, step: int, steps: int, loss: float = 0.0) -> None:
        """Measure if it is time to: `checks` times at equal distances, the last time after the last step."""
        if not step or step in {steps - steps * number // self.checks for number in range(self.checks)}:
            self._measure(step)
        if step == steps:
            for network, weights in zip(self.networks, self._weights, strict=False):  # none if every value was NaN
                network.load_state_dict(weights)

    def _measure(self, step: int) -> None:
        modes = [network.training for network in self.networks]
        value = self.measure()
        for network, mode in zip(self.networks, modes, strict=True):
            network.train(mode)
        if math.isnan(value):
            return
        self.note(step, value)
        if self.best == Look(self.learning_rate, step, value):
            self._weights = [
                {name: value.clone() for name, value in network.state_dict().items()} for network in self.networks
            ]
