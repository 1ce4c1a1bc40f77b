"""A generator from an encoder alone: the encoder, and a small new decoder that begins with the encoder's weights.

Source: Rothe, Narayan and Severyn 2020 (Trans. ACL 8), who begin both sides with one encoder's weights; here the
decoder has fewer layers than the encoder.
"""

from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, BertConfig, BertLMHeadModel, BertModel, EncoderDecoderModel

from learner.models.encoder import NO_CODE, SAFETENSORS


def with_new_decoder(source: str, tokenizer: Any, layers: int) -> Any:
    """BERT's encoder of that folder or hub name, with a decoder of so many layers, and the ids that decoding needs.

    The decoder's embeddings are the encoder's, its output is tied to them, and its layers begin as the encoder's,
    spread over its depth; cross-attention begins as the same layer's self-attention. What is left is drawn from
    torch's generator.
    """
    encoder = BertModel.from_pretrained(source, add_pooling_layer=False, dtype=torch.float32, **SAFETENSORS)
    shape = {**encoder.config.to_dict(), "num_hidden_layers": layers, "tie_word_embeddings": True}
    decoder = BertLMHeadModel(BertConfig(**{**shape, "is_decoder": True, "add_cross_attention": True}))
    decoder.bert.embeddings.load_state_dict(encoder.embeddings.state_dict())
    depth = len(encoder.encoder.layer)
    for i, layer in enumerate(decoder.bert.encoder.layer):
        _begin(layer, encoder.encoder.layer[min(depth - 1, i * depth // layers)])
    model = EncoderDecoderModel(encoder=encoder, decoder=decoder)
    ids = {
        "decoder_start_token_id": tokenizer.cls_token_id, "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id, "pad_token_id": tokenizer.pad_token_id,
    }  # fmt: skip
    for name, number in ids.items():
        setattr(model.config, name, number)
        setattr(model.generation_config, name, number)
    return model


def load_pair(source: str) -> Any:
    """The model of that folder or hub name, which has encoder and decoder already."""
    return AutoModelForSeq2SeqLM.from_pretrained(source, dtype=torch.float32, **NO_CODE, **SAFETENSORS)


def _begin(layer: Any, original: Any) -> None:
    """Nothing; the layer's weights are the encoder layer's."""
    for name in ("attention", "intermediate", "output"):
        getattr(layer, name).load_state_dict(getattr(original, name).state_dict())
    layer.crossattention.load_state_dict(original.attention.state_dict())
