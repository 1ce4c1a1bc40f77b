"""QuIP as a whole, on generated passages: every stage, every variant, every use; what a bi-encoder learns."""

import weakref
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from allpairs.learner.backbones.biencoder_training import AskedPassages, Sparse, train_biencoder
from allpairs.learner.backbones.opinions import product_scores
from allpairs.learner.backbones.span_biencoder import SpanBiencoder, answer_apart, load_biencoder, passage_vectors
from allpairs.learner.backbones.token_encoder import load_token_encoder
from allpairs.learner.light.catalog.quip import HEADS, Paraphrases, QuipConfig, Student
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.pipelines.pipeline import RESULTS, read_artifacts, run_pipeline
from allpairs.learner.pipelines.quip.inputs import QuipTexts
from allpairs.learner.pipelines.quip.noise import noisy, pseudo_questions
from allpairs.learner.pipelines.quip.paraphrases import ParaphrasePairs, few_of_each, layer_scores, tuned_f1
from allpairs.learner.pipelines.quip.questions import generator_target, parse_generated, read_written
from allpairs.learner.pipelines.quip.sentiment import rationales
from allpairs.learner.pipelines.quip.shards import read_speed
from allpairs.learner.pipelines.quip.tagging import question_rows
from allpairs.learner.pipelines.quip.teacher import likeliest
from tests.helpers.files.papers import ALL, ASKED, NAME, OPINIONS, PASSAGES, STUDENT, VARIANTS, run_of, write_files
from tests.helpers.projects.pipelines import table_rows


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("quip"))


def test_all_variants_and_all_uses(data: Path, tmp_path: Path) -> None:
    run = run_of(data, tmp_path / "out", ALL, variants=VARIANTS)
    said: list[float] = []
    run_pipeline(NAME, run, lambda words, done: said.append(done))
    assert said == sorted(said) and said[-1] <= 1
    models = {"QuIP", *VARIANTS}
    assert {row["model"] for row in table_rows(run, "table1")} == models
    ranked = table_rows(run, "table2")
    assert {row["model"] for row in ranked} == models | {"encoder before"}
    assert all(row["low"] <= row["auroc"] <= row["high"] for row in ranked)
    assert all(row["frozen_seeds"] == row["fine-tuned_seeds"] == 2 for row in table_rows(run, "table3"))
    by_questions = {row["model"] for row in table_rows(run, "table4") if row["question"] is not None}
    assert by_questions == models - {"teacher", "cross-encoder student"}
    missing = {row["dataset"] for row in table_rows(run, "table2-paper")}
    assert missing == {"WMT16", "QQP", "PAWS-Wiki", "PAWS-QQP"}  # the file has MRPC
    assert {row["model"] for row in table_rows(run, "table3-paper") if row["dataset"] == "MRPC"} == {
        "LM-BFF (reported)", "LM-BFF (rerun)"}  # fmt: skip
    opinions = table_rows(run, "table5")
    assert {(row["model"], row["use"]) for row in opinions if row["model"] == "encoder before"} == {
        ("encoder before", "answers"), ("encoder before", "mean vectors")}  # fmt: skip
    assert all(row["prompts"] == 2 and row["texts"] == 8 for row in opinions)
    assert {row["model"] for row in table_rows(run, "table8")} == {"QuIP", *VARIANTS[5:8]}
    counts = {row["what"]: row["n"] for row in table_rows(run, "counts")}
    assert counts["passages"] == 6 and counts["questions to train generator and teacher"] == 12
    assert counts["questions"] + counts["generated texts without answer or question"] == 12
    report = (run.of(RESULTS) / "report.md").read_text()
    assert "paper's 80,000,000" in report and "0.917" in report
    assert (run.of(RESULTS) / "figures" / "layers.png").is_file()
    made = {one["kind"]: run.folder / one["path"] for one in read_artifacts(run.of(RESULTS))}
    assert set(made) == {"biencoder", "reader"}
    assert load_encoder(str(made["biencoder"]), "cpu").encode(PASSAGES).shape == (6, 32)


def test_a_variant_without_a_question_is_left_out(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allpairs.learner.pipelines.quip.two_stage.continued", lambda g, texts, *_: [""] * len(texts))
    reading = {name: ALL[name] for name in ("questions", "reading")}
    run = run_of(data, tmp_path / "out", reading, variants=["two-stage beam", "hard labels"])
    run_pipeline(NAME, run)
    assert {row["model"] for row in table_rows(run, "table1")} == {"QuIP", "hard labels"}
    assert "Left out: two-stage beam" in (run.of(RESULTS) / "report.md").read_text()


def test_gold_answers_are_of_other_known_questions(data: Path, tmp_path: Path) -> None:
    run = run_of(data, tmp_path / "out", {"questions": "asked.tsv"}, variants=["gold answers"], questions=7)
    run_pipeline(NAME, run)
    assert (run.of("variants") / "gold-answers" / HEADS).is_file()
    assert len(QuipTexts(run).examples) == 7 and len(QuipTexts(run).others) == 5
    assert not {one.question for one in QuipTexts(run).examples} & {one.question for one in QuipTexts(run).others}


def test_passages_alone_are_enough(data: Path, tmp_path: Path) -> None:
    run = run_of(data, tmp_path / "out", {}, variants=["unsupervised questions"])
    run_pipeline(NAME, run)
    questions = [one for shard in read_written(run.of("questions")) for one in shard]
    assert len(questions) == 12 and all(PASSAGES[one.passage][one.start :].startswith(one.answer) for one in questions)
    assert [one["kind"] for one in read_artifacts(run.of(RESULTS))] == ["biencoder"]
    assert read_speed(run.of("student"))["done"] == 12


SETTINGS = Student(**STUDENT | {"epochs": 60, "learning_rate": 5e-3, "weight_decay": 0})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def learned(data: Path) -> SpanBiencoder:
    """Return a bi-encoder that knows where the places are, and what they cost."""
    biencoder = load_biencoder(str(data / "bert"), device="cpu")
    start, end = [], []
    for _, answer, passage in ASKED:
        places = biencoder.tokenizer(passage, return_offsets_mapping=True)["offset_mapping"]
        first = passage.index(answer)
        start.append([i for i, (a, b) in enumerate(places) if a == first and b > a])
        end.append([i for i, (a, b) in enumerate(places) if b == first + len(answer) and b > a])
    one = np.ones((len(ASKED), 1), dtype=np.float32)
    of = np.array([PASSAGES.index(passage) for *_, passage in ASKED])
    asked = AskedPassages(
        PASSAGES, [q for q, *_ in ASKED], of, Sparse(np.array(start), one), Sparse(np.array(end), one)
    )
    train_biencoder(biencoder, [asked], SETTINGS)
    return biencoder


def test_a_bi_encoder_learns_and_its_folder_answers_alike(learned: SpanBiencoder, tmp_path: Path) -> None:
    found = [answer_apart(learned, [q], passage, SETTINGS)[0] for q, _, passage in ASKED]
    right = [one.text == answer and passage[one.start :].startswith(answer)
             for one, (_, answer, passage) in zip(found, ASKED, strict=True)]  # fmt: skip
    assert sum(right) >= 10
    learned.save(tmp_path)
    again = load_biencoder(str(tmp_path), device="cpu")
    both = answer_apart(again, [q for q, *_ in ASKED[::6]], PASSAGES[0], SETTINGS)
    assert [one.text for one in both] == [found[0].text, found[6].text]
    assert both[0].score == pytest.approx(found[0].score, abs=1e-4)
    assert answer_apart(again, ["where ?"], "", SETTINGS)[0].text == ""


def test_a_long_passage_is_read_in_windows(learned: SpanBiencoder) -> None:
    long = " ".join(PASSAGES)
    vectors, places = passage_vectors(learned, long, SETTINGS)
    assert len(vectors) == len(places) > 2 * SETTINGS.passage_length
    assert [long[a:b] for a, b in places] == [w for text in PASSAGES for w in text.replace(".", " .").split()]
    found = answer_apart(learned, [ASKED[-1][0]], long, SETTINGS)[0]
    assert found.score <= 0 and long[found.start :].startswith(found.text)


def test_a_text_alone_scores_as_it_does_among_others(learned: SpanBiencoder) -> None:
    asked = learned.asked_many(["why is it good ?", "why is it bad ?"], 12)
    texts = [text for text, _ in OPINIONS] + PASSAGES
    together = product_scores(learned.encoder, asked, texts)
    alone = np.concatenate([product_scores(learned.encoder, asked, [text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    pairs = ParaphrasePairs(texts, texts[::-1], np.zeros(len(texts), dtype=np.int64))
    scores, pooled = layer_scores(learned.encoder, pairs)
    one = [layer_scores(learned.encoder, pairs.take(np.array([i]))) for i in range(len(pairs))]
    np.testing.assert_allclose(scores, np.concatenate([found for found, _ in one]), atol=1e-5)
    np.testing.assert_allclose(pooled, np.concatenate([found for _, found in one]), atol=1e-5)
    np.testing.assert_allclose(scores, scores[::-1], atol=1e-5)  # the pairs are each other's swaps


def test_reasons_are_words_of_the_text(learned: SpanBiencoder) -> None:
    texts = [text for text, _ in OPINIONS]
    found = rationales(learned, ["why is it good ?"] * len(texts), texts, 2, SETTINGS)
    assert all(one and one in text and len(one.split()) <= 2 for one, text in zip(found, texts, strict=True))


def test_a_last_layer_of_questions(learned: SpanBiencoder) -> None:
    found = question_rows(learned, ["O", "B-LOC", "I-LOC", "B-x"], {"O": "Who is good ?", "LOC": "where"})
    assert found.shape == (4, 32) and torch.equal(found[1], found[2]) and not torch.allclose(found[0], found[3])
    torch.testing.assert_close(found.norm(dim=1), torch.ones(4))


def test_what_a_generator_writes_is_answer_separator_question() -> None:
    assert parse_generated(generator_target("a | b", "who?")) == ("a", "b | who?")
    assert parse_generated(generator_target("Paris", "where?")) == ("Paris", "where?")
    assert [parse_generated(text) for text in ("Paris", "| who?", "Paris |", "")] == [None] * 4


def test_noise_cuts_the_answer_out() -> None:
    rng = np.random.default_rng(0)
    found = pseudo_questions(PASSAGES[0], 3, rng)
    assert {one.answer for one in found} <= {"Rome", "May 1902", "10 dollars"} and len(found) == 3
    assert all(one.answer not in one.question and one.question.endswith("?") for one in found)
    words = [str(i) for i in range(2000)]
    kept = [(at, int(word)) for at, word in enumerate(noisy(words, rng)) if word != "BLANK"]
    assert 0.66 < len(kept) / 2000 < 0.78  # 0.9 are not dropped, 0.8 of them not blanked
    assert all(b - a > -3 for (_, a), (_, b) in pairwise(kept))
    assert pseudo_questions("", 3, rng) == []


def test_the_teachers_likeliest_answer() -> None:
    start = Sparse(np.array([[0, 3, 2], [0, 1, 2]]), np.array([[0.6, 0.3, 0.1], [1, 0, 0]], dtype=np.float32))
    end = Sparse(np.array([[2, 0, 5], [0, 1, 2]]), np.array([[0.5, 0.3, 0.2], [1, 0, 0]], dtype=np.float32))
    mass, first, last = likeliest(start, end, 17)
    assert mass == pytest.approx([0.3 * 0.2, 0]) and (first[0], last[0]) == (3, 5)
    mass, first, last = likeliest(start, end, 1)
    assert mass == pytest.approx([0.1 * 0.5, 0]) and (first[0], last[0]) == (2, 2)


def test_the_defaults_are_the_papers() -> None:
    config = QuipConfig()
    assert (config.generator.top_p, config.generator.each, config.teacher.best) == (0.6, 10, 8)
    assert (config.student.passage_length, config.student.window_step, config.student.question_length) == (456, 328, 50)
    assert config.student.longest_answer == 17 and not config.teacher.renormalise
    assert config.paraphrases.seeds == [13, 21, 42, 87, 100] and config.entities.epochs == 200
    assert load_token_encoder("all-MiniLM-L6-v2", "cpu").layers == 6


def test_no_split_learns_from_another(data: Path) -> None:
    def figures(seeds: list[int]) -> dict[int, float]:
        settings = Paraphrases(shots=3, seeds=seeds, epochs=3, learning_rate=1e-2, layer=1)
        few = {seed: pairs.take(few_of_each(pairs.labels, settings.shots, seed)) for seed in seeds}
        return {seed: tuned_f1(str(data / "bert"), few[seed], pairs, settings, seed) for seed in seeds}

    texts = [text for text, _ in OPINIONS] + PASSAGES
    pairs = ParaphrasePairs(texts, texts[3:] + texts[:3], np.arange(len(texts)) % 2)
    whole = figures([1, 2, 3])
    assert whole[3] == figures([3])[3] and whole[2] == figures([2])[2]


def test_parts_teach_what_the_whole_teaches_and_are_let_go(data: Path) -> None:
    one = np.ones((len(ASKED), 1), dtype=np.float32)
    labels = Sparse(np.arange(len(ASKED))[:, None] % 5 + 1, one)
    of = np.array([PASSAGES.index(passage) for *_, passage in ASKED])
    whole = AskedPassages(PASSAGES, [q for q, *_ in ASKED], of, labels, labels)
    alive: list[weakref.ref[AskedPassages]] = []

    def parts() -> Iterator[AskedPassages]:
        for first in range(0, len(PASSAGES), 2):
            assert sum(ref() is not None for ref in alive) <= 1  # the one that is learned from at the moment
            table_rows = np.flatnonzero((of >= first) & (of < first + 2))
            mine = Sparse(labels.tokens[table_rows], labels.mass[table_rows])
            part = AskedPassages(
                PASSAGES[first : first + 2], [ASKED[i][0] for i in table_rows], of[table_rows] - first, mine, mine
            )
            alive.append(weakref.ref(part))
            yield part
            del part

    states = []
    for some in ([whole], parts()):
        biencoder = load_biencoder(str(data / "bert"), device="cpu")
        train_biencoder(biencoder, some, SETTINGS.model_copy(update={"epochs": 3}))
        states.append(biencoder.network.state_dict())
    assert len(alive) == 3
    for name, weights in states[0].items():
        torch.testing.assert_close(states[1][name], weights, atol=1e-4, rtol=1e-3)
