"""Weights in PyTorch's own format, which can hold code, written as safetensors, which cannot."""

import json
import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from pickle import UnpicklingError

import torch
from safetensors.torch import save_file

from allpairs.db.domain import PICKLED
from allpairs.db.errors import InputError

PARTS = "pytorch_model.bin.index.json"
WHOLE = "pytorch_model.bin"
NOT_COPIED = (*PICKLED, ".h5", ".msgpack", ".ot", ".onnx", ".safetensors", ".tflite", ".md")  # not copied, like PARTS


def convert_weights(source: Path, target: Path) -> int:
    """Write the folder's model to a new folder with its weights as safetensors; return the number of tensors.

    The old weights, those of the folders of its modules too, are read in a process of their own, by a reader that
    accepts tensors alone (torch's weights_only). Raises InputError if the folder has none or they hold anything else,
    if the target exists, or if it cannot be written.
    """
    files = {folder: _weights(folder) for folder in _folders(source)}
    if target.exists():
        raise InputError(f"{target} exists already: choose another folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as name:
            converted = Path(name) / target.name
            shutil.copytree(
                source, converted, ignore=lambda _, names: [file_name for file_name in names if _is_left(file_name)]
            )
            work = {
                converted / folder.relative_to(source) / "model.safetensors": parts for folder, parts in files.items()
            }
            with ProcessPoolExecutor(1, get_context("spawn")) as reader:
                tensors = sum(reader.submit(_convert, parts, path).result() for path, parts in work.items())
            converted.replace(target)
    except BrokenProcessPool as error:
        problem = f"{source}: the process that read the weights ended early"
        raise InputError(f"{problem}: if memory ran out, use another machine") from error
    except OSError as error:
        raise InputError(f"{target} cannot be written ({error.strerror}): choose another folder") from error
    return tensors


def _folders(source: Path) -> list[Path]:
    """Return the folders with weights: the model's, and those of its modules (1_Pooling and so on)."""
    folders = sorted({path.parent for name in (WHOLE, PARTS) for path in source.rglob(name)})
    return folders or [source]


def _is_left(name: str) -> bool:
    return name.endswith(NOT_COPIED) or name == PARTS


def _weights(source: Path) -> list[Path]:
    """Return the folder's files of weights: the one, or the parts that its index names."""
    if (source / PARTS).is_file():
        try:
            names = set(json.loads((source / PARTS).read_text(encoding="utf-8"))["weight_map"].values())
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise InputError(f"{source / PARTS}: this is no index of weights ({error!r}): download it again") from error
    else:
        names = {WHOLE}
    files = [source / Path(name).name for name in sorted(names)]
    if missing := [file for file in files if not file.is_file()]:
        raise InputError(f"{missing[0]}: file not found: name a model's folder with {WHOLE}")
    return files


def _convert(files: list[Path], target: Path) -> int:
    """Write the tensors of all files to one; those that share memory, such as tied tables of words, are copied."""
    tensors: dict[str, torch.Tensor] = {}
    for file in files:
        try:
            loaded = torch.load(file, map_location="cpu", weights_only=True)
        except (UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
            first = [*str(error).splitlines(), type(error).__name__][0]
            problem = f"{file.name} holds more than tensors, or is damaged ({first})"
            raise InputError(f"{problem}: download it again, from a source that you trust") from None
        if not isinstance(loaded, dict) or not all(isinstance(value, torch.Tensor) for value in loaded.values()):
            raise InputError(f"{file.name} is not a table of tensors by name: name a model's folder")
        tensors |= {name: value.detach().clone().contiguous() for name, value in loaded.items()}
    save_file(tensors, target, {"format": "pt"})
    return len(tensors)
