"""Encoding: the order of the texts, the same vectors as the library's own way, folders that load again."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, StaticEmbedding

from allpairs.db.corpus.fields import count_long, note_on_long_texts
from allpairs.db.domain import READ_TOKENS, Distance
from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.learner.backbones.token_encoder import load_token_encoder
from allpairs.learner.data.corpus_terms import terms_of
from allpairs.learner.models import loading as module
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.models.loading import bundled_minilm
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scorers.scorer import load_cross_encoder
from allpairs.learner.scoring.matcher import PairModel, add_details, load_matcher, save_matcher
from allpairs.learner.search.bm25 import words_of as bm25_words
from tests.helpers.machine import examples
from tests.helpers.tiny import tiny_encoder

TEXTS = [
    "How do I reset my password?",
    "password",
    "The printer on the second floor is out of paper, " * 12,
    "¿Dónde está la impresora? 🖨️",
    "How do I reset my password?",
    "VPN does not connect from home since the update on Monday morning",
]


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    return load_encoder(device="cpu")


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), TEXTS)


@pytest.fixture
def tiny(tiny_folder: Path) -> Encoder:
    return load_encoder(str(tiny_folder), device="cpu")


def test_minilm_equals_the_librarys_own_encoding(minilm: Encoder) -> None:
    ours = minilm.encode(TEXTS)
    theirs = SentenceTransformer(str(bundled_minilm()), device="cpu").encode(TEXTS, normalize_embeddings=True)
    assert ours.shape == (len(TEXTS), 384) == (len(TEXTS), minilm.dimension)
    assert ours.dtype == np.float32
    assert np.einsum("nd,nd->n", ours, theirs).min() >= 0.9999
    assert np.linalg.norm(ours, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


@pytest.mark.parametrize("budget", [1, 16, 10_000])
def test_the_order_is_kept_whatever_the_blocks(tiny: Encoder, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = np.concatenate([tiny.encode([text]) for text in TEXTS])
    monkeypatch.setattr(Encoder, "budget", budget)
    assert tiny.encode(TEXTS) == pytest.approx(one_by_one, abs=1e-5)
    with torch.no_grad():
        assert tiny.embed(tiny.tokenize(TEXTS)).numpy() == pytest.approx(one_by_one, abs=1e-5)


def test_texts_of_unknown_signs_are_alike_only_if_equal(tiny: Encoder) -> None:
    vectors = tiny.encode(["😀", "🚗", "\u200b😀", "", "\xad"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0, 0])
    assert vectors[0] @ vectors[2] == pytest.approx(1) and abs(vectors[0] @ vectors[1]) < 0.7


def test_texts_longer_than_what_is_read_are_counted(minilm: Encoder) -> None:
    texts = ["kettle " * 254, "kettle " * 255, "漢" * 300, "w" * 1000, "short"]
    assert minilm.count_longer(texts) == 2 and count_long(texts, READ_TOKENS) == 1
    assert minilm.most_tokens == READ_TOKENS
    said = note_on_long_texts(2, READ_TOKENS)
    assert said.startswith("2 texts") and "256" in said and not note_on_long_texts(0, READ_TOKENS)


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30))
def test_every_reader_reads_the_normal_form(tiny: Encoder, text: str) -> None:
    both = [text, identity(text)]
    assert (tiny.encode(both[:1]) == tiny.encode(both[1:])).all()
    terms = terms_of(["the printer", "№ 12 ﬁnal", *both])
    for counted in (terms.counts(both), terms.tf_idf(both)):
        assert not (counted[0] != counted[1]).nnz
    assert bm25_words(both[:1], english=True) == bm25_words(both[1:], english=True)


def test_no_texts_give_no_vectors(tiny: Encoder) -> None:
    assert tiny.encode([]).shape == (0, 32)


def test_progress_ends_at_one(tiny: Encoder) -> None:
    seen: list[tuple[str, float]] = []
    tiny.encode(TEXTS * 50, lambda stage, done: seen.append((stage, done)))
    assert {stage for stage, _ in seen} == {"encode"}
    assert [done for _, done in seen] == sorted(done for _, done in seen)
    assert seen[-1][1] == pytest.approx(1)


def test_long_texts_are_cut(tiny: Encoder) -> None:
    assert max(map(len, tiny.tokenize(["password " * 500]))) == 64
    assert max(map(len, tiny.tokenize(["password " * 500], max_length=16))) == 16


def test_there_is_no_dropout_while_training(tiny: Encoder) -> None:
    assert any(isinstance(part, torch.nn.Dropout) and part.p > 0 for part in tiny.model.modules())
    tokens = tiny.tokenize(TEXTS)
    first, second = tiny.embed(tokens), tiny.embed(tokens)
    assert first.requires_grad
    assert torch.equal(first, second)


def test_a_saved_encoder_loads_with_the_library(tiny: Encoder, tmp_path: Path) -> None:
    tiny.save(tmp_path / "model")
    again = SentenceTransformer(str(tmp_path / "model"), device="cpu").encode(TEXTS, normalize_embeddings=True)
    assert np.einsum("nd,nd->n", tiny.encode(TEXTS), again).min() >= 0.9999


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_pooling_is_the_librarys(tiny: Encoder, tiny_folder: Path, pooling: str) -> None:
    transformer = SentenceTransformer(str(tiny_folder), device="cpu")[0]
    library = SentenceTransformer(modules=[transformer, Pooling(32, pooling)], device="cpu")
    found = tiny.variant(pooling).encode(TEXTS)
    assert found == pytest.approx(library.encode(TEXTS, normalize_embeddings=True), abs=1e-5)
    assert (pooling == "mean") == (np.abs(found - tiny.encode(TEXTS)).max() < 1e-5)


def test_a_variant_shares_weights_and_the_usual_one_is_itself(tiny: Encoder) -> None:
    assert tiny.variant() is tiny
    other = tiny.variant("cls", "dot")
    with torch.no_grad():
        next(iter(other.model.parameters())).add_(0.5)
    states = tiny.model.state_dict(), other.model.state_dict()
    assert all(torch.equal(states[0][name], value) for name, value in states[1].items())


def test_only_a_cosine_takes_unit_vectors(minilm: Encoder) -> None:
    texts = [text for text in TEXTS if text]
    raw = minilm.variant(distance="dot").encode(texts)
    lengths = np.linalg.norm(raw, axis=1)
    assert (lengths > 1.5).all()
    assert raw / lengths[:, None] == pytest.approx(minilm.encode(texts), abs=1e-5)
    assert minilm.variant("mean", "l2").variant("model", "cosine").encode(texts) == pytest.approx(
        minilm.encode(texts), abs=1e-5
    )


@pytest.mark.parametrize(("distance", "similarity"), [("cosine", "cosine"), ("dot", "dot"), ("l2", "euclidean")])
def test_a_saved_matcher_keeps_its_distance_and_pooling(
    tiny: Encoder, distance: Distance, similarity: str, tmp_path: Path
) -> None:
    variant = tiny.variant("cls", distance)
    save_matcher(PairModel(variant, OutputLayer(1.0, 2.0)), tmp_path / "model")
    found = load_matcher(str(tmp_path / "model")).encoder
    assert found.distance == distance
    assert found.encode(TEXTS) == pytest.approx(variant.encode(TEXTS), abs=1e-5)
    assert SentenceTransformer(str(tmp_path / "model"), device="cpu").similarity_fn_name == similarity
    assert load_encoder(str(tmp_path / "model")).distance == "cosine"  # a bare encoder's cosine


def test_an_encoder_without_token_vectors_cannot_be_pooled(tiny: Encoder) -> None:
    words = SentenceTransformer(modules=[StaticEmbedding(tiny.model.tokenizer.backend_tokenizer, embedding_dim=8)])
    with pytest.raises(InputError, match="no token vectors"):
        Encoder(words, "words").variant("cls")


def test_a_matcher_is_saved_whole_and_replaces_the_one_before(tiny: Encoder, tmp_path: Path) -> None:
    save_matcher(PairModel(tiny, OutputLayer(3.0, -2.0, 0.4)), tmp_path / "model", labels=7)
    save_matcher(PairModel(tiny, OutputLayer(5.0, -4.0, 0.3)), tmp_path / "model", labels=8)
    add_details(tmp_path / "model", curve={"score": [0.5], "precision": [1.0]})
    found = load_matcher(str(tmp_path / "model"))
    assert found.layer is not None
    assert (found.layer.w, found.layer.b) == (5, -4)
    assert found.encoder.encode(TEXTS) == pytest.approx(tiny.encode(TEXTS), abs=1e-5)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_encoder_without_an_output_layer_is_a_matcher_too(tiny_folder: Path) -> None:
    assert load_matcher(str(tiny_folder)).layer is None


def test_a_broken_matcher_file_is_one_plain_line(tiny_folder: Path, tiny: Encoder, tmp_path: Path) -> None:
    save_matcher(PairModel(tiny, None), tmp_path / "model")
    (tmp_path / "model" / "matcher.json").write_text('{"w": "wide"')
    with pytest.raises(InputError, match=r"matcher\.json is not"):
        load_matcher(str(tmp_path / "model"))


def test_changed_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MINILM_SHA256", "0" * 64)
    with pytest.raises(InputError, match=r"have SHA-256 53aa5117.*, expected 0000"):
        load_encoder()


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install"):
        load_encoder()


@pytest.mark.parametrize("name", ["no-such-encoder", "nobody/no-such-encoder", "not a name!"])
def test_an_unknown_encoder_is_one_plain_line(name: str) -> None:
    with pytest.raises(InputError, match="cannot be loaded") as caught:
        load_encoder(name)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_missing_folder_is_called_a_folder() -> None:
    with pytest.raises(InputError, match="no folder /no/such/folder"):
        load_encoder("/no/such/folder")


def test_a_folder_that_is_no_encoder_is_one_plain_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be loaded"):
        load_encoder(str(tmp_path))
    (tmp_path / "modules.json").write_text("{")
    with pytest.raises(InputError, match="cannot be loaded"):
        load_encoder(str(tmp_path))


def test_weights_that_could_run_code_are_not_read(tiny_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(tiny_folder, folder)
    (weights,) = folder.rglob("model.safetensors")
    run = tmp_path / "run"
    weights.with_name("pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch " + str(run).encode() + b"'\ntR.")
    load_encoder(str(folder))  # from the safetensors beside it
    weights.unlink()
    for load in (load_encoder, load_token_encoder, lambda name: load_cross_encoder(name, [])):
        with pytest.raises(InputError, match=r"pytorch_model\.bin could run code"):
            load(str(folder))
    assert not run.exists()


def test_code_that_lies_beside_a_model_is_not_run(tiny_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "coded"
    shutil.copytree(tiny_folder, folder)
    run = tmp_path / "run"
    (folder / "mine.py").write_text(f"open({str(run)!r}, 'w')\nclass Mine: pass\n")
    (folder / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "mine.Mine"}]')
    with pytest.raises(InputError, match="cannot be loaded"):
        load_encoder(str(folder))
    assert not run.exists()


def test_damaged_weights_are_one_plain_line(tiny_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in tiny_folder.rglob("*"):
        target = copy / path.relative_to(tiny_folder)
        if path.is_dir():
            target.mkdir()
        else:
            target.write_bytes(path.read_bytes()[: 1000 if path.suffix == ".safetensors" else None])
    with pytest.raises(InputError, match="cannot be loaded"):
        load_encoder(str(copy))
