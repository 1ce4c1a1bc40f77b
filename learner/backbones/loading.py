"""Tokenizers of backbones, and how much they read."""

from typing import Any

from transformers import AutoConfig, AutoTokenizer

from allpairs.learner.models.loading import NO_CODE, loading

MANY = 8_192  # tokens: as many as a model takes


def load_tokenizer(source: str) -> Any:
    """Load the tokenizer of that folder or hub name. Raises ValueError where it does not report token offsets."""
    tokenizer = AutoTokenizer.from_pretrained(source, **NO_CODE)
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer does not report token offsets: name a model with a tokenizer.json")
    return tokenizer


def backbone_size(name: str) -> tuple[int, int]:
    """Return the backbone's number of layers, and how many tokens it reads at once. Raises InputError if it is none."""
    with loading(name) as source:
        config = AutoConfig.from_pretrained(source, **NO_CODE)
        return int(config.num_hidden_layers), longest(config, load_tokenizer(source), MANY)


def longest(config: Any, tokenizer: Any, length: int) -> int:
    """Return the maximum length in tokens: this one, or the limit of the model or its tokenizer if it is lower."""
    reads = getattr(config, "decoder", None) or config
    limits = (getattr(reads, "max_position_embeddings", None), tokenizer.model_max_length)
    return int(min(length, *(limit for limit in limits if limit and limit > 0)))
