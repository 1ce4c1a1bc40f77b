"""Work for the tests of trainings by several processes."""

import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime import device, lifetime
from allpairs.learner.runtime.training_group import PROCESSES, Group
from allpairs.learner.runtime.training_launcher import train_together


def exact(work: Callable[..., list[nn.Module]], *given: Any) -> list[nn.Module]:
    """Do the work in float32 on every device: in bfloat16 a wrong gradient would pass for rounding."""
    fast, device.multiplies_bfloat16 = device.multiplies_bfloat16, lambda _: False
    try:
        return work(*given)
    finally:
        device.multiplies_bfloat16 = fast


def plain(work: Callable[..., list[nn.Module]], *given: Any) -> list[nn.Module]:
    """Do the work in float32 by plain gradient descent: AdamW and clipping hide that a gradient is too large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim, "AdamW", lambda parameters, lr, **_: torch.optim.SGD(parameters, lr))
        patch.setattr(nn.utils, "clip_grad_norm_", lambda *_: None)
        return exact(work, *given)


def done_by(way: Callable[..., list[nn.Module]], monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
    """Have these modules train that way, in whichever process."""

    def together(work: Callable[..., list[nn.Module]], given: tuple[Any, ...], *rest: Any) -> None:
        train_together(way, (work, *given), *rest)

    for module in modules:
        monkeypatch.setattr(module, "train_together", together)


def staying(network: nn.Module, folder: Path, progress: Progress, group: Group) -> list[nn.Module]:
    """Work without end."""
    _sign(folder)
    while True:
        time.sleep(0.05)
        progress("train", 0.5)


def dying(network: nn.Module, folder: Path, progress: Progress, group: Group) -> list[nn.Module]:
    """Kill the second process while the first one waits for it."""
    _sign(folder)
    if os.environ["RANK"] == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    return _learning(network, group)


def failing(network: nn.Module, folder: Path, progress: Progress, group: Group) -> list[nn.Module]:
    """Fail in the second process while the first one waits for it."""
    _sign(folder)
    if os.environ["RANK"] == "1":
        raise InputError("text 7 is empty: leave it out")
    return _learning(network, group)


def stay(folder: Path) -> None:
    """Wait for an endless training in this process."""
    lifetime.START, os.environ[PROCESSES] = "fork", "2"
    train_together(staying, (nn.Linear(1, 1), folder), [], no_progress)


def _learning(network: nn.Module, group: Group) -> list[nn.Module]:
    network.weight.sum().backward()
    group.average(network.parameters(), 0.0)
    return [network]


def _sign(folder: Path) -> None:
    level = logging.getLogger("allpairs").getEffectiveLevel()
    (folder / str(os.getpid())).write_text(logging.getLevelName(level))
