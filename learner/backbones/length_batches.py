"""Gradient descent: batches of similar length, AdamW, a learning rate that rises and falls, clipped gradients."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

import numpy as np
from torch import Tensor, nn

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.recomputation import recomputing
from allpairs.learner.light.catalog.backbones import Training
from allpairs.learner.models.cross_encoder_input import length_blocks
from allpairs.learner.models.training_loop import adamw, take_steps
from allpairs.learner.models.watch import Watch
from allpairs.learner.runtime.device import seeded
from allpairs.learner.runtime.training_group import SINGLE_PROCESS, Group, seed_of
from allpairs.learner.runtime.training_launcher import train_together

POOL = 32  # batches whose rows are sorted by length together: near enough to random, with little padding
BUDGETS = {"cuda": 16_384}  # tokens whose activations fit at once: a larger step is computed in parts
SMALL_BUDGET = 2_048


class RowLosses(Protocol):
    """A network, and its losses on rows. Other processes get it as a pickle.

    lengths: (n,) tokens of each row; weights: (n,) the number of terms in each row's loss, so that a step's loss is a
    mean however the step is split.
    """

    @property
    def network(self) -> nn.Module: ...

    @property
    def lengths(self) -> np.ndarray: ...

    @property
    def weights(self) -> np.ndarray: ...

    def loss(self, rows: np.ndarray) -> Tensor:
        """Return the sum of these rows' losses."""


def descend_together(
    losses: RowLosses,
    settings: Training,
    progress: Progress = no_progress,
    faster: Mapping[str, float] | None = None,
    watch: Watch | None = None,
) -> None:
    """Do as `descend`, with as many processes as the environment says: each computes a share of every step's rows."""
    train_together(_member, (losses, settings, faster, watch), _learning(losses, watch), progress)


def _member(
    losses: RowLosses,
    settings: Training,
    faster: Mapping[str, float] | None,
    watch: Watch | None,
    progress: Progress,
    group: Group,
) -> list[nn.Module]:
    descend(losses, settings, progress, faster, watch, group)
    return _learning(losses, watch)


def _learning(losses: RowLosses, watch: Watch | None) -> list[nn.Module]:
    return [losses.network, *([watch.record] if watch else [])]


def descend(
    losses: RowLosses,
    settings: Training,
    progress: Progress = no_progress,
    faster: Mapping[str, float] | None = None,
    watch: Watch | None = None,
    group: Group = SINGLE_PROCESS,
    at_once: bool = False,
) -> None:
    """Train the network in place, and leave it in evaluation mode.

    faster: factors on the learning rate of the parameters whose names begin so. Order and dropout come from the
    settings' seed. watch may use the network, which is back in training mode afterwards. at_once: no step is split, for
    a loss that compares all rows of a step.
    """
    model = losses.network
    lengths = losses.lengths
    weights = losses.weights
    device = next(model.parameters()).device
    order, steps = steps_of(lengths, settings)
    groups = _groups(model, settings.learning_rate, faster or {})
    optimizer, schedule = adamw(groups, settings.learning_rate, steps, settings.warm_up, settings.weight_decay)

    def terms(batch: np.ndarray) -> Iterator[Tensor]:
        share = group.share(batch)
        parts = (
            [np.arange(len(share))]
            if at_once
            else length_blocks(lengths[share], BUDGETS.get(device.type, SMALL_BUDGET))
        )
        for part in parts:
            yield losses.loss(share[part]) * group.size / float(weights[batch].sum())

    def watched(step: int, steps: int, mean: float) -> None:
        if watch is not None:
            watch(step, steps, mean)
            model.train()

    if watch is not None:
        watch.networks = [model]
    model.train()
    clipped = [model.parameters()]
    with seeded(seed_of(settings.seed, group), device), recomputing(model, settings.recompute):
        take_steps(order, steps, terms, optimizer, schedule, clipped, progress, group, watched if watch else None)
    model.eval()


def steps_of(lengths: np.ndarray, settings: Training) -> tuple[Iterator[np.ndarray], int]:
    """Return the rows of each step of a training on rows of these lengths (n,), and the number of steps."""
    steps = settings.steps or settings.epochs * -(-len(lengths) // settings.batch_size)
    order = batches_by_length(lengths, settings.batch_size, np.random.default_rng(settings.seed))
    return islice(order, steps), steps


def batches_by_length(lengths: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield positions of each step's rows without end: every row once an epoch, rows of similar length together."""
    while True:
        order = rng.permutation(len(lengths))
        passes: list[np.ndarray] = []
        for start in range(0, len(order), POOL * size):
            part = order[start : start + POOL * size]
            part = part[np.argsort(lengths[part], kind="stable")]
            passes += [part[place : place + size] for place in range(0, len(part), size)]
        yield from (passes[i] for i in rng.permutation(len(passes)))


def _groups(model: nn.Module, rate: float, faster: Mapping[str, float]) -> list[dict[str, Any]]:
    """Group the model's parameters by learning rate; faster: as in `descend`."""
    groups: dict[float, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        factor = next((factor for start, factor in faster.items() if name.startswith(start)), 1.0)
        groups.setdefault(factor, []).append(parameter)
    return [{"params": parameters, "lr": rate * factor} for factor, parameters in sorted(groups.items())]
