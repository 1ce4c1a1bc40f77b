"""Which states of an encoder-decoder become a text's vector: its encoder's, or its decoder's."""

from typing import Any

from sentence_transformers.models import Transformer
from sentence_transformers.util import is_sentence_transformer_model
from torch import nn

from allpairs.learner.models.encoder import Encoder

# transformers' names of outputs
DECODER_STATES = "last_hidden_state"
ENCODER_STATES = "encoder_last_hidden_state"


def pool_encoder_states(encoder: Encoder) -> None:
    """Let an encoder-decoder such as BART pool its encoder's states, in place; the decoder's layers are dropped.

    Other encoders stay as they are, and so do models saved by sentence-transformers, which were trained with the states
    that they name. Source: Tran et al. (2020), who mine with the mean of mBART's encoder states.
    """
    first: Any = encoder.model[0]
    if not isinstance(first, Transformer) or not getattr(first.config, "is_encoder_decoder", False):
        return
    text = first.modality_config["text"]
    if text["method_output_name"] != DECODER_STATES or is_sentence_transformer_model(encoder.name):
        return
    text["method_output_name"] = ENCODER_STATES
    first.model.decoder.layers = nn.ModuleList()
    first.config.decoder_layers = 0
