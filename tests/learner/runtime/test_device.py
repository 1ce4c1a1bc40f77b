"""The precision of training and reading: bfloat16 only if the hardware has it, and equivalent results."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from allpairs.learner.backbones.generator import generate, load_generator, nll
from allpairs.learner.backbones.span_reader import answer, load_reader
from allpairs.learner.backbones.token_encoder import load_token_encoder
from allpairs.learner.light.catalog.backbones import GeneratorSettings, ReaderSettings
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.runtime import device
from allpairs.learner.runtime.device import fast_reading, fast_training, multiplies_bfloat16
from tests.helpers.tiny import tiny_encoder
from tests.helpers.tiny_backbones import tiny_backbone

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("found", "expected"), [({"avx512_bf16": True}, True), ({"amx_bf16": True}, True), ({"avx2": True}, False)]
)
def test_bfloat16_is_used_where_the_processor_has_it(
    found: dict[str, bool], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: found)
    assert multiplies_bfloat16(CPU) is expected
    with fast_training(CPU):
        product = torch.ones(2, 2) @ torch.ones(2, 2)
    assert product.dtype == (torch.bfloat16 if expected else torch.float32)


def test_gradients_are_those_of_full_precision_but_for_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(64, 64), torch.randn(32, 64)

    def gradient() -> torch.Tensor:
        layer.zero_grad()
        with fast_training(CPU):
            y = layer(x)
        y.float().pow(2).mean().backward()
        assert layer.weight.grad is not None
        return layer.weight.grad.clone()

    monkeypatch.setattr(device, "multiplies_bfloat16", lambda _: False)
    exact = gradient()
    monkeypatch.setattr(device, "multiplies_bfloat16", lambda _: True)
    rounded = gradient()
    assert rounded.dtype == torch.float32
    assert not torch.equal(exact, rounded)
    assert torch.nn.functional.cosine_similarity(exact.ravel(), rounded.ravel(), dim=0) > 0.999


TEXTS = ["a red cat sleeps here", "what sleeps here"]


def sentences(folder: Path) -> np.ndarray:
    return load_encoder(str(tiny_encoder(folder, TEXTS)), "cpu").encode(TEXTS)


def tokens(folder: Path) -> np.ndarray:
    encoder = load_token_encoder(str(tiny_backbone(folder, "bert", TEXTS)), "cpu")
    with torch.inference_mode():
        return encoder.vectors(*encoder.padded(encoder.tokens(TEXTS[:1]))).numpy()


def likelihoods(folder: Path) -> np.ndarray:
    generator = load_generator(str(tiny_backbone(folder, "bart", TEXTS)), device="cpu")
    settings = GeneratorSettings(target_length=6)
    assert isinstance(generate(generator, TEXTS, settings)[0], str)
    return nll(generator, TEXTS, TEXTS[::-1], settings)


def answers(folder: Path) -> np.ndarray:
    reader = load_reader(str(tiny_backbone(folder, "bert", TEXTS)), device="cpu")
    found = answer(reader, TEXTS[1:], TEXTS[:1], ReaderSettings(max_length=72, stride=8, question_length=24))
    return np.array([one.score for one in found], dtype=np.float32)


@pytest.mark.parametrize("read", [sentences, tokens, likelihoods, answers])
def test_a_gpu_reads_in_bfloat16_and_returns_full_precision(
    read: Callable[[Path], np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = read(tmp_path / "exact")
    monkeypatch.setattr(device, "reads_in_bfloat16", lambda _: True)
    rounded = read(tmp_path / "rounded")
    assert rounded.dtype == np.float32 and not np.array_equal(exact, rounded)
    assert np.allclose(exact, rounded, rtol=0.05, atol=0.05)
    with fast_reading(CPU):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32  # gradients may be taken here
