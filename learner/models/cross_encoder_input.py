"""Both texts of a pair as one token sequence, and a cross-encoder's logit for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sentence_transformers import CrossEncoder
from torch import Tensor

from allpairs.db.identity import identity

BUDGETS = {"cuda": 65_536}  # tokens of one forward pass: small blocks stay in a CPU's cache, a GPU wants large ones
SMALL_BUDGET = 1_024
LONGEST = 8_192  # tokens of a pair, if neither model nor tokenizer sets a limit


@dataclass(frozen=True)
class PairTokens:
    """The tokenizer's columns (input ids, mask, …), each with one list of numbers a pair."""

    columns: dict[str, list[list[int]]]

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each pair, (n,) int64."""
        return np.array([len(ids) for ids in self.columns["input_ids"]], dtype=np.int64)

    def blocks(self, budget: int) -> Iterator[np.ndarray]:
        """Yield positions of pairs of similar length, in blocks of at most `budget` tokens, padding included."""
        return length_blocks(self.lengths, budget)


def length_blocks(lengths: np.ndarray, budget: int) -> Iterator[np.ndarray]:
    """Yield positions of rows of similar length, (n,), in blocks of at most `budget` tokens, padding included."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or lengths[order[end]] * (end + 1 - start) > budget:
            yield order[start:end]
            start = end


def read_pairs(model: CrossEncoder, texts: Sequence[str], left: np.ndarray, right: np.ndarray) -> PairTokens:
    """Tokenize each pair of rows, truncated at the model's own limit; left and right (n,) int64, n above 0."""
    pair = [identity(texts[row]) for row in left], [identity(texts[row]) for row in right]
    limit = min(model.max_seq_length or LONGEST, LONGEST)
    return PairTokens(dict(model.tokenizer(*pair, truncation=True, max_length=limit)))


def pair_logits(model: CrossEncoder, tokens: PairTokens, positions: np.ndarray) -> Tensor:
    """Return the logits (k,) of the pairs at these positions, float32 on the model's device; keeps gradients.

    With two outputs the logit is the second minus the first (as in the code of Mussmann, Jia and Liang 2020).
    """
    columns = {name: [values[i] for i in positions] for name, values in tokens.columns.items()}
    padded = model.tokenizer.pad(columns, return_tensors="pt").to(model.device)
    outputs = model.model(**padded).logits.float()
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs[:, 1] - outputs[:, 0]


def score_text_pairs(model: CrossEncoder, texts: Sequence[str], left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the logit of each pair of rows, (n,) float32, without dropout; similar lengths are read together."""
    scores = np.empty(len(left), dtype=np.float32)
    if not len(left):
        return scores
    tokens = read_pairs(model, texts, left, right)
    model.eval()
    with torch.inference_mode():
        for block in tokens.blocks(BUDGETS.get(torch.device(model.device).type, SMALL_BUDGET)):
            scores[block] = pair_logits(model, tokens, block).cpu().numpy()
    return scores
