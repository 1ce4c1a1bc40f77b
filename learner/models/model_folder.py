"""What a model's folder must be before anything of it is built: data alone, and of the sizes that its weights have."""

import json
import re
from collections.abc import Iterator
from functools import partial
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

from safetensors import SafetensorError, safe_open

from allpairs.db.domain import PICKLED
from allpairs.db.errors import InputError

# bytes of a JSON file
LONGEST_CONFIG = 8_000_000
LONGEST_VOCABULARY = 200_000_000
MOST_PARTS = 100_000  # layers, labels, experts
PARTS = re.compile("layer|label|expert|head|block|depth|stage")  # in the names of numbers of parts
IMPLEMENTATION = "_implementation"  # a name that ends so may name a repository of code at the hub
ACTIVATION = re.compile(r"torch\.nn\.modules\.(activation|linear)\.\w+")  # what a library may import by its name
CODE = "auto_map"  # names classes in files beside the model
MODULES = frozenset(
    ("Transformer", "Pooling", "Normalize", "Dense", "Dropout", "LayerNorm", "StaticEmbedding", "WeightedLayerPooling")
)
LIBRARY = "sentence_transformers."
POOLER = "pooler"  # in the names of its tensors
WEIGHTS = ("weight", "bias")  # ends of the names of tensors that must be fractions


def require_folder(name: str) -> None:
    """Raise InputError if the name is a path without a folder, or of a folder that is more than a model's data.

    More is code, or the name of code elsewhere; weights that could run code; parts beyond all measure.
    """
    folder = Path(name).expanduser()
    if name.startswith(("/", ".", "~")) and not folder.is_dir():
        raise InputError(f"there is no folder {name}: name a model's folder, or a model of the hub")
    for file in _files(folder):
        if file.name.endswith(PICKLED) and not any(file.parent.glob("*.safetensors")):
            problem = f"{file.relative_to(folder)} could run code when it is loaded"
            raise InputError(f"model {name!r}: {problem}: convert it with `allpairs convert`")
        if problem := next(_wrong_in_file(file), ""):
            place = f"model {name!r} cannot be loaded: {file.relative_to(folder)}"
            raise InputError(f"{place}: {problem}: download or train it again")


def forget_code(folder: Path) -> None:
    """Take the names of code, which was not run, out of the configuration that a library has saved."""
    for file in (folder / "config.json", folder / "tokenizer_config.json"):
        config = json.loads(file.read_bytes()) if file.is_file() else {}
        if config.pop(CODE, None):
            file.write_text(json.dumps(config, indent=2), encoding="utf-8")


def numbers_in(folder: Path) -> int:
    """Return how many numbers the folder's weights hold, without those of a pooler, which nothing here uses."""
    files = (file for file in _files(folder) if file.suffix == ".safetensors")
    return sum(prod(shape) for file in files for name, shape, _ in _tensors(file) if POOLER not in name)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files that loading may read: in the folder, and in its modules' (1_Pooling and so on)."""
    modules = [path for path in folder.glob("*") if path.is_dir() and path.name[:1].isdecimal()]
    return (file for place in (folder, *modules) for file in sorted(place.glob("*")) if file.is_file())


def _wrong_in_file(file: Path) -> Iterator[str]:
    """Yield what is wrong with the file, if anything is, in a few words."""
    if file.suffix == ".safetensors":
        yield from _wrong_in_weights(file)
    elif file.suffix == ".json":
        size = file.stat().st_size
        most = LONGEST_CONFIG if _is_config(file) else LONGEST_VOCABULARY
        if size > most:
            yield f"it has {size:,} bytes, and the limit is {most:,}"
        elif _is_config(file):
            yield from _wrong_in_config(file)


def _is_config(file: Path) -> bool:
    return "config" in file.name or file.name == "modules.json" or file.name.endswith(".index.json")


def _wrong_in_weights(file: Path) -> Iterator[str]:
    try:
        for name, shape, kind in _tensors(file):
            if name.endswith(WEIGHTS) and not kind.startswith(("F", "BF")):
                yield f"the tensor {name[:60]} {shape} is of whole numbers ({kind})"
    except (SafetensorError, OSError, ValueError) as error:
        yield f"it is damaged ({str(error).splitlines()[0]})"


def _tensors(file: Path) -> Iterator[tuple[str, list[int], str]]:
    """Yield name, shape and type of each tensor; the header has been compared with the file's size."""
    with safe_open(file, "np") as weights:
        for name in sorted(weights.keys()):
            tensor = weights.get_slice(name)
            yield name, tensor.get_shape(), tensor.get_dtype()


def _wrong_in_config(file: Path) -> Iterator[str]:
    try:
        known = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        yield f"it is not JSON ({type(error).__name__})"
        return
    if file.name == "modules.json":
        yield from _wrong_modules(known)
    elif not isinstance(known, dict):
        yield "it is not an object"
    elif file.name == "adapter_config.json":
        yield "it is an adapter of another model"
    elif file.name.endswith(".index.json"):
        yield from (
            f"it names {name!r}"
            for name in map(str, dict(known.get("weight_map") or {}).values())
            if not _is_plain(name)
        )
    else:
        yield from _wrong_values("", known, file.name.startswith("sentence_"))


def _wrong_modules(modules: Any) -> Iterator[str]:
    """Yield which module is of a class that is not a part of encoders, or lies elsewhere."""
    for module in modules if isinstance(modules, list) and modules else [None]:
        kind, path = (str(module.get(key)) for key in ("type", "path")) if isinstance(module, dict) else ("", "")
        if not kind.startswith(LIBRARY) or kind.rpartition(".")[2] not in MODULES:
            yield f"the module {kind[:80]!r} is not a part of an encoder"
        if path and not (_is_plain(path) and path[:1].isdecimal()):
            yield f"the module's folder {path[:80]!r} is not one of a module"


def _wrong_values(key: str, value: Any, local: bool) -> Iterator[str]:
    """Yield which values name code or have parts beyond all measure; local: values may not name places either."""
    if key == CODE and value:
        yield f"it names code of its own ({CODE})"
    elif isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else ((key, item) for item in value)
        wrong_in = partial(_wrong_values, local=local)
        yield from (wrong for name, item in items for wrong in wrong_in(_named(key, str(name)), item))
    elif isinstance(value, str):
        if key.endswith(IMPLEMENTATION) and not re.fullmatch(r"\w+", value):
            yield f"{key} names code elsewhere ({value[:80]!r})"
        if "activation" in key and "." in value and not ACTIVATION.fullmatch(value):
            yield f"{key} names code ({value[:80]!r})"
        if local and not _is_plain(value or "none"):
            yield f"{key} names another place ({value[:80]!r})"
    elif isinstance(value, int) and PARTS.search(key) and value > MOST_PARTS:
        yield f"{key[:60]} is {value:.6g}, and the limit is {MOST_PARTS:,}"


def _named(key: str, name: str) -> str:
    """Return the name of a value within another: an implementation is named for each part of a model."""
    return key if key.endswith(IMPLEMENTATION) else name


def _is_plain(name: str) -> bool:
    """Return whether the name is that of something in the folder itself."""
    return "\\" not in name and PurePosixPath(name).name == name and name != ".."
