"""Where a backbone is loaded from, and what is said when it cannot be."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from transformers import AutoConfig, AutoTokenizer

from db.domain import DEFAULT_ENCODER
from db.errors import InputError
from db.files.artifacts import held
from db.files.checksums import require_whole
from learner.models.encoder import NO_CODE, bundled_minilm, require_folder

MANY = 8_192  # tokens: as many as a network can take
ERRORS = (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError)


@contextmanager
def loading(name: str) -> Iterator[str]:
    """The folder or hub name to load from; within it the libraries' errors become an InputError of one line."""
    for library in ("sentence_transformers", "transformers"):  # both report that the output layer is new, as it should
        logging.getLogger(library).setLevel(logging.ERROR)
    with held(Path(name).expanduser()) as path:
        require_folder(name)
        require_whole(path)
        try:
            yield str(bundled_minilm()) if name == DEFAULT_ENCODER else str(path) if path.is_dir() else name
        except ERRORS as error:
            raise InputError(f"backbone {name!r} cannot be loaded: {_reason(error)}") from error


def load_tokenizer(source: str) -> Any:
    """The tokenizer of that folder or hub name. Raises ValueError where it does not say where its tokens stand."""
    tokenizer = AutoTokenizer.from_pretrained(source, **NO_CODE)
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer does not tell where tokens stand: name a model with a tokenizer.json")
    return tokenizer


def size_of(name: str) -> tuple[int, int]:
    """How many layers the backbone has, and how many tokens it reads at once. Raises InputError where it is none."""
    with loading(name) as source:
        config = AutoConfig.from_pretrained(source, **NO_CODE)
        return int(config.num_hidden_layers), longest(config, load_tokenizer(source), MANY)


def longest(config: Any, tokenizer: Any, wanted: int) -> int:
    """Tokens of a text: as many as wanted, or as a model of that configuration and its tokenizer can take."""
    reads = getattr(config, "decoder", None) or config
    limits = (getattr(reads, "max_position_embeddings", None), tokenizer.model_max_length)
    return int(min(wanted, *(limit for limit in limits if limit and limit > 0)))


def _reason(error: Exception) -> str:
    """Why, in one line that says what to do."""
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "connect to" in first or "offline" in first.lower():
        return f"no model hub can be reached, and it is not in the cache: name a folder, or {DEFAULT_ENCODER}"
    return first
