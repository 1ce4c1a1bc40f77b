"""Models from strangers: each fault of a folder is one line, and nothing beyond what its files hold is built."""

import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import psutil
import pytest
from safetensors.numpy import load_file, save_file

from allpairs import Matcher
from allpairs.db.errors import InputError
from allpairs.db.files.arrays import read_arrays
from allpairs.db.files.checksums import FILE as CHECKSUMS
from allpairs.db.files.checksums import damaged, seal
from allpairs.learner.data.dataset import make_dataset
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.make_reference import with_reference
from allpairs.learner.scoring.matcher import PairModel, save_matcher
from allpairs.learner.scoring.score import Blend, blended
from tests.helpers.tiny import static_encoder, tiny_encoder

TEXTS = [f"topic{i % 7} word{i} word{i // 3}" for i in range(40)]
BLEND = Blend(0.25, {"ngrams": 0.4, "words": 0.3})
MOST_MEMORY = 100_000_000  # bytes, of Python's own and of NumPy's
HUGE = 10**7

Change = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a matcher with everything that one may have."""
    folder = tmp_path_factory.mktemp("sound")
    encoder = load_encoder(str(tiny_encoder(folder, TEXTS)), "cpu")
    dataset = make_dataset(TEXTS, ["left"] * len(TEXTS), ["both"] * len(TEXTS), True, np.empty((0, 2)))
    vectors = blended(dataset, encoder.encode(TEXTS), BLEND)
    matcher = PairModel(encoder, OutputLayer(9.0, -4.0), BLEND)
    whole = with_reference(matcher, dataset, vectors, np.random.default_rng(0))
    save_matcher(whole, folder / "model", curve={"score": [0.5, 0.1], "precision": [1.0, 0.5], "recall": [0.1, 1.0]})
    return folder / "model"


def put(name: str, **values: Any) -> Change:
    """Change values of a file of JSON."""

    def change(folder: Path) -> None:
        file = folder / name
        known = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(known | values))

    return change


def write(name: str, content: str | bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def modules(kind: str = "sentence_transformers.models.Transformer", path: str = "") -> Change:
    return write("modules.json", json.dumps([{"idx": 0, "name": "0", "path": path, "type": kind}]))


def weights(change: Callable[[str, np.ndarray], np.ndarray | None]) -> Change:
    """Change each tensor, or leave it out."""

    def rewrite(folder: Path) -> None:
        file = folder / "model.safetensors"
        tensors = {name: change(name, tensor) for name, tensor in load_file(file).items()}
        save_file({name: tensor for name, tensor in tensors.items() if tensor is not None}, file, {"format": "pt"})

    return rewrite


def arrays(**changed: np.ndarray | None) -> Change:
    """Change arrays of the reference, or leave them out."""

    def rewrite(folder: Path) -> None:
        known = read_arrays(folder / "reference.npz") | changed
        np.savez_compressed(folder / "reference.npz", **{name: one for name, one in known.items() if one is not None})

    return rewrite


def claim(folder: Path) -> None:
    """Write an array whose header says that it is very long."""
    with ZipFile(folder / "reference.npz", "a", ZIP_DEFLATED) as bundle, bundle.open("more.npy", "w") as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})


def not_a_number(name: str, tensor: np.ndarray) -> np.ndarray:
    return np.full_like(tensor, np.nan) if name.endswith("query.weight") else tensor


KERNEL = {"": "kernels-community/flash"}
CHANGES: dict[str, Change] = {
    "very many layers": put("config.json", num_hidden_layers=HUGE),
    "very many layers by another name": put("config.json", model_type="gpt2", n_layer=HUGE),
    "layers that the weights lack": put("config.json", num_hidden_layers=400),
    "vectors of ten gigabytes": put("config.json", hidden_size=2_500_000, num_attention_heads=1),
    "a wide network": put("config.json", intermediate_size=80_000_000),
    "a large vocabulary": put("config.json", vocab_size=2**30),
    "very many positions": put("config.json", max_position_embeddings=2**40),
    "very many labels": put("config.json", num_labels=10**9),
    "a number beyond all measure": put("config.json", num_hidden_layers=10**30),
    "no layers": put("config.json", num_attention_heads=0),
    "layers in words": put("config.json", num_hidden_layers="many"),
    "attention from the hub": put("config.json", attn_implementation="kernels-community/flash"),
    "attention from the hub, in parts": put("config.json", _attn_implementation=KERNEL),
    "experts from the hub": put("config.json", experts_implementation="somebody/experts"),
    "code of its own": put("config.json", auto_map={"AutoModel": "evil.Evil"}),
    "a tokenizer with code": put("tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Evil", None]}),
    "an unknown kind of model": put("config.json", model_type="evil"),
    "broken configuration": write("config.json", "{"),
    "a deep configuration": write("config.json", '{"a":' * 100_000),
    "a configuration of another kind": write("config.json", "[]"),
    "a long configuration": write("config.json", "{" + " " * 9_000_000 + "}"),
    "a broken tokenizer": write("tokenizer.json", '{"model": {"type": "WordLevel", "vocab": 5}}'),
    "no modules": write("modules.json", "[]"),
    "modules of another kind": write("modules.json", "7"),
    "a module of another package": modules("evil.Evil"),
    "a module that reads elsewhere": modules("sentence_transformers.models.WordEmbeddings"),
    "a module in another folder": modules(path="../../elsewhere"),
    "a tokenizer from elsewhere": put("sentence_bert_config.json", tokenizer_name_or_path="somebody/theirs"),
    "options of loading": put("sentence_bert_config.json", model_args={"cache_dir": "/tmp/x"}),
    "an adapter": put("adapter_config.json", base_model_name_or_path="somebody/theirs"),
    "parts elsewhere": put("model.safetensors.index.json", weight_map={"a": "../../other.safetensors"}),
    "NaN in the weights": weights(not_a_number),
    "no weights of a layer": weights(lambda name, tensor: None if "query" in name else tensor),
    "weights of another shape": weights(lambda name, tensor: tensor[:1] if "query.weight" in name else tensor),
    "weights of whole numbers": weights(lambda name, tensor: tensor.astype(np.int64)),
    "weights that end early": lambda folder: write(
        "model.safetensors", (folder / "model.safetensors").read_bytes()[:-100]
    )(folder),
    "weights with a long header": write("model.safetensors", (2**40).to_bytes(8, "little") + b"{}"),
    "w is NaN": put("matcher.json", w=float("nan")),
    "w is endless": write("matcher.json", '{"w": 1e999, "b": 0}'),
    "w is a word": put("matcher.json", w="nan"),
    "no b": write("matcher.json", '{"w": 1}'),
    "a broken matcher": write("matcher.json", "[[["),
    "a deep matcher": write("matcher.json", '{"w":' * 100_000),
    "a matcher of another kind": write("matcher.json", "7"),
    "an unknown similarity": put("matcher.json", lexical={"colour": 1.0}),
    "weights of similarity that are NaN": put("matcher.json", lexical={"words": float("nan")}),
    "a second stage of another kind": put("matcher.json", second_stage={"features": 5}),
    "columns of another kind": put("matcher.json", columns=["a"]),
    "a curve of another kind": put("matcher.json", curve={"score": [1.0], "precision": []}),
    "a reference that unpacks to much": arrays(more=np.zeros(75_000_000)),
    "a reference that claims much": claim,
    "a reference of objects": lambda folder: np.savez(folder / "reference.npz", version=np.array([{}], dtype=object)),
    "a reference that ends early": lambda folder: write(
        "reference.npz", (folder / "reference.npz").read_bytes()[:-50]
    )(folder),
    "no known texts": arrays(left_known=None),
    "known texts in disorder": arrays(left_known=np.arange(40, dtype=np.uint64)[::-1]),
    "known texts of another type": arrays(left_known=np.arange(40)),
    "hubness of other texts": arrays(left_hubness=np.zeros(3, dtype=np.float32)),
    "hubness that is NaN": arrays(left_hubness=np.full(40, np.nan, dtype=np.float32)),
    "a sample of other vectors": arrays(left_sample=np.zeros((40, 3), dtype=np.float16)),
    "a sample of another type": arrays(left_sample=np.zeros((40, 3))),
    "terms that are no list": arrays(terms_words=np.frombuffer(b"5", dtype=np.uint8)),
    "terms that are deep": arrays(terms_words=np.frombuffer(b"[" * 100_000, dtype=np.uint8)),
    "rarity of other terms": arrays(terms_rarity=np.ones(3, dtype=np.float32)),
    "no terms": arrays(**dict.fromkeys(("terms_grams", "terms_gram_rarity", "terms_words", "terms_rarity",
                                        "terms_longest"))),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_a_folder_nobody_saved_is_refused_with_little_memory(sound: Path, tmp_path: Path, what: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(sound, folder)
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n")
    CHANGES[what](folder)
    seal(folder)
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            Matcher.load(folder, "cpu")
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    assert not (tmp_path / "ran").exists()


def test_a_sound_folder_is_loaded(sound: Path, tmp_path: Path) -> None:
    matcher = Matcher.load(sound, "cpu")
    assert matcher.score(TEXTS[:1], TEXTS[1:2]).shape == (1,)
    assert load_encoder(str(static_encoder(tmp_path, TEXTS)), "cpu").is_static
    encoder = load_encoder(str(sound), "cpu")
    encoder.model[0].auto_model.config.auto_map = {"AutoModel": "theirs.Model"}  # which the library does without
    encoder.save(tmp_path / "saved")
    load_encoder(str(tmp_path / "saved"), "cpu")


def test_a_model_that_the_memory_does_not_hold(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=4_000))
    with pytest.raises(InputError, match="the memory holds 1,000"):
        Matcher.load(sound, "cpu")


def test_checksums_name_nothing_outside_their_folder(sound: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    shutil.copytree(sound, tmp_path / "model")
    for name in ("../secret", str(tmp_path / "secret"), "a/../../secret", "\0"):
        known = json.loads((sound / CHECKSUMS).read_text())
        (tmp_path / "model" / CHECKSUMS).write_text(json.dumps(known | {name: "0" * 64}))
        with pytest.raises(InputError, match=r"checksums\.json"):
            list(damaged(tmp_path / "model"))
