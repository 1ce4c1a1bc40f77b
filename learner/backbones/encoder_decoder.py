"""A generator made from an encoder alone: the encoder and a small new decoder, initialised with the encoder's weights.

Source: Rothe, Narayan and Severyn (2020), who initialise both sides with one encoder's weights; here the decoder has
fewer layers than the encoder.
"""

from typing import Any

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM, BertConfig, BertLMHeadModel, BertModel, EncoderDecoderModel

from allpairs.learner.backbones.pointer import PointerModel
from allpairs.learner.models.loading import NO_CODE, SAFETENSORS


def with_new_decoder(source: str, tokenizer: Any, layers: int, copying: bool = False) -> Any:
    """Return the BERT encoder of that folder or hub name with a new decoder of `layers` layers, ready for decoding.

    The decoder shares the encoder's embeddings, and its output is tied to them. Its layers start as encoder layers,
    taken at even distances over the depth; cross-attention starts as the same layer's self-attention. The other weights
    are drawn from torch's generator. copying: the model may copy words of its source.
    """
    encoder = BertModel.from_pretrained(source, add_pooling_layer=False, dtype=torch.float32, **SAFETENSORS)
    shape = {**encoder.config.to_dict(), "num_hidden_layers": layers, "tie_word_embeddings": True}
    decoder = BertLMHeadModel(BertConfig(**{**shape, "is_decoder": True, "add_cross_attention": True}))
    decoder.bert.embeddings.load_state_dict(encoder.embeddings.state_dict())
    depth = len(encoder.encoder.layer)
    for i, layer in enumerate(decoder.bert.encoder.layer):
        _begin(layer, encoder.encoder.layer[min(depth - 1, i * depth // layers)])
    if copying:
        model = PointerModel(encoder=encoder, decoder=decoder)
        model.begin()
    else:
        model = EncoderDecoderModel(encoder=encoder, decoder=decoder)
    ids = {
        "decoder_start_token_id": tokenizer.cls_token_id,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    for name, number in ids.items():
        setattr(model.config, name, number)
        setattr(model.generation_config, name, number)
    return model


def load_pair(source: str) -> Any:
    """Load the model of that folder or hub name, which already has an encoder and a decoder."""
    copies = getattr(AutoConfig.from_pretrained(source, **NO_CODE), "copying", False)
    kind = PointerModel if copies else AutoModelForSeq2SeqLM
    return kind.from_pretrained(source, dtype=torch.float32, **({} if copies else NO_CODE), **SAFETENSORS)


def _begin(layer: Any, original: Any) -> None:
    """Copy the encoder layer's weights into the decoder layer."""
    for name in ("attention", "intermediate", "output"):
        getattr(layer, name).load_state_dict(getattr(original, name).state_dict())
    layer.crossattention.load_state_dict(original.attention.state_dict())
