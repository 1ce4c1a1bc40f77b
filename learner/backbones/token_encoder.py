"""A network with a vector for each token, and its tokenizer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModel

from allpairs.db.identity import identity
from allpairs.learner.backbones.loading import MANY, load_tokenizer, longest
from allpairs.learner.models.cross_encoder_input import BUDGETS, SMALL_BUDGET, length_blocks
from allpairs.learner.models.loading import NO_CODE, SAFETENSORS, loading, require_numbers
from allpairs.learner.models.tokens import padded, token_ids
from allpairs.learner.runtime.device import default_device, fast_reading


@dataclass(frozen=True)
class TokenEncoder:
    """An encoder that returns a vector for each token."""

    model: Any
    tokenizer: Any

    @property
    def device(self) -> torch.device:
        return torch.device(self.model.device)

    @property
    def layers(self) -> int:
        """The number of layers."""
        return int(self.model.config.num_hidden_layers)

    def tokens(self, texts: Sequence[str], length: int = MANY) -> list[list[int]]:
        """Return the token ids of each text, with special tokens, truncated to this length."""
        limit = longest(self.model.config, self.tokenizer, length)
        return token_ids(self.tokenizer, list(map(identity, texts)), limit)

    def padded(self, ids: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
        """Return ids (n, t) int64 and mask (n, t) bool, false for padding, on the encoder's device."""
        rows, mask = padded(ids, self.tokenizer.pad_token_id, self.device)
        return rows, mask.bool()

    def layer_vectors(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Return the vectors (n, t, d) float32 after the embedding and after each layer; keeps gradients."""
        with fast_reading(self.device):
            states = self.model(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states
        return tuple(state.float() for state in states)

    def vectors(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the vectors (n, t, d) float32 of the last layer; keeps gradients."""
        with fast_reading(self.device):
            states: Tensor = self.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        return states.float()

    def blocks(self, ids: Sequence[list[int]]) -> Iterator[np.ndarray]:
        """Yield positions of texts of similar length, to be encoded together."""
        lengths = np.array([len(token_ids) for token_ids in ids], dtype=np.int64)
        return length_blocks(lengths, BUDGETS.get(self.device.type, SMALL_BUDGET))


def load_token_encoder(name: str, device: str | None = None) -> TokenEncoder:
    """Load the encoder of that hub name or folder, without dropout. Raises InputError where it cannot be loaded."""
    target = torch.device(device or default_device())
    with loading(name) as source:
        model = AutoModel.from_pretrained(source, dtype=torch.float32, **NO_CODE, **SAFETENSORS)
        require_numbers(model)
        return TokenEncoder(model.to(target).eval(), load_tokenizer(source))
