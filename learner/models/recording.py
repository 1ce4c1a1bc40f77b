"""The gradients of a loss on a GPU, recorded once for each shape of a step's inputs and then repeated by one call.

A step of a small network is hundreds of small calls: its GPU computes for a tenth of the time that making them takes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn

from allpairs.learner.runtime.training_group import SINGLE_PROCESS, Group

BEFORE = 2  # steps of a shape that are computed call by call: what happens only once must not be recorded
Inputs = Mapping[str, Tensor]
Shapes = tuple[torch.Size, ...]


def can_record(device: torch.device, group: Group) -> bool:
    """Return whether steps can be recorded: on a GPU, by a single process."""
    return device.type == "cuda" and group is SINGLE_PROCESS


class Recording:
    """Computes the gradients of a loss of some inputs.

    loss: of inputs on the device, by name; whatever it does must not depend on their values, only on their shapes. A
    loss that has to wait for the GPU cannot be recorded, and is computed call by call.
    """

    def __init__(self, loss: Callable[[Inputs], Tensor], parameters: Iterable[nn.Parameter]) -> None:
        self.loss = loss
        self.parameters = list(parameters)
        self.gradients = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.device = self.gradients[0].device
        self.memory = torch.cuda.graph_pool_handle()
        self.seen: Counter[Shapes] = Counter()
        self.recorded: dict[Shapes, tuple[torch.cuda.CUDAGraph, Inputs] | None] = {}

    def __call__(self, inputs: Inputs) -> None:
        """Set every parameter's gradient; inputs: on the CPU."""
        shapes = tuple(value.shape for value in inputs.values())
        self.seen[shapes] += 1
        if self.seen[shapes] > BEFORE and shapes not in self.recorded:
            self.recorded[shapes] = self.record_graph(self._moved(inputs))
        if (recorded := self.recorded.get(shapes)) is None:
            self._compute(self._moved(inputs))
        else:
            graph, read = recorded
            for name, value in inputs.items():
                read[name].copy_(value)
            graph.replay()
        self._give()

    def _moved(self, inputs: Inputs) -> Inputs:
        return {name: value.to(self.device) for name, value in inputs.items()}

    def _give(self) -> None:
        for parameter, gradient in zip(self.parameters, self.gradients, strict=True):
            parameter.grad = gradient

    def _compute(self, inputs: Inputs) -> None:
        self._give()
        torch._foreach_zero_(self.gradients)
        self.loss(inputs).backward()  # type: ignore[no-untyped-call]

    def record_graph(self, inputs: Inputs) -> tuple[torch.cuda.CUDAGraph, Inputs] | None:
        """Return the recording, and the inputs that it reads; none if the loss cannot be recorded."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=self.memory):
                self._compute(inputs)
        except RuntimeError:
            return None
        return graph, inputs
