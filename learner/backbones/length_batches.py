"""Gradient descent: batches of similar length, AdamW, a learning rate that rises and falls, clipped gradients."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from torch import Tensor, nn

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.recomputation import recomputing
from allpairs.learner.catalog.backbones import Training
from allpairs.learner.models.cross_encoder_input import blocks
from allpairs.learner.models.training_loop import Watch, adamw, take_steps

POOL = 32  # batches whose rows are sorted by length together: near enough to random, with little padding
BUDGETS = {"cuda": 16_384}  # tokens whose activations fit at once: a larger step is computed in parts
SMALL_BUDGET = 2_048


def descend(
    model: nn.Module,
    lengths: np.ndarray,
    weights: np.ndarray,
    loss: Callable[[np.ndarray], Tensor],
    settings: Training,
    progress: Progress = no_progress,
    faster: Mapping[str, float] | None = None,
    watch: Watch | None = None,
    at_once: bool = False,
) -> None:
    """Train the model in place, and leave it in evaluation mode.

    lengths: (n,) tokens of each row; loss(rows): the sum of these rows' losses; weights: (n,) the number of terms in
    each row's loss, so that a step's loss is a mean however the step is split. faster: factors on the learning rate of
    the parameters whose names begin so. The order comes from the seed, dropout from torch's generator. watch may use
    the model, which is back in training mode afterwards. at_once: no step is split, for a loss that compares all rows
    of a step.
    """
    device = next(model.parameters()).device
    steps = settings.steps or settings.epochs * -(-len(lengths) // settings.batch_size)
    order = batches_by_length(lengths, settings.batch_size, np.random.default_rng(settings.seed))
    groups = _groups(model, settings.learning_rate, faster or {})
    optimizer, schedule = adamw(groups, settings.learning_rate, steps, settings.warm_up, settings.weight_decay)

    def losses(batch: np.ndarray) -> Iterator[Tensor]:
        parts = blocks(lengths[batch], BUDGETS.get(device.type, SMALL_BUDGET))
        for part in [np.arange(len(batch))] if at_once else parts:
            yield loss(batch[part]) / float(weights[batch].sum())

    def watched(step: int, of: int, mean: float) -> None:
        if watch is not None:
            watch(step, of, mean)
            model.train()

    model.train()
    with recomputing(model, settings.recompute):
        take_steps(
            order, steps, losses, optimizer, schedule, [model.parameters()], progress, watch=watched if watch else None
        )
    model.eval()


def batches_by_length(lengths: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield positions of each step's rows without end: every row once an epoch, rows of similar length together."""
    while True:
        order = rng.permutation(len(lengths))
        passes: list[np.ndarray] = []
        for start in range(0, len(order), POOL * size):
            part = order[start : start + POOL * size]
            part = part[np.argsort(lengths[part], kind="stable")]
            passes += [part[at : at + size] for at in range(0, len(part), size)]
        yield from (passes[i] for i in rng.permutation(len(passes)))


def _groups(model: nn.Module, rate: float, faster: Mapping[str, float]) -> list[dict[str, Any]]:
    """Group the model's parameters by learning rate; faster: as in `descend`."""
    groups: dict[float, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        factor = next((factor for start, factor in faster.items() if name.startswith(start)), 1.0)
        groups.setdefault(factor, []).append(parameter)
    return [{"params": parameters, "lr": rate * factor} for factor, parameters in sorted(groups.items())]
