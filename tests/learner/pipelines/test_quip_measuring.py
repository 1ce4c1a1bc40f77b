"""QuIP's uses and tables, on scores and answers made by hand."""

import json
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from allpairs.db.progress import no_progress
from allpairs.learner.backbones.opinions import rationale_spans
from allpairs.learner.backbones.span_biencoder import SpanBiencoder, load_biencoder
from allpairs.learner.backbones.span_reader import SpanAnswer, load_reader
from allpairs.learner.light.catalog.quip import Paraphrases, QuipConfig, Student, Teacher
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip import paraphrases, sentiment
from allpairs.learner.pipelines.quip.paraphrases import ParaphrasePairs, frozen_f1, tuned_f1
from allpairs.learner.pipelines.quip.results import report_speed
from allpairs.learner.pipelines.quip.sentiment import read_scores
from allpairs.learner.pipelines.quip.student import Model
from allpairs.learner.pipelines.quip.tables.entities import report_entities
from allpairs.learner.pipelines.quip.tables.reading import report_reading
from allpairs.learner.pipelines.quip.tables.sentiment import report_sentiment
from allpairs.learner.pipelines.quip.uses import paraphrases as use_paraphrases
from allpairs.learner.pipelines.quip.uses import reading
from allpairs.learner.pipelines.quip.uses import sentiment as use_sentiment
from allpairs.learner.pipelines.report import Report
from tests.helpers.files.papers import PASSAGES, PROMPTS, STUDENT, write_files

CROSS, BARE = Model("teacher", "cross-encoder", ""), Model("encoder before", "bare", "")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("quip"))


@pytest.fixture
def biencoder(data: Path) -> SpanBiencoder:
    return load_biencoder(str(data / "bert"), device="cpu")


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "tables" / f"{name}.json").read_text())["rows"]
    return found


def test_reading_counts_right_answers_of_answerable_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [["a cat"], ["a black cat", "a dog"], [], ["Rome"], ["Oslo"]]
    asked = [{"question": "?", "passage": "p", "answers": one, "start": -1} for one in answers]
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "tested.json").write_text(json.dumps(asked))
    found = [SpanAnswer(text, 0, 0.0) for text in ("The cat!", "cat", "Rome", "Bern")]
    monkeypatch.setattr(reading, "load_reader", lambda source: None)
    monkeypatch.setattr(reading, "answer", lambda *_: found)
    (row,) = reading.measure_reading(Run(tmp_path, None, QuipConfig()), CROSS, [], no_progress)
    assert (row["questions"], row["left_out"], row["exact_match"]) == (4, 1, 0.5)
    assert row["token_f1"] == pytest.approx((1 + 2 / 3 + 1 + 0) / 4)


def test_reading_is_measured_and_compared_by_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("SQuAD", "SQuAD", "NaturalQuestionsShort", "Mine")
    asked = [{"question": "?", "passage": "p", "answers": ["Rome"], "start": -1, "dataset": one} for one in names]
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "tested.json").write_text(json.dumps(asked))
    found = [SpanAnswer(text, 0, 0.0) for text in ("Rome", "Bern", "Rome", "Bern")]
    monkeypatch.setattr(reading, "load_reader", lambda source: None)
    monkeypatch.setattr(reading, "answer", lambda *_: found)
    run = Run(tmp_path, None, QuipConfig(variants=["teacher"]))
    (tmp_path / "uses").mkdir()
    lines = [{"model": "teacher", **row} for row in reading.measure_reading(run, CROSS, [], no_progress)]
    (tmp_path / "uses" / "reading-teacher.jsonl").write_text("\n".join(map(json.dumps, lines)))
    report_reading(Report(tmp_path, "Reading"), run)
    assert [(row["questions"], row["exact_match"]) for row in rows(tmp_path, "table1")] == [(4, 0.5)]
    by_name = {row["dataset"]: (row["questions"], row["exact_match"], row["exact_match_paper"])
               for row in rows(tmp_path, "table7")}  # fmt: skip
    assert by_name == {
        "SQuAD": (2, 0.5, 0.891), "NaturalQuestionsShort": (1, 1, 0.705), "Mine": (1, 0, None),
        "in-domain mean": (3, 0.75, pytest.approx((0.891 + 0.705) / 2)),
    }  # fmt: skip
    others = {(row["dataset"], row["model"]): row["F1"] for row in rows(tmp_path, "table7-paper")}
    assert len(others) == 12 * 6 - 2 and others["TextbookQA", "teacher"] == 0.674 and others["SQuAD", "QuIP"] == 0.918


def test_a_classifier_of_scores_learns_which_are_paraphrases() -> None:
    scores, labels = np.array([[0.9], [0.1], [0.8], [0.2]]), np.array([1, 0, 1, 0])
    tested, right = np.array([[0.95], [0.7], [0.3], [0.05]]), np.array([1, 1, 0, 0])
    assert frozen_f1(scores, np.arange(4), labels, tested, right) == 1
    assert frozen_f1(scores, np.arange(4), 1 - labels, tested, right) == 0


def test_paraphrases_are_ranked_by_the_layer_that_fits_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    def scores(encoder: Any, pairs: ParaphrasePairs, *_: Any) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        return np.stack([rng.random(len(pairs)), pairs.labels * 0.9, rng.random(len(pairs))], axis=1), pairs.labels

    monkeypatch.setattr(use_paraphrases, "load_token_encoder", lambda source: None)
    monkeypatch.setattr(use_paraphrases, "layer_scores", scores)
    some = [{"dataset": "D", "split": part, "x": "a", "y": "b", "label": label}
            for part in ("train", "test") for label in (0, 1) for _ in range(10)]  # fmt: skip
    run: Any = SimpleNamespace(config=QuipConfig(paraphrases=Paraphrases(seeds=[1], fine_tune=False)))
    ranked, frozen = use_paraphrases.measure_paraphrases(run, BARE, some, no_progress)
    assert (ranked["layer"], ranked["auroc"], frozen["f1"]) == (2, 1, 1)


def test_fine_tuning_compares_tokens_in_single_precision(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    halved: list[bool] = []
    compare = paraphrases.bertscore

    def watched(x: Tensor, *others: Tensor) -> Tensor:
        halved.append(torch.is_autocast_enabled("cpu") or x.dtype != torch.float32)
        return compare(x, *others)

    monkeypatch.setattr(paraphrases, "bertscore", watched)
    monkeypatch.setattr(paraphrases, "fast_training", lambda device: torch.autocast("cpu", torch.bfloat16))
    pairs = ParaphrasePairs(PASSAGES[:4], PASSAGES[1:5], np.array([0, 1, 0, 1]))
    tuned_f1(str(data / "bert"), pairs, pairs, Paraphrases(epochs=1, layers=1), 0)
    assert halved == [False, False]  # the step, and the test


def test_opinions_are_calibrated_and_accuracy_counts_right_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"the": (0.0, 1.0), "a": (0, 2), "b": (0.5, 1), "c": (0, 0.5), "d": (0.2, 1.1)}  # negative, positive

    def score(questions: Any, texts: Any) -> np.ndarray:
        return np.array([known[text] for text in texts])

    monkeypatch.setattr(use_sentiment, "scores_by_way", lambda run, model: {"answers": score})
    config = QuipConfig.model_validate({"sentiment": {"prompts": PROMPTS[:1], "words": ["the"]}})
    some = [{"dataset": "D", "text": text, "label": label} for text, label in (("a", 1), ("b", 0), ("c", 0), ("d", 1))]
    run: Any = SimpleNamespace(config=config)
    (row,) = use_sentiment.measure_sentiment(run, CROSS, some, no_progress)
    assert (row["accuracy"], row["uncalibrated"], row["texts"]) == (0.75, 0.5, 4)


def test_a_readers_score_is_its_best_logits(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def logits(reader: Any, windows: Any, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        number = torch.from_numpy(windows.rows[rows]).float()[:, None]
        return torch.cat([number, number - 9], dim=1), torch.cat([number * 10 - 9, number * 10], dim=1)

    monkeypatch.setattr(sentiment, "span_logits", logits)
    reader = load_reader(str(data / "bert"), device="cpu")
    found = read_scores(reader, ["who ?", "what ?"], PASSAGES[:3], Teacher(max_length=64, question_length=12, stride=8))
    np.testing.assert_array_equal(found, 11 * np.arange(6).reshape(3, 2))


def test_the_reason_is_the_best_span_of_what_is_scored(biencoder: SpanBiencoder) -> None:
    settings = Student(**STUDENT)  # type: ignore[arg-type]
    question, texts = "why is it good ?", [PASSAGES[0], " ".join(PASSAGES * 3)]  # the last one is longer than is read
    found = rationale_spans(biencoder, [question] * 2, texts, 2, settings)
    assert all(0 <= a < b <= len(text) for (a, b), text in zip(found, texts, strict=True))
    start, end = (one[0] for one in biencoder.asked_many([question], 12))
    read = biencoder.tokenizer(texts[0], return_offsets_mapping=True)
    with torch.inference_mode():
        vectors = biencoder.encoder.vectors(*biencoder.encoder.padded([read["input_ids"]]))[0]
    own = range(1, len(vectors) - 1)
    spans = [(float(vectors[i] @ start + vectors[j] @ end), i, j) for i, j in product(own, own) if i <= j < i + 2]
    _, first, last = max(spans)
    assert found[0] == (read["offset_mapping"][first][0], read["offset_mapping"][last][1])


def test_the_days_that_the_papers_size_would_take(tmp_path: Path) -> None:
    for stage, done in (("questions", 1000), ("targets", 500), ("student", 2000)):
        (tmp_path / stage).mkdir()
        (tmp_path / stage / "speed.json").write_text(json.dumps({"done": done, "seconds": 864.0}))
    report_speed(Report(tmp_path, "Speed"), Run(tmp_path, None, None))
    assert [row["days"] for row in rows(tmp_path, "speed")] == [
        pytest.approx(800),
        pytest.approx(1600),
        pytest.approx(800),
    ]


def test_the_papers_figures_stand_beside_what_they_are_like(tmp_path: Path) -> None:
    figures = {"dataset": "SST-2", "prompt": "p", "texts": 4, "accuracy": 0.75, "uncalibrated": 0.5}
    (tmp_path / "uses").mkdir()
    for model, use in (("encoder-before", "masked word"), ("quip", "answers"), ("cross-encoder-student", "answers")):
        names = {"encoder-before": "encoder before", "quip": "QuIP", "cross-encoder-student": "cross-encoder student"}
        line = json.dumps({"model": names[model], "use": use, **figures})
        (tmp_path / "uses" / f"sentiment-{model}.jsonl").write_text(line)
    report_sentiment(Report(tmp_path, "Opinions"), Run(tmp_path, None, QuipConfig(variants=["cross-encoder student"])))
    found = {row["model"]: (row["paper"], row["uncalibrated_paper"]) for row in rows(tmp_path, "table5")}
    assert found == {"encoder before": (None, 0.836), "QuIP": (0.879, None), "cross-encoder student": (None, 0.833)}
    others = {(row["dataset"], row["model"]): row for row in rows(tmp_path, "table5-paper")}
    assert ("SST-2", "QuIP") not in others and others["CR", "QuIP"]["calibrated"] == 0.903


def test_entities_after_all_sentences_are_a_table_of_their_own(tmp_path: Path) -> None:
    lines = [{"model": "QuIP", "dataset": "CoNLL", "use": use, "seed": 0, "f1": f1}
             for use, f1 in (("question", 0.5), ("standard, all sentences", 0.75))]  # fmt: skip
    (tmp_path / "uses").mkdir()
    (tmp_path / "uses" / "entities-quip.jsonl").write_text("\n".join(map(json.dumps, lines)))
    report_entities(Report(tmp_path, "Entities"), Run(tmp_path, None, QuipConfig()))
    (few,), (every,) = rows(tmp_path, "table4"), rows(tmp_path, "table10")
    assert (few["question"], few["question_paper"]) == (0.5, 0.740)
    assert (every["standard, all sentences"], every["standard, all sentences_paper"]) == (0.75, 0.927)
    others = {(row["dataset"], row["model"]) for row in rows(tmp_path, "table10-paper")}
    assert others == {("CoNLL", "encoder before"), ("WNUT", "encoder before"), ("WNUT", "QuIP")}


def test_the_prompt_that_is_best_on_sst_2_is_used_for_all(tmp_path: Path) -> None:
    accuracy = {"MR": (0.9, 0.6), "SST-2": (0.7, 0.8)}  # by prompt
    lines = [{"model": "QuIP", "use": "answers", "dataset": name, "prompt": f"{name} {at}", "texts": 4,
              "accuracy": value, "uncalibrated": value}
             for name, values in accuracy.items() for at, value in enumerate(values)]  # fmt: skip
    (tmp_path / "uses").mkdir()
    (tmp_path / "uses" / "sentiment-quip.jsonl").write_text("\n".join(map(json.dumps, lines)))
    report_sentiment(Report(tmp_path, "Opinions"), Run(tmp_path, None, QuipConfig()))
    found = {row["dataset"]: (row["best"], row["chosen"], row["chosen_prompt"], row["chosen_paper"])
             for row in rows(tmp_path, "table5")}  # fmt: skip
    assert found == {"MR": (0.9, 0.6, "MR 1", 0.831), "SST-2": (0.8, 0.8, "SST-2 1", 0.896)}


def test_reasons_are_of_the_prompt_that_is_best_on_sst_2(monkeypatch: pytest.MonkeyPatch) -> None:
    right = {"a movie ?": 1.0, "a product ?": 1.0}  # what the second prompt asks of a positive text

    def score(questions: list[str], texts: list[str]) -> np.ndarray:
        of_text = {"good": 1.0, "bad": -1.0}
        return np.array([[of_text.get(text, 0) * right.get(one, 0) for one in questions] for text in texts])

    monkeypatch.setattr(use_sentiment, "scores_by_way", lambda run, model: {"answers": score})
    monkeypatch.setattr(use_sentiment, "load_biencoder", lambda source: None)
    monkeypatch.setattr(use_sentiment, "rationales", lambda biencoder, asked, *_: asked)
    config = QuipConfig.model_validate(
        {"sentiment": {"prompts": ["p ? | n ?", "a movie ? | b movie ?"], "words": ["w"]}}
    )
    run: Any = SimpleNamespace(config=config)
    some = [{"dataset": name, "text": text, "label": int(text == "good")}
            for name in ("CR", "SST-2") for text in ("good", "bad")]  # fmt: skip
    found = list(use_sentiment.measure_sentiment(run, Model("QuIP", "bi-encoder", ""), some, no_progress))
    reasons = {row["dataset"]: row for row in found if row["use"] == "rationales"}
    assert {name: row["prompt"] for name, row in reasons.items()} == {
        "CR": "a product ? | b product ?", "SST-2": "a movie ? | b movie ?",
    }  # fmt: skip
    assert [one["rationale"] for one in reasons["CR"]["rows"]] == ["b product ?", "a product ?"]
