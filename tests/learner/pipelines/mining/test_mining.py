"""Few-shot mining as a whole, on generated questions and passages: its results, with one list and with two."""

import json
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from allpairs.db.errors import Cancelled, InputError
from allpairs.learner.cli.commands import app
from allpairs.learner.light.catalog.mining import MiningConfig
from allpairs.learner.pipelines.mining.inputs import mining_texts
from allpairs.learner.pipelines.mining.margin import Candidates
from allpairs.learner.pipelines.pipeline import RESULTS, Run, begin, read_artifacts, run_pipeline
from allpairs.learner.pipelines.spec import make_spec
from tests.helpers.projects.pipelines import table_rows
from tests.helpers.tiny import tiny_encoder

NAME = "few-shot-mining"
THINGS = [f"{colour} {thing}" for colour in ("red", "blue", "green", "black") for thing in ("cat", "dog", "hen", "owl", "fox")]  # fmt: skip  # noqa: E501
PAIRS = [(f"what is the {thing}", f"the {thing} is an animal here") for thing in THINGS]
TINY = {"steps": 12, "batch_size": 4, "learning_rate": 2e-3}
WRITER = {"steps": 60, "batch_size": 4, "learning_rate": 1e-2, "decoder_rate": 1, "decoder_layers": 1, "beams": 2,
          "source_length": 64, "target_length": 12}  # fmt: skip
Make = Callable[..., Run]


def table(path: Path, columns: str, rows: list[tuple[str, ...]]) -> str:
    path.write_text("\n".join([columns, *(",".join(row) for row in rows)]), encoding="utf-8")
    return path.name


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mining")
    tiny_encoder(folder, [text for pair in [*PAIRS, *NEWS] for text in pair] + PASSAGES + ["where does |"])
    table(folder / "seed.csv", "x,y", PAIRS[:5])
    table(folder / "test.csv", "x,y", PAIRS[15:])
    table(folder / "dev.csv", "x,y", PAIRS[10:15])
    table(folder / "x.csv", "id,text", [(f"q{i}", x) for i, (x, _) in enumerate(PAIRS[:15])])
    table(folder / "y.csv", "id,text", [(f"p{i}", y) for i, (_, y) in enumerate(PAIRS)])
    table(folder / "gold.csv", "id1,id2,label", [(f"q{i}", f"p{j}", "1" if i == j else "0")
                                                 for i in range(15) for j in (i, i + 1)])  # fmt: skip
    table(folder / "both.csv", "id,text", [(f"t{i}", text) for i, text in enumerate(sum(PAIRS[:10], ()))])
    table(folder / "dated.csv", "id,text,date", [(f"t{i}", x, "2024-01-05") for i, (x, _) in enumerate(PAIRS)])
    table(folder / "undated.csv", "id,text,date", [("t0", "a", "2024-01-05"), ("t1", "b", "soon")])
    table(folder / "asked.csv", "x,answer,passage", ASKED[:3])
    return folder


def wanted(data: Path, inputs: dict[str, str], **config: Any) -> dict[str, Any]:
    backbone = str(data / "tiny")
    return {
        "inputs": {"seed_pairs": "seed.csv", "corpus_x": "x.csv"} | inputs,
        "biencoder": TINY | {"backbone": backbone},
        "crossencoder": TINY | {"backbone": str(data / "bert"), "negatives": 2},
        "downstream": {"amounts": [0, 2, 4], "steps": 3, "seeds": 2},
        "generator": WRITER | {"backbone": str(data / "bert")},
    } | config


@pytest.fixture
def make(data: Path, tmp_path: Path) -> Make:
    def made(inputs: dict[str, str], **config: Any) -> Run:
        return begin(NAME, tmp_path / "out", *make_spec(NAME, wanted(data, inputs, **config), data / "x.toml"))

    return made


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_two_lists_with_known_pairs(make: Make) -> None:
    run = make({"corpus_y": "y.csv", "gold": "gold.csv", "test_pairs": "test.csv"}, wanted=8)
    said: list[tuple[float, str]] = []
    run_pipeline(NAME, run, lambda words, done: said.append((done, words)))
    back = [(one, next_) for one, next_ in pairwise(said) if next_[0] < one[0]]
    assert not back and said[-1][0] <= 1  # progress never falls
    mined, dropped = lines(run.of("mined") / "mined.jsonl"), lines(run.of("kept") / "dropped.jsonl")
    assert [row["rank"] for row in mined] == list(range(1, len(mined) + 1)) and 0 < len(mined) <= 8
    assert [row["cross_score"] for row in mined] == sorted((row["cross_score"] for row in mined), reverse=True)
    texts = {f"q{i}": x for i, (x, _) in enumerate(PAIRS)} | {f"p{i}": y for i, (_, y) in enumerate(PAIRS)}
    assert all((texts[row["x_id"]], texts[row["y_id"]]) == (row["x"], row["y"]) for row in mined)
    assert not {(row["x"], row["y"]) for row in mined} & set(PAIRS[:5])  # seed pairs are not mined again
    assert {row["reason"] for row in dropped} == {"a seed pair"}
    proposed = lines(run.of("candidates") / "candidates.jsonl")
    assert all((texts[row["x_id"]], texts[row["y_id"]]) in set(product(*zip(*PAIRS, strict=True))) for row in proposed)
    assert [row["margin"] for row in proposed] == sorted((row["margin"] for row in proposed), reverse=True)
    counts = {row["what"]: row["n"] for row in table_rows(run, "counts")}
    assert len(proposed) == counts["pairs proposed"] == counts["pairs left"] + counts["dropped: a seed pair"] == 15
    right = {(f"q{i}", f"p{i}") for i in range(15)}
    share = sum((row["x_id"], row["y_id"]) in right for row in all_mined(run)) / counts["pairs left"]
    last = [row for row in table_rows(run, "precision") if row["model"] == "cross-encoder"][-1]
    assert last["precision"] == pytest.approx(share) and last["low"] <= share <= last["high"]
    found = {(row["method"], row["added"]): row for row in table_rows(run, "downstream")}
    methods = ("bi-encoder", "full", "generated", "gold")
    assert set(found) == {("seed only", 0), *((method, amount) for method in methods for amount in (2, 4))}
    assert all(row["seeds"] == 2 and 0 <= row["recall_at_1"] <= row["recall_at_10"] <= 1 for row in found.values())
    artifacts = {one["kind"]: run.folder / one["path"] for one in read_artifacts(run.of(RESULTS))}
    assert set(artifacts) == {"pairs", "biencoder", "crossencoder"} and all(
        path.exists() for path in artifacts.values()
    )
    report = (run.of(RESULTS) / "report.md").read_text()
    assert "Precision of the mined" in report and (run.of(RESULTS) / "figures" / "precision.png").is_file()


def test_development_pairs_choose_rates_and_steps(make: Make) -> None:
    given = {"corpus_y": "y.csv", "test_pairs": "test.csv", "dev_pairs": "dev.csv"}
    development = {"checks": 2, "learning_rates": [1e-4, 2e-3]}
    run = make(given, wanted=8, development=development, downstream={"amounts": [2], "steps": 4, "seeds": 1})
    run_pipeline(NAME, run)
    for stage in ("biencoder", "mined"):
        looks = json.loads((run.of(stage) / "development.json").read_text())
        assert [(look["learning_rate"], look["step"]) for look in looks] == [
            (rate, step) for rate in (1e-4, 2e-3) for step in (0, 6, 12)
        ]
        assert all(0 < look["value"] <= 1 for look in looks)
    assert "Choice of the models" in (run.of(RESULTS) / "report.md").read_text()
    with pytest.raises(InputError, match=r"development\.learning_rates"):
        make({"corpus_y": "y.csv"}, development=development)


def test_figures_downstream_go_on_where_they_stopped(make: Make) -> None:
    run = make({"corpus_y": "y.csv", "test_pairs": "test.csv"}, downstream={"amounts": [2], "steps": 2, "seeds": 1})
    begun: list[str] = []

    def stop(words: str, done: float) -> None:
        if words.startswith("downstream") and words not in begun:
            begun.append(words)
        if "full + 2" in words:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        run_pipeline(NAME, run, stop)
    assert any("seed only" in words for words in begun) and any("writing" in words for words in begun)
    again: list[str] = []
    run_pipeline(NAME, run, lambda words, done: again.append(words))
    assert not [words for words in again if "seed only" in words or "bi-encoder" in words or "writing" in words]
    assert [row["method"] for row in table_rows(run, "downstream")] == ["seed only", "bi-encoder", "full", "generated"]


def all_mined(run: Run) -> list[dict[str, str]]:
    """Return the ids of all pairs that passed the filters."""
    texts, kept = mining_texts(run), Candidates.load(run.of("kept") / "pairs.npz")
    ids = zip(texts.x.take(kept.x, "id"), texts.y.take(kept.y, "id"), strict=True)
    return [{"x_id": x, "y_id": y} for x, y in ids]


def test_one_list_without_anything_known(make: Make) -> None:
    run = make({"corpus_x": "both.csv"}, crossencoder={"use": False}, classifier={"side": "x", "keep": "fraction", "fraction": 0.8})  # fmt: skip  # noqa: E501
    run_pipeline(NAME, run)
    mined = lines(run.of("mined") / "mined.jsonl")
    assert mined and all(int(row["x_id"][1:]) < int(row["y_id"][1:]) for row in mined)
    assert [row["margin"] for row in mined] == sorted((row["margin"] for row in mined), reverse=True)
    assert {row["cross_score"] for row in mined} == {None}
    counts = {row["what"]: row["n"] for row in table_rows(run, "counts")}
    assert counts["first texts that the classifier keeps"] == 16
    assert {one["kind"] for one in read_artifacts(run.of(RESULTS))} == {"pairs", "biencoder"}


PLACES = ("Rome", "Paris", "Berlin", "Vienna", "Madrid", "Oslo", "Prague", "Dublin")
PASSAGES = [f"The fair of {place} begins in May 19{i}2 and costs 1{i} dollars" for i, place in enumerate(PLACES)]
ASKED = [(f"where does the fair of May 19{i}2 begin", place, PASSAGES[i]) for i, place in enumerate(PLACES)]


def test_reading_comprehension(data: Path, make: Make) -> None:
    asked = ASKED
    table(data / "questions.csv", "id,text", [(f"q{i}", question) for i, (question, *_) in enumerate(asked)])
    table(data / "passages.csv", "id,text", [(f"p{i}", passage) for i, passage in enumerate(PASSAGES)])
    table(data / "answers.csv", "id1,id2,answer", [(f"q{i}", f"p{i}", place.lower()) for i, place in enumerate(PLACES)])
    table(data / "asked_test.csv", "x,answer,passage", [*asked[5:], (asked[5][0], "May 1952", asked[5][2])])
    inputs = {
        "seed_pairs": "asked.csv", "corpus_x": "questions.csv", "corpus_y": "passages.csv", "gold": "answers.csv",
        "test_pairs": "asked_test.csv",
    }  # fmt: skip
    reader = {"backbone": str(data / "bert"), "steps": 2, "batch_size": 4, "max_length": 64, "stride": 8,
              "question_length": 24}  # fmt: skip
    run = make(
        inputs, task="reading-comprehension", classifier={"side": "none"}, reader=reader,
        downstream={"amounts": [2], "seeds": 1},
    )  # fmt: skip
    run_pipeline(NAME, run)
    assert len(mining_texts(run).positives) == len(PLACES)  # every answer is among the candidates
    mined = lines(run.of("mined") / "mined.jsonl")
    assert mined and all(row["y"] == f"{row['answer']} | {row['passage']}" for row in mined)
    assert all(row["answer"] in row["passage"] and row["y_id"].startswith("p") for row in mined)
    reasons = {row["reason"] for row in lines(run.of("kept") / "dropped.jsonl")}
    assert not [row for row in mined if row["answer"].lower() in row["x"].lower()]
    assert reasons <= {"a seed pair", "the answer within the question"}
    found = table_rows(run, "downstream")
    assert {row["method"] for row in found} == {"seed only", "bi-encoder", "full", "generated", "gold"}
    assert all(0 <= row["exact_match"] <= row["token_f1"] <= 1 for row in found)


NEWS = [(f"the fair of {place} began . it cost much . many came . rain fell in May 19{i}2", f"{place} has a fair")
        for i, place in enumerate(PLACES)]  # fmt: skip


def test_summaries(data: Path, make: Make) -> None:
    table(data / "news_seed.csv", "x,y", NEWS[:3])
    table(data / "news_test.csv", "x,y", NEWS[6:])
    table(data / "documents.csv", "id,text,date", [(f"d{i}", x, f"2010-01-0{1 + i}") for i, (x, _) in enumerate(NEWS)])
    table(data / "sentences.csv", "id,text,date", [(f"s{i}", y, "2010-01-09") for i, (_, y) in enumerate(NEWS)])
    inputs = {
        "seed_pairs": "news_seed.csv", "corpus_x": "documents.csv", "corpus_y": "sentences.csv",
        "test_pairs": "news_test.csv",
    }  # fmt: skip
    run = make(
        inputs, task="summarization", classifier={"side": "none"}, filters={"least_sentences": 4},
        downstream={"amounts": [1], "seeds": 2}, generator=WRITER | {"backbone": str(data / "bert"), "steps": 8},
    )  # fmt: skip
    run_pipeline(NAME, run)
    found = {row["method"]: row for row in table_rows(run, "downstream")}
    assert set(found) >= {"seed only", "bi-encoder", "full"} and "gold" not in found  # no known pairs were given
    assert all(0 <= row[name] <= 1 for row in found.values() for name in ("rouge1", "rouge2", "rougeL"))
    assert found["seed only"]["rougeL_paper"] == 0.2798
    copied = {row["pairs"]: row for row in table_rows(run, "copying")}
    assert copied["known"]["n"] == 5 and copied["known"]["rouge1"] == 0.5  # place and fair of four words
    assert (copied["bi-encoder"]["rouge2_paper"], copied["full"]["rouge2_paper"]) == (0.5166, 0.1542)


def test_a_task_brings_the_papers_values_where_nothing_is_chosen() -> None:
    config = MiningConfig.model_validate({"task": "summarization", "filters": {"least_sentences": 2}})
    assert (config.filters.least_sentences, config.filters.same_date) == (2, "month")
    assert (config.classifier.side, config.classifier.keep, config.classifier.fraction) == ("y", "fraction", 0.2)
    assert config.crossencoder.objective == "pairwise"
    assert MiningConfig.model_validate(config.model_dump()) == config
    assert MiningConfig() == MiningConfig.model_validate({}) and MiningConfig().crossencoder.objective == "binary"


BAD = {
    "reading without passages": (
        {"seed_pairs": "asked.csv"},
        {"task": "reading-comprehension"},
        "needs passages as the second list",
    ),
    "no answers": (
        {"corpus_y": "y.csv"},
        {"task": "reading-comprehension"},
        "seed.csv, row 1, column 'answer': no such column",
    ),
    "no such column": ({"corpus_x": "seed.csv"}, {}, "seed.csv, row 1, column 'id': no such column"),
    "no dates": ({}, {"filters": {"same_date": "month"}}, "x.csv, row 1, column 'date': no such column"),
    "no second model": (
        {"corpus_y": "y.csv"},
        {"biencoder": {"towers": 2, "passage_backbone": "./no2"}},
        r"there is no folder \./no2",
    ),
    "no model": ({"corpus_y": "y.csv"}, {"crossencoder": {"backbone": "./none"}}, r"there is no folder \./none"),
    "towers": ({}, {"biencoder": {"towers": 2}}, "two encoders need two lists"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_mined_is_refused_first(make: Make, tmp_path: Path, name: str) -> None:
    inputs, config, said = BAD[name]
    with pytest.raises(InputError, match=said):
        make(inputs, **config)
    assert not (tmp_path / "out").exists()


def test_a_bad_date_ends_the_first_stage(make: Make) -> None:
    run = make({"corpus_x": "dated.csv", "corpus_y": "undated.csv"}, filters={"same_date": "day"})
    with pytest.raises(InputError, match=r"undated\.csv, row 3, column 'date': 'soon'"):
        run_pipeline(NAME, run)
    assert not run.has("texts")


def test_the_command_says_what_is_wrong_in_a_line(data: Path, tmp_path: Path) -> None:
    (data / "few.toml").write_text('[inputs]\nseed_pairs = "one.csv"\ncorpus_x = "x.csv"\n')
    (data / "one.csv").write_text("x,y\na,b\n")
    command = ["pipeline", NAME, "--config", str(data / "few.toml"), "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(app, command)
    assert isinstance(found.exception, InputError) and "1 of at least 2 seed pairs" in str(found.exception)
