"""Back-training as a whole, on generated questions and passages: its results, and resuming after a kill."""

import csv
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allpairs.db.errors import Cancelled, InputError
from allpairs.learner.pipelines.backtraining.best import BEST, titled
from allpairs.learner.pipelines.backtraining.cell import ADAPTED
from allpairs.learner.pipelines.backtraining.lists import BACK, SELF, learned
from allpairs.learner.pipelines.backtraining.making import GENERATED, RETRIEVED, read_list
from allpairs.learner.pipelines.backtraining.records import records_of
from allpairs.learner.pipelines.backtraining.texts import domain_data
from allpairs.learner.pipelines.pipeline import (
    RESULTS,
    Run,
    begin,
    pipeline_named,
    read_artifacts,
    run_pipeline,
    run_stage,
)
from allpairs.learner.pipelines.spec import make_spec
from tests.helpers.files.papers import PAIRS, back_training_config
from tests.helpers.projects.pipelines import table_rows
from tests.helpers.tiny import tiny_encoder

NAME = "back-training"
Make = Callable[..., Run]


def table(path: Path, columns: str, rows: list[tuple[str, ...]]) -> str:
    between = "\t" if path.suffix == ".tsv" else ","
    path.write_text("\n".join([columns, *(between.join(row) for row in rows)]), encoding="utf-8")
    return path.name


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backtraining")
    tiny_encoder(folder, [text for pair in PAIRS for text in pair])
    table(folder / "source.csv", "x,y,answer", [(*pair, "animal") for pair in PAIRS[:8]])
    table(folder / "dev.tsv", "input_text\ttarget_text", [(y, x) for x, y in PAIRS[8:12]])
    table(folder / "test.tsv", "input_text\ttarget_text", [(y, x) for x, y in PAIRS[12:16]])
    table(folder / "questions.tsv", "target_text", [(x,) for x, _ in PAIRS[10:]])
    table(folder / "passages.csv", "id,text", [(f"p{i}", y) for i, (_, y) in enumerate(PAIRS)])
    table(folder / "search.tsv", "input_text", [(y,) for _, y in [*PAIRS, *PAIRS[12:14]]])
    return folder


@pytest.fixture
def make(data: Path, tmp_path: Path) -> Make:
    def made(inputs: dict[str, str] | None = None, **config: Any) -> Run:
        spec = make_spec(NAME, back_training_config(data, inputs or {}, **config), data / "x.toml")
        return begin(NAME, tmp_path / "out", *spec)

    return made


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the drawing of figures, which takes a second a run."""
    monkeypatch.setattr("allpairs.learner.pipelines.report.save_chart", lambda chart, path: None)


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a finished run of three variants and two seeds."""
    config = back_training_config(
        data, {"supervised_pairs": "dev.tsv", "source_test": "source.csv"}, seeds=2, measuring={"by_position": True},
        variants=["self-training", "back-training", "supervised"],
    )  # fmt: skip
    run = begin(NAME, tmp_path_factory.mktemp("whole") / "out", *make_spec(NAME, config, data / "x.toml"))
    said: list[float] = []
    run_pipeline(NAME, run, lambda words, done: said.append(done))
    assert said == sorted(said) and said[-1] <= 1  # progress never falls
    return run


def test_variants_and_seeds_in_one_run(whole: Run) -> None:
    run = whole
    records = records_of(run)
    assert [(one.variant, one.iteration) for one in records if one.seed == 1] == [
        ("no adaptation", 0), ("self-training", 1), ("back-training", 1), ("supervised", 1),
    ]  # fmt: skip
    found = {row["variant"]: row for row in table_rows(run, "table4-retrieval")}
    assert found["no adaptation"]["seeds"] == 2 and found["back-training"]["accuracy_at_1_paper"] == 21.68
    assert all(0 <= row["accuracy_at_1"] <= row["accuracy_at_20"] <= 1 for row in found.values())
    by_position = table_rows(run, "table4-by-position")
    assert all(row["strict_accuracy_at_1"] <= found[row["variant"]]["accuracy_at_1"] for row in by_position)
    pairs = {row["variant"]: row["generator_pairs"] for row in table_rows(run, "table5")}
    assert pairs["self-training"] == len(PAIRS) and pairs["back-training"] == 4
    report = (run.of(RESULTS) / "report.md").read_text()
    assert "Back-training against self-training" in report and "2 seeds" in report
    figures = {path.stem for path in (run.of(RESULTS) / "figures").glob("*.png")}
    assert figures == {"figure1", "figure3", "figure4", "figure5", "figure6"}
    made = {one["kind"]: run.folder / one["path"] for one in read_artifacts(run.of(RESULTS))}
    assert set(made) == {"pairs", "biencoder", "generator", "questions", "test-questions"}
    assert all(one.exists() for one in made.values())
    asked = lines(made["test-questions"])
    assert [(row["reference"], row["passage"]) for row in asked] == [
        (x.question, x.passage) for x in domain_data(run).test
    ]
    assert {model: [row["questions"][model] for row in asked] for model in asked[0]["questions"]} == {
        titled(one.variant, one.iteration): one.written for one in records if one.seed == 0
    }
    texts = {one.id: one.text for one in domain_data(run).passages}
    learned_from = (run.of(ADAPTED) / "seed-0" / "back-training" / "1" / "pairs.csv").read_text().splitlines()
    assert learned_from[0].split(",") == ["for", "list", "target_text", "input_text", "nll", "score", "kept"]
    assert {tuple(line.split(",")[:2]) for line in learned_from[1:]} == {
        ("generator", "retrieved"), ("retriever", "generated"),
    }  # fmt: skip
    best = lines(run.of(BEST) / "pairs.jsonl")
    assert [row["cos"] for row in best] == sorted((row["cos"] for row in best), reverse=True)
    assert all(texts[row["y_id"]] == row["y"] for row in best) and len(lines(run.of(BEST) / "questions.jsonl")) == 3
    assert not list((run.of(ADAPTED) / "seed-1").rglob("model"))  # the first seed's best are kept, and nothing else


def test_figure_6_has_back_training_with_each_consistency(make: Make, undrawn: None) -> None:
    run = make(variants=["self-training-self", "back-training", "back-training-cross", "back-training-self"])
    run_pipeline(NAME, run)
    with (run.of(RESULTS) / "figures" / "figure6.csv").open(encoding="utf-8") as file:
        drawn = list(csv.DictReader(file))
    assert list(dict.fromkeys(row["variant"] for row in drawn)) == [
        "no adaptation", "back-training", "back-training-cross", "back-training-self",
    ]  # fmt: skip
    asked = {row["variant"]: 0 for row in drawn}
    for row in drawn:
        asked[row["variant"]] += int(row["n"])
    assert set(asked.values()) == {len(domain_data(run).test)}


def test_a_killed_run_goes_on_at_the_last_finished_part(
    make: Make, whole: Run, undrawn: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make(variants=["back-training"], iterations=2, stop_early=False)
    stage = importlib.import_module("allpairs.learner.pipelines.backtraining.adapt")
    teach = stage.teach_retriever
    monkeypatch.setattr("allpairs.learner.pipelines.backtraining.making.SHARDS", {RETRIEVED: 3, GENERATED: 8})

    def killed(*arguments: Any) -> None:
        raise Cancelled("killed")

    monkeypatch.setattr(stage, "teach_retriever", killed)
    with pytest.raises(Cancelled):
        run_pipeline(NAME, run)
    assert not run.has(ADAPTED)
    left = run.folder / f".{ADAPTED}" / "seed-0"
    done = [*left.glob("lists-1/*-*.json"), left / "back-training" / "1" / "generator" / "log.json"]
    assert len(done) == 2 + 3 + 1
    for name in (RETRIEVED, GENERATED):  # the same in three parts as in one
        ours, one_part = read_list(left / "lists-1", name), read_list(whole.of(ADAPTED) / "seed-0" / "lists-1", name)
        assert ours.questions == one_part.questions and ours.rows.tolist() == one_part.rows.tolist()
        assert ours.judged.score == pytest.approx(one_part.judged.score, abs=1e-5)
    before = [path.stat().st_mtime_ns for path in done]
    monkeypatch.setattr(stage, "teach_retriever", teach)
    run_pipeline(NAME, run)
    after = run.of(ADAPTED) / "seed-0"
    assert [(after / path.relative_to(left)).stat().st_mtime_ns for path in done] == before
    found = [(row["variant"], row["iteration"], row["bleu_1_paper"]) for row in table_rows(run, "table6")]
    assert found == [("back-training", 1, 37.44), ("back-training", 2, 40.31)]


def test_iterations_end_without_gains_and_questions_may_be_drawn(
    make: Make, undrawn: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Development figures improve once, then worsen: the second iteration is the last, the first one is kept."""
    run = make(
        variants=["back-training-self"], iterations=3, iterate="all", lists={"decoding": "sample", "negatives": 2}
    )
    module = importlib.import_module("allpairs.learner.pipelines.backtraining.cell")
    dev = {"source": (4.0, 0.2), "1": (3.0, 0.3), "2": (3.5, 0.1)}

    def figures(folder: Path) -> dict[str, Any]:
        nll, mrr = dev[folder.name if folder.name in dev else "source"]
        return {"dev": {"nll": nll, "mrr": mrr}}

    monkeypatch.setattr(module, "figures_in", figures)
    run_stage(run, pipeline_named(NAME).stages[0])
    for one in pipeline_named(NAME).stages[1:3]:
        run_stage(run, one)
    cell = run.of(ADAPTED) / "seed-0" / "back-training-self"
    assert sorted(path.name for path in cell.iterdir()) == ["1", "2", "done.json"]
    assert json.loads((cell / "done.json").read_text()) == {"iterations": 2, "generator": 1, "retriever": 1}
    assert [(cell / at / "generator" / "model").is_dir() for at in ("1", "2")] == [True, False]


def test_questions_of_the_test_are_not_learned(make: Make, data: Path) -> None:
    known = [(PAIRS[12][0].replace(" ", "  "), PAIRS[0][1], "x"), *((*pair, "x") for pair in PAIRS[:5])]
    table(data / "leaking.csv", "x,y,answer", known)
    run = make({"source_pairs": "leaking.csv", "supervised_pairs": "leaking.csv"})
    run_stage(run, pipeline_named(NAME).stages[0])
    found = domain_data(run)
    assert [one.question for one in found.source] == [x for x, _ in PAIRS[:5]] == [x.question for x in found.supervised]


def test_what_is_real_in_each_scheme(whole: Run) -> None:
    """Back-training has real outputs, self-training real inputs; both train on the same two lists."""
    data, folder = domain_data(whole), whole.of(ADAPTED) / "seed-0" / "lists-1"
    lists = {name: read_list(folder, name) for name in (RETRIEVED, GENERATED)}
    questions, passages = {one.text for one in data.questions}, {one.text for one in data.passages}
    for scheme in (SELF, BACK):
        to_write, to_find = (lists[GENERATED if generated else RETRIEVED] for generated in learned(scheme))
        written, found = (one.asked(data, np.ones(len(one.rows), dtype=bool)) for one in (to_write, to_find))
        if scheme == BACK:
            assert {one.question for one in written} <= questions  # what the generator is to write
            assert {one.passage for one in found} <= passages  # what the retriever is to find
            assert (len(written), len(found)) == (len(questions), len(passages))
        else:
            assert {one.passage for one in written} <= passages  # what the generator reads
            assert {one.question for one in found} <= questions  # what the retriever is asked
            assert (len(written), len(found)) == (len(passages), len(questions))


def test_source_pairs_measure_without_known_pairs_or_filter_hits(make: Make, undrawn: None) -> None:
    variants = ["back-training-both", "self-training-self"]
    none: Any = {"dev_pairs": None, "test_pairs": None, "test_passages": None}
    run = make(none, variants=variants, lists={"thresholds": "paper", "negatives": 2})
    run_pipeline(NAME, run)
    data = domain_data(run)
    assert (len(data.source), len(data.dev), data.has_test) == (6, 2, False)
    assert "no test pairs" in (run.of(RESULTS) / "report.md").read_text()
    found = table_rows(run, "table5")  # the paper's thresholds are for its own models: here nothing is kept or learned
    assert [(row["variant"], row["generator_pairs"], row["retriever_pairs"]) for row in found] == [
        ("self-training-self", 0, 0), ("back-training-both", 0, 0),
    ]  # fmt: skip


def test_foreign_questions_are_sorted_out_and_types_are_learned(make: Make, undrawn: None, data: Path) -> None:
    asked = [(x, "1") for x, _ in PAIRS[10:16]] + [(y, "0") for _, y in PAIRS[:6]]
    table(data / "labels.csv", "text,label", asked)
    run = make(
        {"question_labels": "labels.csv"}, variants=["back-training"],
        lists={"in_domain": 0.01, "negatives": 2}, amounts={"questions": 5, "test_pairs": 2, "test_passages": 3},
    )  # fmt: skip
    run_stage(run, pipeline_named(NAME).stages[0])
    found = domain_data(run)
    assert (len(found.questions), len(found.test)) == (4, 2) and found.about["questions before sorting"] == 4
    assert len(found.candidates) == 4 + 2 + 3 and 0 <= found.about["accuracy of sorting"] <= 1


WRONG = {
    "no column": ({"questions": "passages_bad.csv"}, {}, "no column 'text' or 'target_text'"),
    "no pairs to be supervised": ({}, {"variants": ["supervised"]}, "supervised needs inputs.supervised_pairs"),
    "too few pairs": ({"source_pairs": "few.csv"}, {}, "1 pairs, but at least 4"),
    "no folder": ({}, {"retriever": {"backbone": "/none"}}, "there is no folder /none"),
    "no second folder": ({}, {"retriever": {"towers": 2, "passage_backbone": "/no2"}}, "there is no folder /no2"),
    "no second tower": ({}, {"retriever": {"passage_backbone": "bert"}}, "retriever: .*choose 2 towers"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_said_first(make: Make, data: Path, name: str) -> None:
    table(data / "passages_bad.csv", "id,words", [("1", "a")])
    table(data / "few.csv", "x,y", [("a", "b")])
    inputs, config, said = WRONG[name]
    with pytest.raises(InputError, match=said):
        make(inputs, **config)
