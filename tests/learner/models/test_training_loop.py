"""The training loop: gradients clipped together, or part by part."""

from collections.abc import Callable, Iterable, Iterator

import pytest
import torch
from torch import Tensor, nn

from allpairs.db.progress import no_progress
from allpairs.learner.models.training_loop import take_steps, whole

Parts = list[tuple[int, float]]


def step_of(apart: Callable[[Parts], Iterable[Parts]]) -> tuple[list[float], float]:
    """Take one step downhill from zero; the slope of each weight is a part's. Return the step, and the loss heard."""
    network, heard = nn.Linear(3, 1, bias=False), list[float]()
    nn.init.ones_(network.weight)

    def losses(parts: Parts) -> Iterator[Tensor]:
        for at, slope in parts:
            yield network.weight[0, at] * slope

    optimizer = torch.optim.SGD(network.parameters(), 1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    batch = [(0, 300.0), (0, -200.0), (1, 0.5)]
    take_steps([batch], 1, losses, optimizer, schedule, [network.parameters()], no_progress,
               watch=lambda step, of, loss: heard.append(loss), apart=apart)  # fmt: skip
    return (1 - network.weight.detach()[0]).tolist(), heard[0]


def test_a_long_gradient_drowns_out_no_part_that_is_clipped_apart() -> None:
    step, loss = step_of(lambda parts: [parts[:2], parts[2:]])
    assert step == pytest.approx([1.0, 0.5, 0.0], abs=1e-4) and loss == pytest.approx(100.5)
    step, loss = step_of(whole)
    assert step == pytest.approx([1.0, 0.005, 0.0], abs=1e-4) and loss == pytest.approx(100.5)
