"""One of the processes that train together, by Hugging Face's accelerate."""

import os
import pickle
import socket
import time
import traceback
from collections.abc import Callable, Iterable
from multiprocessing import connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn

from allpairs.db.files.logs import configure
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.device import default_device
from allpairs.learner.runtime.lifetime import end_with_parent
from allpairs.learner.runtime.protocol import ENGINE
from allpairs.learner.runtime.training_group import ARGUMENTS, FAILED, WEIGHTS, Row

REPORT_SECONDS = 0.2  # seconds between two messages


class Member:
    """As `Group`."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.rank = accelerator.process_index
        self.size = accelerator.num_processes

    def share(self, rows: np.ndarray) -> np.ndarray:
        """Do as `Group.share`: every `size`-th row, so perhaps none."""
        return rows[self.rank :: self.size]

    def whole(self, make: Callable[[list[Row]], Tensor], rows: list[Row]) -> Tensor:
        """Do as `Group.whole`; each makes at least one row, and so knows how long they are."""
        size = self.size
        start, end = (len(rows) * rank // size for rank in (self.rank, self.rank + 1))
        share = make(rows[start:end] or rows[:1])
        # The mean over the processes is then the sum of the shares.
        share.register_hook(lambda gradient: size * gradient)  # type: ignore[no-untyped-call]
        gathered = share.new_zeros((len(rows), share.shape[1]))
        gathered[start:end] = share[: end - start].detach()
        gathered = self.accelerator.reduce(gathered, "sum")
        return torch.cat([gathered[:start], share[: end - start], gathered[end:]])

    def average(self, parameters: Iterable[nn.Parameter], loss: float) -> float:
        """Do as `Group.average`, in one message.

        A process without rows has no gradients, which count as zeros; a parameter that nobody used stays without one.
        """
        learning = [parameter for parameter in parameters if parameter.requires_grad]
        gradients = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad for parameter in learning
        ]
        numbers = gradients[0].new_tensor([loss, *(parameter.grad is not None for parameter in learning)])
        means = self.accelerator.reduce(torch.cat([numbers, *(parameter.flatten() for parameter in gradients)]), "mean")
        loss, *used = means[: len(numbers)].tolist()
        parts = means[len(numbers) :].split([parameter.numel() for parameter in learning])
        for parameter, gradient, part, share in zip(learning, gradients, parts, used, strict=True):
            parameter.grad = gradient.copy_(part.view_as(gradient)) if share else None
        return loss


def member(rank: int, size: int, folder: Path, threads: int, says: "connection.Connection[Any, Any]") -> None:
    """Do the folder's work as the process of this rank. The first one leaves its weights there."""
    end_with_parent()
    try:
        configure()
        accelerator = _joined(rank, size, folder, threads)
        place = {"cuda:0": f"cuda:{rank}"}
        work, arguments = torch.load(folder / ARGUMENTS, map_location=place, weights_only=False)
        networks = work(*arguments, _telling(says) if rank == 0 else no_progress, Member(accelerator))
        if rank == 0:
            torch.save([network.state_dict() for network in networks], folder / WEIGHTS)
        accelerator.end_training()
    except Exception as error:  # whatever it is, the parent raises it
        (folder / f"{FAILED}-{time.time_ns()}").write_bytes(_pickled(error))
        raise


def _joined(rank: int, size: int, folder: Path, threads: int) -> Accelerator:
    """Wait for all processes and return the accelerator, on the GPU of this process's number if there are GPUs."""
    loopback = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "OMP_NUM_THREADS": str(threads),
        "GLOO_SOCKET_IFNAME": loopback,
        "NCCL_SOCKET_IFNAME": loopback,
        ENGINE: "local",  # each measures by itself
    }
    torch.set_num_threads(threads)
    # They meet in a file instead of at a port, which others could take or reach.
    backend = "nccl" if default_device() == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, f"file://{folder / 'meeting'}", rank=rank, world_size=size)
    return Accelerator(cpu=default_device() == "cpu")


def _telling(says: "connection.Connection[Any, Any]") -> Progress:
    """Return a progress function that reports to the parent at intervals."""
    spoken = 0.0

    def tell(stage: str, share: float) -> None:
        nonlocal spoken
        if time.monotonic() - spoken >= REPORT_SECONDS:
            spoken = time.monotonic()
            says.send((stage, share))

    return tell


def _pickled(error: Exception) -> bytes:
    """Return the error as the parent can raise it, with the place where it happened."""
    error.add_note(f"In a training process:\n{traceback.format_exc()}")
    try:
        content = pickle.dumps(error)
        pickle.loads(content)
    except Exception:  # an error of a library that cannot be pickled
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return content
