"""Loading a backbone, and the errors where that fails."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from transformers import AutoConfig, AutoTokenizer

from allpairs.db.domain import DEFAULT_ENCODER
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held
from allpairs.db.files.checksums import require_whole
from allpairs.learner.models.encoder import NO_CODE, bundled_minilm, require_folder, why

MANY = 8_192  # tokens: as many as a model takes
ERRORS = (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError)


@contextmanager
def loading(name: str) -> Iterator[str]:
    """Yield the folder or hub name to load from; the libraries' errors within become a one-line InputError."""
    for library in ("sentence_transformers", "transformers"):  # both report, as expected, that the output layer is new
        logging.getLogger(library).setLevel(logging.ERROR)
    with held(Path(name).expanduser()) as path:
        require_folder(name)
        require_whole(path)
        try:
            yield str(bundled_minilm()) if name == DEFAULT_ENCODER else str(path) if path.is_dir() else name
        except ERRORS as error:
            raise InputError(f"backbone {name!r} cannot be loaded: {why(name, error)}") from error


def load_tokenizer(source: str) -> Any:
    """Load the tokenizer of that folder or hub name. Raises ValueError where it does not report token offsets."""
    tokenizer = AutoTokenizer.from_pretrained(source, **NO_CODE)
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer does not report token offsets: name a model with a tokenizer.json")
    return tokenizer


def size_of(name: str) -> tuple[int, int]:
    """Return the backbone's number of layers, and how many tokens it reads at once. Raises InputError if it is none."""
    with loading(name) as source:
        config = AutoConfig.from_pretrained(source, **NO_CODE)
        return int(config.num_hidden_layers), longest(config, load_tokenizer(source), MANY)


def longest(config: Any, tokenizer: Any, wanted: int) -> int:
    """Return the maximum length in tokens: the one wanted, or less where the model or its tokenizer takes less."""
    reads = getattr(config, "decoder", None) or config
    limits = (getattr(reads, "max_position_embeddings", None), tokenizer.model_max_length)
    return int(min(wanted, *(limit for limit in limits if limit and limit > 0)))
