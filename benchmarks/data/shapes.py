"""Encoders of a known shape with random weights, for timing without trained weights."""

from collections.abc import Sequence
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordLevelTrainer
from torch import nn
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from allpairs.learner.models.encoder import Encoder

VOCABULARY = 30_522  # rows of the word embeddings, as in BERT and MiniLM
SHAPES = {  # hidden size, layers, heads
    "minilm": (384, 6, 12),
    "bert-base": (768, 12, 12),
}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def random_encoder(shape: str, texts: Sequence[str], folder: Path, device: str | None = None) -> Encoder:
    """Return an encoder of one of SHAPES, mean pooling, that knows these texts' words; its files are in `folder`."""
    hidden, layers, heads = SHAPES[shape]
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
        pad_token_id=0,
    )
    BertModel(config).save_pretrained(folder)
    _tokenizer(texts).save_pretrained(folder)
    transformer = Transformer(str(folder), max_seq_length=128)
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    return Encoder(SentenceTransformer(modules=[transformer, pooling], device=device), f"{shape}, random weights")


def _tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    words = Tokenizer(WordLevel(unk_token="[UNK]"))
    words.normalizer = Lowercase()
    words.pre_tokenizer = Whitespace()
    words.train_from_iterator(texts, WordLevelTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL))
    words.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=128,
    )


def flop_per_token(encoder: Encoder) -> float:
    """Return the floating-point operations of one token's forward pass: two per weight of the matrix products.

    The attention's own products are ignored: half a per cent at twelve tokens.
    """
    weights = [
        layer.weight.numel()
        for name, layer in encoder.model.named_modules()
        if isinstance(layer, nn.Linear) and "pooler" not in name
    ]
    return 2.0 * sum(weights)


def trained_weights(encoder: Encoder) -> int:
    """Return the number of weights that an optimizer's step reads and writes."""
    return sum(weight.numel() for weight in encoder.model.parameters() if weight.requires_grad)
