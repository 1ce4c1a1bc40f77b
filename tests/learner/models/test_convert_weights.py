"""Weights in PyTorch's format become safetensors, and code in them is not run."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from allpairs.db.errors import InputError
from allpairs.learner.backbones.generator import load_generator, nll
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.models.encoder import load_encoder
from tests.helpers.services.commands import learn
from tests.helpers.tiny import tiny_encoder
from tests.helpers.tiny_backbones import tiny_backbone

TEXTS = ["a red cat sleeps", "what sleeps"]


def pickled(folder: Path, parts: int = 1) -> Path:
    """Return a model's folder whose weights are in PyTorch's format, in one file or in several with an index."""
    model = tiny_backbone(folder, "bart", TEXTS)
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    names = list(weights)
    files = {f"pytorch_model-{at + 1:05d}-of-{parts:05d}.bin": names[at::parts] for at in range(parts)}
    if parts == 1:
        files = {"pytorch_model.bin": names}
    else:
        index = {name: file for file, some in files.items() for name in some}
        (model / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": index}))
    for file, some in files.items():
        torch.save({name: weights[name] for name in some}, model / file)
    return model


@pytest.mark.parametrize("parts", [1, 3])
def test_the_converted_model_is_the_same(tmp_path: Path, parts: int) -> None:
    usual = load_generator(str(tiny_backbone(tmp_path / "usual", "bart", TEXTS)))
    source = pickled(tmp_path, parts)
    with pytest.raises(InputError, match=r"run code .* `allpairs convert`"):
        load_generator(str(source))
    run = learn("convert", source, "--out", tmp_path / "out" / "bart")
    assert run.code == 0, run.err
    assert not [file.name for file in (tmp_path / "out" / "bart").iterdir() if "bin" in file.name]
    made, settings = load_generator(str(tmp_path / "out" / "bart")), GeneratorSettings()
    assert np.array_equal(nll(made, TEXTS[:1], TEXTS[1:], settings), nll(usual, TEXTS[:1], TEXTS[1:], settings))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["bart"]


def test_a_model_of_sentence_transformers_keeps_its_modules(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path, TEXTS)
    usual = load_encoder(str(source), "cpu").encode(TEXTS)
    for file in list(source.rglob("*.safetensors")):
        torch.save(load_file(file), file.with_name("pytorch_model.bin"))
        file.unlink()
    assert learn("convert", source, "--out", tmp_path / "out").code == 0
    assert np.array_equal(load_encoder(str(tmp_path / "out"), "cpu").encode(TEXTS), usual)


class Code:
    """Unpickling it makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("what", ["code", "no tensors", "no file", "a target"])
def test_what_is_no_model_is_refused(tmp_path: Path, what: str) -> None:
    source, out = tmp_path / "model", tmp_path / "out"
    source.mkdir()
    if what == "code":
        torch.save({"a": Code(tmp_path / "ran")}, source / "pytorch_model.bin")
    if what in ("no tensors", "a target"):
        torch.save({"a": 1}, source / "pytorch_model.bin")
    if what == "a target":
        out.mkdir()
    run = learn("convert", source, "--out", out)
    said = {"code": "holds more than tensors", "no tensors": "is not a table of tensors", "no file": "file not found",
            "a target": "exists already"}  # fmt: skip
    assert run.code == 2 and said[what] in run.err and len(run.err.strip().splitlines()) == 1
    assert not (tmp_path / "ran").exists() and out.exists() == (what == "a target")
