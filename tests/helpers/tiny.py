"""A tiny encoder for tests: built, not downloaded, and loaded in a fraction of a second."""

from collections.abc import Sequence
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, StaticEmbedding, Transformer
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordLevelTrainer
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def tiny_encoder(folder: Path, texts: Sequence[str], seed: int = 0, layers: int = 1) -> Path:
    """Write a random BERT that knows these texts' words, mean-pooled and seeded.

    More layers are slower. Return its folder.
    """
    tokenizer = tiny_tokenizer(texts)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128, hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.5,
        pad_token_id=0, initializer_range=0.2,
    )  # fmt: skip
    bare = folder / "bert"
    BertModel(config).save_pretrained(bare)
    tokenizer.save_pretrained(bare)
    transformer = Transformer(str(bare), max_seq_length=64)
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    whole = folder / "tiny"
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save(str(whole), create_model_card=False)
    return whole


def static_encoder(folder: Path, texts: Sequence[str], seed: int = 0) -> Path:
    """Write a static embedding with a random vector for each of these texts' words; return its folder."""
    words = tiny_tokenizer(texts).backend_tokenizer
    torch.manual_seed(seed)
    static = StaticEmbedding(words, embedding_weights=torch.randn(words.get_vocab_size(), 32).numpy())
    whole = folder / "static"
    SentenceTransformer(modules=[static], device="cpu").save(str(whole), create_model_card=False)
    return whole


def tiny_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of these texts' whole words."""
    words = Tokenizer(WordLevel(unk_token="[UNK]"))
    words.normalizer, words.pre_tokenizer = Lowercase(), Whitespace()
    words.train_from_iterator(texts, WordLevelTrainer(special_tokens=SPECIAL))
    words.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=64,
    )  # fmt: skip
