"""Recorded training steps: the gradients of steps computed call by call, on a GPU."""

from pathlib import Path

import numpy as np
import pytest
import torch

from allpairs.db.domain import Settings
from allpairs.learner.models import cosine_bert
from allpairs.learner.models.cosine_bert import Labelled, train
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.recording import Inputs, Recording
from tests.helpers.tiny import tiny_encoder

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_recorded_training_ends_with_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), 4 + i % 5)) for i in range(80)]
    folder = str(tiny_encoder(tmp_path, texts))
    left, right = rng.integers(0, 80, (2, 400))
    pairs = Labelled(left, right, (left % 4 == right % 4).astype(np.int64))
    recorded: list[object] = []
    record = Recording.record_graph

    def watched(self: Recording, inputs: Inputs) -> object:
        recorded.append(record(self, inputs))
        return recorded[-1]

    monkeypatch.setattr(Recording, "record_graph", watched)

    def vectors() -> np.ndarray:
        encoder = load_encoder(folder)
        train(encoder, texts, pairs, Settings(epochs=2, batch_size=16))
        return encoder.encode(texts)

    fast = vectors()
    assert recorded and None not in recorded
    monkeypatch.setattr(cosine_bert, "can_record", lambda *_: False)
    slow, before = vectors(), load_encoder(folder).encode(texts)
    assert np.abs(fast - slow).max() < 0.02 * np.abs(before - slow).max() + 1e-3


def test_a_loss_that_waits_for_the_gpu_is_computed_call_by_call() -> None:
    layer = torch.nn.Linear(3, 1).cuda()

    def loss(inputs: Inputs) -> torch.Tensor:
        found: torch.Tensor = layer(inputs["x"]).sum()
        return found * (2 if found.item() < 1e9 else 1)

    recording = Recording(loss, layer.parameters())
    for step in range(5):
        recording({"x": torch.full((4, 3), float(step))})
        assert layer.weight.grad is not None
        assert layer.weight.grad.tolist() == [[8.0 * step] * 3]
