"""What trainings share: AdamW with a rate that rises and falls, and batches for a number of steps."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

WARM_UP = 0.1  # share of the steps over which the rate rises


def adamw(
    parameters: Iterable[nn.Parameter] | list[dict[str, Any]],
    rate: float,
    steps: int,
    warm_up: float = WARM_UP,
    weight_decay: float = 0.0,
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """The optimizer, and a schedule that rises over the first steps and falls to 0 over the others."""
    optimizer = torch.optim.AdamW(parameters, lr=rate, eps=1e-6, weight_decay=weight_decay, fused=True)
    warm = max(1, round(warm_up * steps))

    def factor(step: int) -> float:
        return (step + 1) / warm if step < warm else (steps - step) / max(1, steps - warm)

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def batches(n: int, size: int, steps: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Positions (size,) below n for each step: all of them once before any comes again; all at once where n is less."""
    size = min(size, n)
    order = np.empty(0, dtype=np.int64)
    for _ in range(steps):
        if len(order) < size:
            order = rng.permutation(n)
        batch, order = order[:size], order[size:]
        yield batch
