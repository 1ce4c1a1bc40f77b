"""One training step of CosineBERT: the loss of a few pairs. Each distinct text is embedded once.

Source: Mussmann, Jia and Liang (2020), appendix A.1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from allpairs.learner.models.encoder import Encoder
from allpairs.learner.models.recording import Inputs
from allpairs.learner.models.tokens import Tokens, padded
from allpairs.learner.runtime.device import fast_training
from allpairs.learner.runtime.training_group import SINGLE_PROCESS, Group
from allpairs.learner.search.inner_product import score

LENGTHS = 16  # a recorded step's texts are padded to a multiple of this many tokens
PARTS = 4  # and their number to one of this many, up to two for each pair


@dataclass(frozen=True)
class Step:
    """The pairs of a training, by position: left and right (n,) int64 rows of the tokens, label and weight float32.

    offset: (n,) float32, subtracted from the pairs' scores. head: makes logits (n,) of scores (n,).
    """

    encoder: Encoder
    tokens: Tokens
    left: np.ndarray
    right: np.ndarray
    label: np.ndarray
    weight: np.ndarray
    offset: np.ndarray
    head: Callable[[Tensor], Tensor]
    group: Group = SINGLE_PROCESS

    def losses(self, batch: np.ndarray) -> Iterator[Tensor]:
        """Yield the loss of the pairs at these positions."""
        rows, pairs = self._pairs(batch)
        with fast_training(self.encoder.device):
            vectors = self.group.whole(self.encoder.embed, [self.tokens[row] for row in rows])
        yield self._loss(vectors, {name: column.to(self.encoder.device) for name, column in pairs.items()})

    def inputs(self, batch: np.ndarray) -> Inputs:
        """Return the same pairs as tensors on the CPU, padded to one of few shapes."""
        rows, pairs = self._pairs(batch)
        tokenizer = self.encoder.model.tokenizer
        texts = [self.tokens[row] for row in rows]
        part = -(-2 * len(batch) // PARTS)
        longest = max(map(len, texts))
        length = min(longest + -longest % LENGTHS, self.encoder.most_tokens)
        texts += [[tokenizer.pad_token_id]] * (-len(texts) % part)  # texts of no pair
        ids, mask = padded(texts, tokenizer.pad_token_id, width=length, left=self.encoder.pads_left)
        return {"input_ids": ids, "attention_mask": mask, **pairs}

    def loss(self, inputs: Inputs) -> Tensor:
        """Return the loss of such tensors, on the encoder's device."""
        with fast_training(self.encoder.device):
            vectors = self.encoder.vectors({name: inputs[name] for name in ("input_ids", "attention_mask")})
        return self._loss(vectors, inputs)

    def _pairs(self, batch: np.ndarray) -> tuple[np.ndarray, dict[str, Tensor]]:
        """Return the rows of the distinct texts, and the pairs by their places among these."""
        rows, places = np.unique(np.r_[self.left[batch], self.right[batch]], return_inverse=True)
        columns = {"left": places[: len(batch)], "right": places[len(batch) :]}
        columns |= {"label": self.label[batch], "weight": self.weight[batch], "offset": self.offset[batch]}
        return rows, {name: torch.from_numpy(column) for name, column in columns.items()}

    def _loss(self, vectors: Tensor, pairs: Inputs) -> Tensor:
        scores = score(vectors[pairs["left"]], vectors[pairs["right"]], self.encoder.distance)
        logits = self.head(scores - pairs["offset"])
        return nn.functional.binary_cross_entropy_with_logits(logits, pairs["label"], pairs["weight"])
