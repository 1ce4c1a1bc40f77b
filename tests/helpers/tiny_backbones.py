"""Tiny random backbones: the four architectures of ConcatBERT (Mussmann, Jia and Liang 2020), BART and T5."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import (
    AlbertConfig,
    AlbertModel,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5ForConditionalGeneration,
    XLNetConfig,
    XLNetModel,
)

from tests.helpers.tiny import tiny_tokenizer

SHAPE = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "pad_token_id": 0,
    "max_position_embeddings": 80, "initializer_range": 0.2,
}  # fmt: skip


def _bert(words: int) -> PreTrainedModel:
    return BertModel(BertConfig(vocab_size=words, **SHAPE))


def _roberta(words: int) -> PreTrainedModel:
    return RobertaModel(RobertaConfig(vocab_size=words, type_vocab_size=1, **SHAPE))


def _albert(words: int) -> PreTrainedModel:
    return AlbertModel(AlbertConfig(vocab_size=words, embedding_size=16, **SHAPE))


def _xlnet(words: int) -> PreTrainedModel:
    return XLNetModel(
        XLNetConfig(
            vocab_size=words, d_model=32, n_layer=1, n_head=2, d_inner=64, pad_token_id=0, initializer_range=0.2
        )
    )


def _bart(words: int) -> PreTrainedModel:
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=words, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=80, init_std=0.2,
            pad_token_id=0, bos_token_id=2, eos_token_id=3, decoder_start_token_id=3, forced_eos_token_id=3,
        )
    )  # fmt: skip


def _t5(words: int) -> PreTrainedModel:
    return T5ForConditionalGeneration(
        T5Config(
            vocab_size=words, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, pad_token_id=0, eos_token_id=3,
            decoder_start_token_id=0,
        )
    )  # fmt: skip


BACKBONES: dict[str, Callable[[int], PreTrainedModel]] = {
    "bert": _bert,
    "xlnet": _xlnet,
    "roberta": _roberta,
    "albert": _albert,
}
WRITERS: dict[str, Callable[[int], PreTrainedModel]] = {"bert": _bert, "bart": _bart, "t5": _t5}
TEMPLATES = {  # how each architecture joins two texts
    "bert": ("[CLS] $A [SEP] $B:1 [SEP]:1", "right"),
    "albert": ("[CLS] $A [SEP] $B:1 [SEP]:1", "right"),
    "roberta": ("[CLS] $A [SEP] [SEP] $B [SEP]", "right"),
    "xlnet": ("$A [SEP] $B:1 [SEP]:1 [CLS]:2", "left"),
    "bart": ("[CLS] $A [SEP] [SEP] $B [SEP]", "right"),
    "t5": ("$A [SEP] $B [SEP]", "right"),
}


def tiny_backbone(folder: Path, architecture: str, texts: Sequence[str], seed: int = 0) -> Path:
    """Return the folder of a new random model of that architecture, which knows these texts' words.

    It has no classifier.
    """
    torch.manual_seed(seed)
    tokenizer = _tokenizer(architecture, texts)
    whole = folder / architecture
    (BACKBONES | WRITERS)[architecture](len(tokenizer)).save_pretrained(whole)
    tokenizer.save_pretrained(whole)
    return whole


def _tokenizer(architecture: str, texts: Sequence[str]) -> PreTrainedTokenizerFast:
    template, side = TEMPLATES[architecture]
    words: Tokenizer = tiny_tokenizer(texts).backend_tokenizer
    alone = "$A [SEP]" if architecture == "t5" else "[CLS] $A [SEP]"
    words.post_processor = TemplateProcessing(single=alone, pair=template, special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    kinds = [] if architecture in ("roberta", "bart", "t5") else ["token_type_ids"]
    columns = ["input_ids", "attention_mask", *kinds]
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        padding_side=side, model_input_names=columns,
    )  # fmt: skip
