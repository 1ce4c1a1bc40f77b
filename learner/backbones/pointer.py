"""A generator that writes its own words or copies words of the source text.

Source: See, Liu and Manning (2017), section 2.2, with a dot-product attention for copying.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import EncoderDecoderModel
from transformers.modeling_outputs import Seq2SeqLMOutput

LEAST = 1e-12  # probability of a word that is neither written nor copied


class Pointer(nn.Module):
    """How well each token of the source fits as the next word, and the gate between writing and copying."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.gate = nn.Linear(wide, 1)
        self.query = nn.Linear(wide, wide)
        self.key = nn.Linear(wide, wide)

    def begin(self, attention: Any) -> None:
        self.query.load_state_dict(attention.query.state_dict())
        self.key.load_state_dict(attention.key.state_dict())
        nn.init.zeros_(self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def forward(self, states: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores (n, t, s) and the gate's logits (n, t, 1), float32; states (n, t, d), read (n, s, d)."""
        query = self.query(states)
        key = self.key(read)
        return (query @ key.transpose(1, 2)).float() / query.shape[-1] ** 0.5, self.gate(states).float()


class PointerModel(EncoderDecoderModel):  # type: ignore[misc]
    """An encoder and a decoder of BERT's kind; its logits are log-probabilities: gate · writing + (1 − gate) · copying.

    Copying is an attention of the decoder's last states to the encoder's.
    """

    def __init__(self, config: Any = None, encoder: Any = None, decoder: Any = None) -> None:
        super().__init__(config, encoder, decoder)
        self.config.copying = True  # by which `load_pair` knows a saved one
        self.pointer = Pointer(self.decoder.config.hidden_size)

    def begin(self) -> None:
        """Start copying as the decoder's last cross-attention, and the gate at one half."""
        self.pointer.begin(self.decoder.bert.encoder.layer[-1].crossattention.self)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        encoder_outputs: Any = None,
        decoder_source_ids: Tensor | None = None,
        written: Tensor | None = None,
        **decoding: Any,
    ) -> Seq2SeqLMOutput:
        """Return log-probabilities (n, t, words) of each next word.

        decoder_source_ids: (n, s) int64, the ids that `encoder_outputs` were read from. written: (n, t) bool, the
        positions to which a hook confines the output layer; the logits are then (m, words).
        """
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
            decoder_source_ids = input_ids
        assert decoder_source_ids is not None, "a pointer model needs the ids that its encoder read"
        read = encoder_outputs[0]
        output = self.decoder.bert(
            input_ids=decoder_input_ids,
            encoder_hidden_states=read,
            encoder_attention_mask=attention_mask,
            past_key_values=decoding.get("past_key_values"),
            use_cache=decoding.get("use_cache"),
            attention_mask=decoding.get("decoder_attention_mask"),
            position_ids=decoding.get("decoder_position_ids"),
        )
        states = output.last_hidden_state
        words = self.decoder.cls(states)
        scores, gate = self.pointer(states, read)
        ids = decoder_source_ids[:, None].expand(scores.shape)
        real = ids < words.shape[-1]  # a token that only the encoder knows cannot be written
        real = real if attention_mask is None else real & attention_mask[:, None].bool()
        if written is not None:
            scores, gate, ids, real = (part[written] for part in (scores, gate, ids, real))
        logits = _mixed(words.float(), scores, gate, ids, real)
        return Seq2SeqLMOutput(logits=logits, past_key_values=output.past_key_values)

    def generate(self, input_ids: Tensor, **decoding: Any) -> Any:
        """Write as the library does; it repeats the source's ids for beams and samples."""
        return super().generate(input_ids=input_ids, decoder_source_ids=input_ids, **decoding)


def _mixed(words: Tensor, scores: Tensor, gate: Tensor, ids: Tensor, real: Tensor) -> Tensor:
    """Return log(g · softmax(words) + (1 − g) · copying), (…, words); scores, ids, real: (…, s), gate: (…, 1)."""
    word_share = gate.sigmoid()
    copied = scores.masked_fill(~real, torch.finfo(scores.dtype).min).softmax(-1) * (1 - word_share)
    ids = ids.masked_fill(~real, 0)
    return (words.softmax(-1) * word_share).scatter_add(-1, ids, copied.masked_fill(~real, 0.0)).clamp_min(LEAST).log()
