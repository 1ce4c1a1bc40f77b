"""The training loop: AdamW with a learning rate that rises and falls, clipped gradients, progress after each step."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from allpairs.db.progress import Progress
from allpairs.learner.runtime.training_group import SINGLE_PROCESS, Group

Batch = TypeVar("Batch")
WARM_UP = 0.1  # share of the steps over which the rate rises


def adamw(
    parameters: Iterable[nn.Parameter] | list[dict[str, Any]],
    rate: float,
    steps: int,
    warm_up: float = WARM_UP,
    weight_decay: float = 0.0,
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """Return the optimizer, and a schedule that rises over the first steps and then falls to 0."""
    optimizer = torch.optim.AdamW(parameters, lr=rate, eps=1e-6, weight_decay=weight_decay, fused=True)
    warm = max(1, round(warm_up * steps))

    def factor(step: int) -> float:
        return (step + 1) / warm if step < warm else (steps - step) / max(1, steps - warm)

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def batches(n: int, size: int, steps: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield positions (size,) below n for each step: all of them once before any repeats; all at once if n is less."""
    size = min(size, n)
    order = np.empty(0, dtype=np.int64)
    for _ in range(steps):
        if len(order) < size:
            order = rng.permutation(n)
        batch = order[:size]
        order = order[size:]
        yield batch


def take_steps(
    order: Iterable[Batch],
    steps: int,
    losses: Callable[[Batch], Iterable[Tensor]],
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
    clipped: Sequence[Iterable[nn.Parameter]],
    progress: Progress,
    group: Group = SINGLE_PROCESS,
    watch: Callable[[int, int, float], None] | None = None,
) -> None:
    """Take at most this many steps, one for each batch of the order.

    losses(batch): the step's loss, or its terms one by one where a whole step would not fit in memory. clipped: sets of
    parameters; the gradient of each set gets a norm of at most 1. group: the processes that train together. watch: is
    called after every step: (step from 1, all steps, the step's loss).
    """
    sets = [list(parameters) for parameters in clipped]
    for step, batch in enumerate(islice(order, steps)):
        optimizer.zero_grad()
        loss = 0.0
        for share in losses(batch):
            share.backward()  # type: ignore[no-untyped-call]
            loss += float(share.detach()) if watch is not None else 0.0
        loss = group.average((p for part in optimizer.param_groups for p in part["params"]), loss)
        for parameters in sets:
            nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        if watch is not None:
            watch(step + 1, steps, loss)
        progress("train", (step + 1) / steps)
