"""The device of tensors, and the number format of training."""

import copy
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from allpairs.db.errors import InputError


def default_device() -> str:
    """Return `cuda` if there is a GPU, else `cpu`."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def usable_device(name: str) -> str:
    """Return the device's name. Raises InputError for an unknown one, and for one that this machine does not have."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f"there is no device {name!r}: give 'cpu' or 'cuda'") from error
    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if (device.index or 0) >= counts.get(device.type, 0):
        raise InputError(f"this machine has no device {name!r}: give {default_device()!r}")
    return name


class Portable:
    """An object with a `model`, which is pickled on the CPU and unpickled on the receiving process's device."""

    model: Any

    def __getstate__(self) -> dict[str, Any]:
        on_processor = self.model if str(self.model.device) == "cpu" else copy.deepcopy(self.model).cpu()
        return {**self.__dict__, "model": on_processor}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.model.to(default_device())


# How attention is computed. On a CPU as plain products: for texts as short as ours the gradient of the fused kernel
# takes a quarter of a training step. On a GPU without cuDNN, which plans anew for every length and number of texts.
ATTENTION = {
    "cpu": [SDPBackend.MATH],
    "cuda": [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH],
}


def fast_training(device: torch.device) -> AbstractContextManager[object]:
    """Return a context for the forward pass of a training step: bfloat16 where the hardware supports it."""
    return computing(device, multiplies_bfloat16(device))


@contextmanager
def computing(device: torch.device, bfloat16: bool) -> Iterator[None]:
    """Return a context for a network's forward pass, in bfloat16 or as it is, with the attention for this device."""
    with (
        torch.autocast(device.type, torch.bfloat16, enabled=bfloat16),
        sdpa_kernel(ATTENTION[device.type]) if device.type in ATTENTION else nullcontext(),
    ):
        yield


def fast_reading(device: torch.device) -> AbstractContextManager[object]:
    """Return a context for a network's forward pass: bfloat16 on a GPU with units for it, where no gradient is taken.

    A GPU with TF32 has such units, so TF32 is not needed. Elsewhere, and in training, nothing changes: on a CPU
    figures would depend on the processor. The caller turns results into float32.
    """
    return computing(device, True) if reads_in_bfloat16(device) and not torch.is_grad_enabled() else nullcontext()


def reads_in_bfloat16(device: torch.device) -> bool:
    """Return whether `fast_reading` computes in bfloat16 on this device."""
    return device.type == "cuda" and multiplies_bfloat16(device)


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Return a context in which torch draws from this seed; its generators continue afterwards as if untouched."""
    with torch.random.fork_rng([device.index or 0] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def multiplies_bfloat16(device: torch.device) -> bool:
    """Return whether the device has units for products of bfloat16; others emulate them, slower than float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    capabilities = torch.cpu.get_capabilities()
    return device.type == "cpu" and bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
