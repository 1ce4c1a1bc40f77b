"""Token ids of texts, and rows of ids padded to one length, without the objects that a tokenizer's call makes of them.

A GPU reads a batch faster than a tokenizer's call and its padding prepare it.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

Tokens = list[list[int]]


def token_ids(tokenizer: Any, texts: Sequence[str], limit: int, special: bool = True) -> Tokens:
    """Return the token ids of each text, truncated to this length; special: with special tokens.

    tokenizer: of transformers, or of the library tokenizers itself.
    """
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not texts:
        return []
    if not hasattr(fast, "encode_batch_fast"):  # a tokenizer that is written in Python
        return list(tokenizer(list(texts), truncation=True, max_length=limit, add_special_tokens=special)["input_ids"])
    truncation = {"max_length": limit, "direction": getattr(tokenizer, "truncation_side", "right")}
    # Only what differs is set: it must not change while another thread of a server reads with it.
    if fast.padding is not None:
        fast.no_padding()
    if fast.truncation is None or not truncation.items() <= fast.truncation.items():
        fast.enable_truncation(**truncation)
    return [encoding.ids for encoding in fast.encode_batch_fast(list(texts), add_special_tokens=special)]


def padded(
    rows: Sequence[Sequence[int]], padding: int, device: torch.device | None = None, left: bool = False, width: int = 0
) -> tuple[Tensor, Tensor]:
    """Return ids and mask, each (n, t) int64 on the device, or else the CPU; left: rows are padded at their start.

    width: the least t.
    """
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    places = np.arange(lengths.max(initial=width))
    mask = (places[::-1] if left else places) < lengths[:, None]
    ids = np.full(mask.shape, padding, dtype=np.int64)
    ids[mask] = np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum())
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask.astype(np.int64)).to(device)
