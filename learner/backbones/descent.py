"""Training by gradient: batches of like length, AdamW, a rate that rises and falls, clipped gradients."""

import itertools
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn

from db.domain import Progress, no_progress
from learner.catalog.backbones import Training
from learner.pair_reader import blocks

POOL = 32  # batches whose rows are sorted by length together: near enough to random, with little padding
BUDGETS = {"cuda": 16_384}  # tokens whose activations are kept at once: a larger step is made in parts
SMALL_BUDGET = 2_048


def descend(
    model: nn.Module,
    lengths: np.ndarray,
    weights: np.ndarray,
    loss: Callable[[np.ndarray], Tensor],
    settings: Training,
    progress: Progress = no_progress,
    faster: Mapping[str, float] | None = None,
) -> None:
    """Nothing; the model is trained in place, and is in evaluation mode afterwards.

    lengths: (n,) tokens of each row; loss(rows): the sum of these rows' losses; weights: (n,) what it is a sum of, so
    that a step's loss is a mean however the step is parted. faster: as in `adamw`. The order comes from the seed,
    dropout from torch's generator.
    """
    device = next(model.parameters()).device
    steps = settings.steps or settings.epochs * -(-len(lengths) // settings.batch_size)
    order = batches(lengths, settings.batch_size, np.random.default_rng(settings.seed))
    optimizer, schedule = adamw(
        model, settings.learning_rate, steps, settings.warm_up, settings.weight_decay, faster or {}
    )
    model.train()
    for step, batch in enumerate(itertools.islice(order, steps)):
        optimizer.zero_grad()
        for part in blocks(lengths[batch], BUDGETS.get(device.type, SMALL_BUDGET)):
            share = loss(batch[part]) / float(weights[batch].sum())
            share.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        progress("train", (step + 1) / steps)
    model.eval()


def batches(lengths: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Without end, positions of each step's rows: every row once a pass, those of like length together."""
    while True:
        order = rng.permutation(len(lengths))
        passes: list[np.ndarray] = []
        for start in range(0, len(order), POOL * size):
            part = order[start : start + POOL * size]
            part = part[np.argsort(lengths[part], kind="stable")]
            passes += [part[at : at + size] for at in range(0, len(part), size)]
        yield from (passes[i] for i in rng.permutation(len(passes)))


def adamw(
    model: nn.Module, rate: float, steps: int, warm_up: float, weight_decay: float, faster: Mapping[str, float]
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """AdamW, and a rate that rises over this share of the steps and falls to 0.

    faster: how many times as fast the parameters learn whose names begin so.
    """
    times = {
        name: next((factor for start, factor in faster.items() if name.startswith(start)), 1.0)
        for name, _ in model.named_parameters()
    }
    groups = [
        {"params": [p for name, p in model.named_parameters() if times[name] == factor], "lr": rate * factor}
        for factor in sorted(set(times.values()))
    ]
    optimizer = torch.optim.AdamW(groups, eps=1e-6, weight_decay=weight_decay, fused=True)
    warm = max(1, round(warm_up * steps))

    def factor(step: int) -> float:
        return (step + 1) / warm if step < warm else (steps - step) / max(1, steps - warm)

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
