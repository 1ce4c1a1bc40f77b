"""Less memory in training: activations are computed again in the backward pass instead of being kept."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import nn
from transformers import PreTrainedModel

from allpairs.learner.runtime.device import fast_training


@contextmanager
def recomputing(model: nn.Module, enabled: bool) -> Iterator[None]:
    """Return a context in which the model's layers keep only their inputs, if enabled.

    A step needs the memory of one layer's activations besides, and a third more time. Source: Chen et al. (2016).
    """
    device = next(model.parameters()).device

    def contexts() -> tuple[AbstractContextManager[object], AbstractContextManager[object]]:
        return nullcontext(), fast_training(torch.device(device))  # the second pass is outside the step's context

    parts = [part for part in model.modules() if isinstance(part, PreTrainedModel)] if enabled else []
    for part in parts:
        part.activation_checkpointing_enable({"use_reentrant": False, "context_fn": contexts})
    try:
        yield
    finally:
        for part in parts:
            part.activation_checkpointing_disable()
