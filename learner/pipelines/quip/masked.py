"""Sentiment by the word that a masked language model puts in a gap: the baseline of Table 5.

Source: the template and the words of LM-BFF (Gao et al. 2021), which Jia, Lewis and Zettlemoyer (2022) use without any
training.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForMaskedLM

from allpairs.learner.backbones.loading import MANY, load_tokenizer, longest
from allpairs.learner.backbones.token_encoder import TokenEncoder
from allpairs.learner.models.loading import NO_CODE, SAFETENSORS, loading, require_numbers
from allpairs.learner.runtime.device import default_device

TEMPLATE = " It was {mask} ."  # after the text
WORDS = (" terrible", " great")  # the negative word first
HEAD = "ForMaskedLM"


@dataclass(frozen=True)
class MaskedReader:
    """A network with a masked-language-model head, its tokenizer, the tokens after a text, and both words'."""

    model: Any
    tokenizer: Any
    after: list[int]
    words: list[int]

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        """Return the log-probabilities of both words in the gap after each text, (n, 2); long texts are cut."""
        encoder = TokenEncoder(self.model, self.tokenizer)
        before = self.tokenizer("")["input_ids"][:1]
        end = self.tokenizer("")["input_ids"][1:]
        room = longest(self.model.config, self.tokenizer, MANY) - len(before) - len(self.after) - len(end)
        read = self.tokenizer(list(texts), add_special_tokens=False, truncation=True, max_length=room)["input_ids"]
        ids = [[*before, *text_ids, *self.after, *end] for text_ids in read]
        scores = np.empty((len(texts), 2), dtype=np.float32)
        with torch.inference_mode():
            for rows in encoder.blocks(ids):
                padded, mask = encoder.padded([ids[i] for i in rows])
                logits = self.model(input_ids=padded, attention_mask=mask.long()).logits.float()
                gap = logits[padded == self.tokenizer.mask_token_id]  # each text has one
                scores[rows] = gap.log_softmax(dim=1)[:, self.words].cpu().numpy()
        return scores


def load_masked_reader(name: str, device: str | None = None) -> MaskedReader | None:
    """Return the reader of that hub name or folder, or None if it lacks the head or one of the words.

    Raises InputError if the model cannot be loaded.
    """
    with loading(name) as source:
        kinds = AutoConfig.from_pretrained(source, **NO_CODE).architectures or []
        if not any(str(kind).endswith(HEAD) for kind in kinds):
            return None
        tokenizer = load_tokenizer(source)
        words = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in WORDS]
        if tokenizer.mask_token is None or any(len(w) != 1 or w[0] == tokenizer.unk_token_id for w in words):
            return None
        after = tokenizer(TEMPLATE.format(mask=tokenizer.mask_token), add_special_tokens=False)["input_ids"]
        model = AutoModelForMaskedLM.from_pretrained(source, dtype=torch.float32, **NO_CODE, **SAFETENSORS)
        require_numbers(model)
        target = torch.device(device or default_device())
        return MaskedReader(model.to(target).eval(), tokenizer, list(after), [word[0] for word in words])
