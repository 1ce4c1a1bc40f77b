"""The training data and tags of QuIP's models, against numbers computed independently."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from allpairs.learner.backbones import biencoder_training, length_batches
from allpairs.learner.backbones.biencoder_training import AskedPassages, Sparse, sparsify, train_biencoder
from allpairs.learner.backbones.span_biencoder import SpanBiencoder, load_biencoder
from allpairs.learner.backbones.span_reader import load_reader
from allpairs.learner.backbones.token_encoder import TokenEncoder
from allpairs.learner.light.catalog.backbones import Training
from allpairs.learner.light.catalog.quip import Entities, QuipConfig, Student, Teacher
from allpairs.learner.pipelines.quip import tagging, teacher
from allpairs.learner.pipelines.quip.questions import question_of
from allpairs.learner.pipelines.quip.student import Model
from allpairs.learner.pipelines.quip.tagging import Sentences, few_shot_f1, question_rows
from allpairs.learner.pipelines.quip.teacher import TokenPlaces, relabelled
from allpairs.learner.pipelines.quip.uses import entities
from tests.helpers.files.papers import PASSAGES, STUDENT, write_files

SETTINGS = Student(**STUDENT | {"batch_size": 1, "steps": 3})  # type: ignore[arg-type]
TEXTS = ["good fair", PASSAGES[0], PASSAGES[1]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("quip"))


@pytest.fixture
def biencoder(data: Path) -> SpanBiencoder:
    return load_biencoder(str(data / "bert"), device="cpu")


def places(data: Path, length: int) -> TokenPlaces:
    student = {"backbone": str(data / "bert"), "passage_length": length, "window_step": 8}
    return TokenPlaces(QuipConfig.model_validate({"student": student, "teacher": {"best": 8}}))


def test_hard_labels_are_ends_of_answers_that_are_read_whole(data: Path) -> None:
    answers = ["May 1902", "The", "1902. It", "nowhere"]
    spans = [(PASSAGES[0].find(one), PASSAGES[0].find(one) + len(one)) for one in answers]
    passages = [PASSAGES[0]] * len(answers)
    long, short = places(data, 40), places(data, 8)  # of eight tokens the last one is 1902
    assert [long.hard(passages, spans, side).tokens[:, 0].tolist() for side in ("start", "end")] == [
        [7, 1, 8, 0], [8, 1, 10, 0]]  # fmt: skip
    assert [short.hard(passages, spans, side).tokens[:, 0].tolist() for side in ("start", "end")] == [
        [7, 1, 0, 0], [8, 1, 0, 0]]  # fmt: skip


def test_a_teachers_labels_are_the_students_tokens(
    data: Path, biencoder: SpanBiencoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def logits(reader: Any, windows: Any, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Return logits: a passage's second token starts the answer with 0.7, the first one ends it; else none."""
        found = torch.full((2, len(rows), int(windows.tokens.lengths[rows].max())), -1e9)
        for at, row in enumerate(rows):
            found[:, at, windows.nowhere[row]] = float(np.log(0.3))
            for side, place in enumerate((1, 0)):
                found[side, at, windows.passages[row][0] + place] = float(np.log(0.7))
        return found[0], found[1]

    monkeypatch.setattr(teacher, "span_logits", logits)
    reader, settings = (
        load_reader(str(data / "bert"), device="cpu"),
        Teacher(max_length=64, question_length=12, stride=8),
    )
    asked = ["who ?"] * len(TEXTS)
    found = relabelled(reader, asked, TEXTS, settings, places(data, 40), lambda *_: None)
    for side, first in zip(found, (2, 1), strict=True):
        np.testing.assert_array_equal(side.tokens, [[first, *[0] * 7]] * 3)  # padding is named by no probability
        np.testing.assert_allclose(side.mass, [[0.7, 0.3, *[0] * 6]] * 3, atol=1e-6)
    learned = train_biencoder(biencoder, [AskedPassages(TEXTS, asked, np.arange(3), *found)], SETTINGS)
    assert learned == 3


def test_a_label_without_mass_names_the_first_token() -> None:
    at, _ = sparsify(torch.tensor([[0.6, 0.4, 0, 0], [0.1, 0.2, 0.3, 0.4]]), 3)
    assert at[0].tolist() == [0, 1, 0] and at[1].tolist() == [3, 2, 1]


@pytest.mark.parametrize("concatenated", [False, True])
def test_the_loss_of_passages_alone_and_concatenated(
    biencoder: SpanBiencoder, monkeypatch: pytest.MonkeyPatch, concatenated: bool
) -> None:
    questions, of = ["who ?", "what is good ?", "where is it ?"], np.array([0, 1, 1])
    labels = [Sparse(np.array(at), np.array([[0.6, 0.3], [0.5, 0.1], [1, 0]], dtype=np.float32))
              for at in ([[1, 0], [4, 2], [7, 0]], [[2, 0], [5, 0], [7, 0]])]  # fmt: skip
    seen: list[tuple[float, bool]] = []

    def once(losses: Any, *_: Any, at_once: bool = False) -> None:
        seen.append((float(losses.loss(np.arange(2)).detach()), at_once))

    for way in ("descend", "descend_together"):
        monkeypatch.setattr(biencoder_training, way, once)
    monkeypatch.setattr(biencoder_training, "fast_training", lambda device: nullcontext())
    asked = AskedPassages(TEXTS[:2], questions, of, labels[0], labels[1])
    once_each = SETTINGS.model_copy(update={"steps": 2})
    assert train_biencoder(biencoder, [asked], once_each, concatenated=concatenated) == 3
    encoder = biencoder.encoder
    own = [encoder.vectors(*encoder.padded([ids]))[0, :-1] for ids in encoder.tokens(TEXTS[:2])]
    wanted = 0.0
    for sides, label in zip(biencoder.asked(encoder.tokens(questions)), labels, strict=True):
        for row, vector in enumerate(sides):
            read = torch.cat(own) if concatenated else own[of[row]]
            before = len(own[0]) if concatenated and of[row] else 0
            sure = (read @ vector).log_softmax(dim=0)
            wanted -= sum(p * sure[before + i].item() for i, p in zip(label.tokens[row], label.mass[row], strict=True))
    assert seen == [(pytest.approx(wanted, rel=1e-4), concatenated)]


def test_a_step_that_compares_its_rows_is_not_parted() -> None:
    parts: dict[bool, list[int]] = {}
    for at_once in (False, True):
        layer, sizes = nn.Linear(1, 1), parts.setdefault(at_once, [])

        def loss(rows: np.ndarray, layer: nn.Linear = layer, sizes: list[int] = sizes) -> Tensor:
            sizes.append(len(rows))
            return layer.weight.sum() * len(rows)

        long = np.full(4, length_batches.SMALL_BUDGET)
        losses = SimpleNamespace(network=layer, lengths=long, weights=np.ones(4), loss=loss)
        length_batches.descend(losses, Training(steps=1, batch_size=4), at_once=at_once)
    assert parts == {False: [1] * 4, True: [4]}


def test_words_are_tagged_by_first_tokens_with_questions_last(
    data: Path, biencoder: SpanBiencoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = Sentences([["The", "fair.", "of", "Rome"], ["Paris", "begins"]], [["O", "O", "O", "B-LOC"], ["B-LOC", "O"]])
    firsts, tags = [[1, 2, 4, 5], [1, 2]], ["O", "B-LOC", "I-LOC"]  # the point is a token of its word
    rows = question_rows(biencoder, tags, {"O": "what is good ?", "LOC": "where is the fair ?"})
    seen: list[tuple[list[int], float]] = []

    def once(losses: Any, *_: Any) -> None:
        seen.append((losses.weights.tolist(), float(losses.loss(np.arange(2)).detach())))

    monkeypatch.setattr(tagging, "descend", once)
    monkeypatch.setattr(tagging, "fast_training", lambda device: nullcontext())
    encoder = biencoder.encoder
    few_shot_f1(encoder, few, few, Entities(), 0, rows, tags)
    wanted = 0.0
    for words, own, at in zip(few.words, few.tags, firsts, strict=True):
        (ids,) = encoder.tokens([" ".join(words)])
        sure = (encoder.vectors(*encoder.padded([ids]))[0, at] @ rows.T).log_softmax(dim=1)
        wanted -= sum(sure[i, tags.index(tag)].item() for i, tag in enumerate(own))
    assert seen == [([4, 2], pytest.approx(wanted, rel=1e-4))]


def test_entities_are_tried_with_a_drawn_layer_and_questions(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, given = str(data / "bert"), list[Tensor | None]()

    def f1(encoder: TokenEncoder, few: Any, test: Any, settings: Any, seed: int, rows: Tensor | None, *_: Any) -> float:
        given.append(rows)
        return 0.5

    monkeypatch.setattr(entities, "few_shot_f1", f1)
    config = QuipConfig.model_validate({"entities": {"seeds": [0], "shots": 1, "prompts": {"x": "Why ?"}}})
    rows = [
        {"dataset": "D", "split": part, "tokens": "The fair of Rome", "tags": "O O O B-LOC"}
        for part in ("train", "test")
    ]
    run: Any = SimpleNamespace(config=config)
    list(entities.measure_entities(run, Model("QuIP", "bi-encoder", source), rows, lambda *_: None))
    drawn, asked = given
    wanted = question_rows(load_biencoder(source), ["O", "B-LOC", "I-LOC"], config.entities.prompts)
    assert drawn is None and asked is not None
    torch.testing.assert_close(asked, wanted)


def test_all_sentences_are_learned_from_by_models_of_their_own(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[tuple[int, int, bool]] = []

    def f1(encoder: TokenEncoder, few: Any, test: Any, settings: Any, seed: int, rows: Tensor | None, *_: Any) -> float:
        trained.append((len(few), settings.epochs, rows is not None))
        return 0.5

    monkeypatch.setattr(entities, "few_shot_f1", f1)
    settings = {"seeds": [3, 4], "shots": 1, "epochs": 9, "full_epochs": 2}
    rows = [{"dataset": "D", "split": part, "tokens": "The fair of Rome", "tags": "O O O B-LOC"}
            for part in ("train", "train", "train", "test")]  # fmt: skip
    run: Any = SimpleNamespace(config=QuipConfig.model_validate({"entities": settings}))
    model = Model("QuIP", "bi-encoder", str(data / "bert"))
    found = list(entities.measure_entities(run, model, rows, lambda *_: None))
    assert trained == [(1, 9, False), (1, 9, True)] * 2 + [(3, 2, False), (3, 2, True)]
    assert [(row["use"], row["seed"]) for row in found[4:]] == [
        ("standard, all sentences", 3), ("question, all sentences", 3),
    ]  # fmt: skip


def test_an_answer_is_found_whatever_its_case() -> None:
    found = question_of(3, "İstanbul lies in Turkey.", "turkey", "where?")
    assert (found.passage, "İstanbul lies in Turkey."[found.start :]) == (3, "Turkey.")
    assert question_of(0, "It costs 5 (five).", "(FIVE)", "how much?").start == 11
    assert question_of(0, "It is good.", "bad", "how?").start == -1
