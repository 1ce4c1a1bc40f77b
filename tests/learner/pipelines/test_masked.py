"""Sentiment by a masked word: independent of the other texts; without a head, no figures."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForMaskedLM

from allpairs.learner.pipelines.quip.masked import load_masked_reader
from tests.helpers.tiny_backbones import SHAPE, tiny_backbone

TEXTS = ["so good and fair", "it is", "a film of many words and words and words", "so bad"]
WORDS = [*TEXTS, "It was . terrible great"]


@pytest.fixture
def name(tmp_path: Path) -> str:
    """Return the folder of a random RoBERTa with a masked-language-model head."""
    folder = tiny_backbone(tmp_path, "roberta", WORDS)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    tokenizer.model_max_length = 64
    tokenizer.save_pretrained(folder)
    RobertaForMaskedLM(RobertaConfig(vocab_size=len(tokenizer), type_vocab_size=1, **SHAPE)).save_pretrained(folder)
    return str(folder)


def test_the_words_are_scored_in_the_gap(name: str) -> None:
    reader = load_masked_reader(name, "cpu")
    assert reader is not None
    scores = reader.scores(TEXTS)
    np.testing.assert_allclose(scores, np.concatenate([reader.scores([text]) for text in TEXTS]), atol=1e-5)
    model, tokenizer = RobertaForMaskedLM.from_pretrained(name).eval(), reader.tokenizer
    for text, found in zip(TEXTS, scores, strict=True):
        inputs = tokenizer(f"{text} It was {tokenizer.mask_token} .", return_tensors="pt")
        with torch.inference_mode():
            logits = model(input_ids=inputs.input_ids).logits[0]
        gap = logits[inputs.input_ids[0] == tokenizer.mask_token_id][0].log_softmax(dim=0)
        wanted = [float(gap[tokenizer.convert_tokens_to_ids(word)]) for word in ("terrible", "great")]
        np.testing.assert_allclose(found, wanted, atol=1e-5)
    long = " ".join(TEXTS * 40)
    assert np.isfinite(reader.scores([long])).all()


def test_without_a_head_or_the_words_there_is_no_reader(name: str, tmp_path: Path) -> None:
    assert load_masked_reader("all-MiniLM-L6-v2") is None
    assert load_masked_reader(str(tiny_backbone(tmp_path / "bare", "roberta", WORDS))) is None
    tokenizer = PreTrainedTokenizerFast.from_pretrained(tiny_backbone(tmp_path / "other", "roberta", TEXTS))
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    tokenizer.save_pretrained(name)
    assert load_masked_reader(name) is None
