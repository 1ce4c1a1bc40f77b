"""The precision of training: bfloat16 only if the hardware has it, and equivalent gradients."""

import pytest
import torch

from allpairs.learner.runtime import device
from allpairs.learner.runtime.device import fast_training, multiplies_bfloat16

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
