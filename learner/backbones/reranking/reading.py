"""How a re-ranker reads a pair, and its encoder made faster: compiled on a GPU, in whole numbers on a CPU."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from allpairs.db.errors import InputError

FILE = "reranker.json"


@dataclass(frozen=True)
class Reading:
    """How a re-ranker reads: its view, the second view it was trained on, and the length of its source in tokens.

    compiled: whether its encoder is compiled on an NVIDIA GPU; int8: whether it multiplies in int8 on a CPU.
    """

    view: str = "rank"
    second: str | None = None
    source_length: int = 128
    compiled: bool = False
    int8: bool = False


def load_reading(folder: Path) -> Reading:
    """Load how the re-ranker in the folder reads. Raises InputError where that file cannot be read."""
    try:
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        faster = [stored.get(name, False) for name in ("compiled", "int8")]
        return Reading(stored["view"], stored["second"], stored["source_length"], *faster)
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"{folder}: {FILE} cannot be read ({error})"
        raise InputError(f"{problem}: name another folder that a pipeline made") from None


def encoder_to_read(module: Any, reading: Reading, device: torch.device) -> Any:
    """Return the encoder as this reading wants it on the device: as it is, compiled, or a copy with products in int8.

    Compiled for inputs of any shape, on an NVIDIA GPU. In int8 on a CPU: weights rounded once, by output, inputs in
    every product.
    """
    if reading.compiled and device.type == "cuda":
        return torch.compile(module, dynamic=True)
    return _in_int8(module) if reading.int8 and device.type == "cpu" else module


def _in_int8(module: Any) -> Any:
    # Deprecated in favour of torchao, which is no faster than float32 on a CPU unless compiled.
    from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (DeprecationWarning, UserWarning))  # type: ignore[arg-type]
        return quantize_dynamic(module, {torch.nn.Linear: per_channel_dynamic_qconfig})  # type: ignore[no-untyped-call]
