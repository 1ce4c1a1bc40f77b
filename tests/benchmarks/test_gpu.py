"""The run for a GPU: says where it runs, keeps what it found, and works without a GPU when it is small."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from allpairs.learner.models import encoder as encoders
from benchmarks import __main__, gpu
from benchmarks.data.qqp_texts import common_words, make_up
from benchmarks.public import speed
from benchmarks.speed import bfloat16
from benchmarks.table import Row
from tests.helpers.tiny import tiny_encoder

ROW = Row("encode 3 texts", "8/s", "≥ 1.2 × the peer's rate", met=False, peer="peer: 9/s", ratio=0.889)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_the_first_line_names_the_device_and_full_needs_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main(["--only", "encode"]) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("device: no GPU, ") and "--quick" in printed.err


def test_a_quick_run_is_kept_on_request_and_the_page_shows_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(__main__, "run", lambda name, quick, limit: [ROW])
    monkeypatch.setattr(gpu, "GPU_RESULTS", tmp_path / "gpu.json")
    monkeypatch.setattr(speed, "GPU_RESULTS", tmp_path / "gpu.json")
    assert gpu.main(["--quick"]) == 0
    assert not list(tmp_path.iterdir()) and "No run on a GPU" in speed.gpu()
    monkeypatch.setattr(gpu, "write", lambda: None)
    assert gpu.main(["--quick", "--only", "encode", "--out", str(tmp_path / "gpu.json")]) == 0
    kept = json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))["encode"]
    assert kept["machine"].startswith("no GPU") and kept["versions"]["torch"] == torch.__version__
    assert "| encode 3 texts | 8/s | peer: 9/s | 0.889 |" in speed.gpu() and "Not run yet: search, " in speed.gpu()
    assert any("on a GPU, encode 3 texts" in line for line in speed.losses())


def test_bfloat16_reads_otherwise_than_float32(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path, make_up(200, common_words(), np.random.default_rng(0)).texts)
    monkeypatch.setattr(encoders, "load_encoder", lambda load=encoders.load_encoder: load(str(folder), device="cpu"))
    row = bfloat16.compared(200)
    cosine = float(row.what.rpartition(" ")[2])
    assert 0.9 < cosine < 1 and row.ours.startswith("bfloat16: AP 0.") and row.peer.startswith("float32: AP 0.")
