"""A scorer that compares texts token by token: BERTScore F of one of an encoder's layers.

Source: Jia, Lewis and Zettlemoyer (2022), section 3.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.token_encoder import TokenEncoder, load_token_encoder
from allpairs.learner.metrics.bertscore import bertscore
from allpairs.learner.models.cross_encoder_input import BUDGETS, SMALL_BUDGET, length_blocks

PREFIX = "bertscore:"
LAYER_MARK = "@"
CHUNK = 512  # pairs compared between two progress reports


@dataclass(frozen=True)
class TokenScorer:
    """BERTScore F of any pair of the texts, from the vectors of layer `depth`, counted from 1. Not a probability."""

    encoder: TokenEncoder
    texts: Sequence[str]
    depth: int

    @property
    def layer(self) -> None:
        """Always None: the score has no output layer."""
        return

    def score(self, left: np.ndarray, right: np.ndarray, progress: Progress = no_progress) -> np.ndarray:
        """Return the score of each pair of rows, (n,) float32; each text of 512 pairs is encoded once."""
        parts = [np.empty(0, dtype=np.float32)]
        for start in range(0, len(left), CHUNK):
            chunk = slice(start, start + CHUNK)
            rows, places = np.unique(np.r_[left[chunk], right[chunk]], return_inverse=True)
            parts.append(self._compared(self._vectors(rows), *places.reshape(2, -1)))
            progress("score", min(1.0, (start + CHUNK) / len(left)))
        return np.concatenate(parts)

    def _vectors(self, rows: np.ndarray) -> list[Tensor]:
        """Return the vectors (t, d) of each of these texts."""
        ids = self.encoder.tokens([self.texts[row] for row in rows])
        text_vectors: list[Tensor] = [torch.empty(0)] * len(ids)
        with torch.inference_mode():
            for block in self.encoder.blocks(ids):
                padded, mask = self.encoder.padded([ids[i] for i in block])
                vectors = self.encoder.layer_vectors(padded, mask)[self.depth]
                for i, padded_vectors in zip(block, vectors, strict=True):
                    text_vectors[i] = padded_vectors[: len(ids[i])]
        return text_vectors

    def _compared(self, vectors: Sequence[Tensor], left: np.ndarray, right: np.ndarray) -> np.ndarray:
        scores = np.empty(len(left), dtype=np.float32)
        lengths = np.array([len(vectors[a]) + len(vectors[b]) for a, b in zip(left, right, strict=True)])
        with torch.inference_mode():
            for block in length_blocks(lengths, BUDGETS.get(self.encoder.device.type, SMALL_BUDGET)):
                x, x_mask = _padded([vectors[i] for i in left[block]])
                y, y_mask = _padded([vectors[i] for i in right[block]])
                scores[block] = bertscore(x, y, x_mask, y_mask).cpu().numpy()
        return scores


def is_token_scorer(name: str) -> bool:
    """Return whether the name is one for `load_token_scorer`."""
    return name.startswith(PREFIX)


def load_token_scorer(name: str, texts: Sequence[str], device: str | None = None) -> TokenScorer:
    """Load the scorer of these texts: `bertscore:ENCODER`, with its last layer, or `bertscore:ENCODER@LAYER`.

    The prefix is optional. Raises InputError if the encoder cannot be loaded or has no such layer.
    """
    source, _, depth = name.removeprefix(PREFIX).partition(LAYER_MARK)
    encoder = load_token_encoder(source, device)
    layer = depth or str(encoder.layers)
    if not layer.isdecimal() or not 1 <= int(layer) <= encoder.layers:
        raise InputError(
            f"{name}: {source} has layers 1 to {encoder.layers}: write {PREFIX}{source}{LAYER_MARK}{encoder.layers}"
        )
    return TokenScorer(encoder, texts, int(layer))


def _padded(vectors: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the vectors (n, t, d) and a mask (n, t) that is false for padding."""
    padded = pad_sequence(list(vectors), batch_first=True)
    lengths = torch.tensor([len(text_vectors) for text_vectors in vectors], device=padded.device)
    return padded, torch.arange(padded.shape[1], device=padded.device) < lengths[:, None]
