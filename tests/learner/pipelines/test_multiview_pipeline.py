"""Multi-view re-ranking as a whole, on generated questions and passages: its results, and resuming."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allpairs.db.errors import Cancelled, InputError
from allpairs.learner.backbones.generator import generate, load_generator
from allpairs.learner.backbones.reranking.reranker import load_reranker, scores_of, truth_logits
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.pipelines.multiview import trainings
from allpairs.learner.pipelines.multiview.all_pairs import all_sides
from allpairs.learner.pipelines.multiview.drawing import gain_figures, gain_row
from allpairs.learner.pipelines.multiview.figures import all_measured
from allpairs.learner.pipelines.multiview.formats import read_run
from allpairs.learner.pipelines.multiview.inputs import texts_of
from allpairs.learner.pipelines.multiview.trainings import draw_triples, trainings_of
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
from tests.helpers.projects.pipelines import table_rows
from tests.helpers.tiny import tiny_encoder

NAME = "multi-view-reranking"
THINGS = [f"{colour} {thing}" for colour in ("red", "blue", "green") for thing in ("cat", "dog", "hen", "owl", "fox")]
PAIRS = [(f"what is the {thing}", f"the {thing} is an animal here") for thing in THINGS]
WORDS = "Query: Document: Relevant: Translate to : true false"
Make = Callable[..., Run]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("multiview")
    tiny_encoder(folder, [text for pair in PAIRS for text in pair] + [WORDS])
    (folder / "passages.tsv").write_text("".join(f"{i}\t{y}\n" for i, (_, y) in enumerate(PAIRS)))
    (folder / "queries.tsv").write_text("".join(f"{i}\t{x}\n" for i, (x, _) in enumerate(PAIRS)))
    for name, some in {"train": range(8), "dev": range(8, 12), "all_dev": range(8, 15)}.items():
        (folder / f"qrels.{name}.tsv").write_text("".join(f"{i}\t0\t{i}\t1\n" for i in some))
    (folder / "triples.tsv").write_text("".join(f"{PAIRS[i][0]}\t{PAIRS[i][1]}\t{PAIRS[i + 1][1]}\n" for i in range(7)))
    (folder / "run.tsv").write_text("".join(f"{i}\t{(i + k) % 15}\t{k + 1}\n" for i in range(8, 12) for k in range(6)))
    table = ["id1,id2,label", *(f"{i},{i},1" for i in range(15)), "0,3,0", "0,4,0", "1,4,0"]
    (folder / "gold.csv").write_text("\n".join(table))
    return folder


@pytest.fixture
def make(data: Path, tmp_path: Path) -> Make:
    def made(inputs: dict[str, str], **config: Any) -> Run:
        tiny = {"backbone": str(data / "bert"), "steps": 3, "batch_size": 8, "learning_rate": 2e-3, "source_length": 32}
        content = {
            "inputs": {"passages": "passages.tsv", "queries": "queries.tsv", "qrels": "qrels.train.tsv"} | inputs,
            "model": tiny, "depth": 6, "depths": [2, 6], "from_best": 6,
            "first_stage": {"kind": "bm25", "encoder": str(data / "tiny")},
        } | config  # fmt: skip
        return begin(NAME, tmp_path / "out", *make_spec(NAME, content, data / "x.toml"))

    return made


MARCO = {"test_queries": "queries.tsv", "test_qrels": "qrels.dev.tsv", "rest_queries": "queries.tsv",
         "rest_qrels": "qrels.all_dev.tsv"}  # fmt: skip


def test_msmarcos_files_from_end_to_end(make: Make, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "dev.tsv").write_text("".join(f"{i}\t{PAIRS[i][0]}\n" for i in range(8, 12)))
    run = make(MARCO | {"test_queries": "dev.tsv", "triples": "triples.tsv"}, seeds=2, rates=[0.5])
    said: list[float] = []
    run_pipeline(NAME, run, lambda words, done: said.append(done))
    assert all(one <= next_ + 1e-9 for one, next_ in pairwise(said)) and said[-1] <= 1
    counts = texts_of(run).counts
    assert counts == {"passages": 15, "test queries": 4, "test judgements": 4, "rest queries": 3, "rest judgements": 3,
                      "training positives": 8, "training negatives": 0, "triples": 7}  # fmt: skip
    table = table_rows(run, "table1")
    assert [row["row"].split(",")[0] for row in table[:2]] == ["BM25", f"dense ({data / 'tiny'})"]
    assert table[0]["test"] == 1.0  # every thing's words are its own
    ours = [row for row in table if row["source"] == "ours" and row["seeds"]]
    assert len(ours) == 2 and all(0 <= row["test_low"] <= row["test_mean"] <= row["test"] <= 1 for row in ours if row["test_low"] > 0)  # fmt: skip  # noqa: E501
    assert [row["test"] for row in table if row["source"] == "paper"][-1] == 0.402
    sides = all_sides(run, texts_of(run).tests[0])
    assert sides.positives.tolist() == [[i, i + 8] for i in range(4)] and (sides.pairs, sides.symmetric) == (60, False)
    assert {row["rate"] for row in table_rows(run, "figure3")} == {0, 0.15, 0.5}
    assert {(row["line"], row["depth"]) for row in table_rows(run, "figure2")} == {
        (t, k) for t in ("test", "rest") for k in (2, 6)
    }
    assert len({one.variant for one in trainings_of(run)}) == 3
    kept = sorted(run.of("trainings").glob("variant-*/seed-*/model"))
    assert len(kept) == 3  # of each variant the best seed's
    test = all_measured(run)[0]
    hits = list(read_run(run.of(RESULTS) / "runs" / "test-bm25.trec"))
    assert [hit.passage for hit in hits if hit.rank == 1] == ["8", "9", "10", "11"]
    gain = {row["model"]: row for row in table_rows(run, "all-pairs") if row["figure"] == "average_precision"}
    assert gain["gain"]["value"] == pytest.approx(gain["re-ranker"]["value"] - gain["bi-encoder"]["value"])
    assert gain["gain"]["low"] == pytest.approx(gain["re-ranker"]["low"] - gain["bi-encoder"]["value"])
    artifacts = {one["kind"]: one for one in read_artifacts(run.of(RESULTS))}
    assert set(artifacts) == {"reranker", "generator"}
    reranker = load_reranker(str(run.folder / artifacts["reranker"]["path"]), "cpu")
    best = max(test.trained, key=lambda one: one.figures["RR@10"].mean())
    again = truth_logits(reranker, test.test.queries.all(), test.test.passages.all(), np.array([[0, test.near[0, 0]]]))
    assert scores_of(again)[0] == pytest.approx(best.scores[0, 0], abs=1e-4)
    writer = load_generator(str(run.folder / artifacts["generator"]["path"]), device="cpu")
    source = artifacts["generator"]["about"]["reads"].replace("{passage}", PAIRS[0][1])
    assert "Translate Document to Query:" in source
    assert len(generate(writer, [source], GeneratorSettings(target_length=6, beams=1))) == 1
    report = (run.of(RESULTS) / "report.md").read_text()
    assert "Table 1" in report and (run.of(RESULTS) / "figures" / "figure3.png").is_file()


def test_one_list_of_pairs_holds_a_share_out(make: Make, data: Path) -> None:
    dense = {"kind": "dense", "both": False, "encoder": str(data / "tiny")}
    run = make(
        {"qrels": "gold.csv"}, held_out=0.3, from_best=0, negatives=2, first_stage=dense, second_view="q2p",
        measures=["nDCG@5"],
    )  # fmt: skip
    run_pipeline(NAME, run)
    texts = texts_of(run)
    train, test = set(texts.queries.values("id")), set(texts.tests[0].queries.values("id"))
    assert len(test) == 4 and not train & test and len(train | test) == 15
    assert {one["kind"] for one in read_artifacts(run.of(RESULTS))} == {"reranker"}
    assert table_rows(run, "variants-test")[0]["row"].startswith("dense")


def test_over_all_pairs_queries_count_and_one_list_is_symmetric(make: Make, data: Path) -> None:
    (data / "few.tsv").write_text("".join(f"{i}\t{PAIRS[i][1]}\n" for i in range(15)))
    (data / "both.tsv").write_text("1\t0\t2\t1\n2\t0\t1\t1\n8\t0\t5\t1\n9\t0\t9\t1\n")
    run = make({"test_queries": "few.tsv", "test_qrels": "both.tsv"}, queries=2)
    run_stage(run, next(one for one in pipeline_named(NAME).stages if one.name == "texts"))
    assert len(texts_of(run).tests[0].queries) == 2
    sides = all_sides(run, texts_of(run).tests[0])
    assert sides.positives.tolist() == [[1, 2], [5, 8]] and (sides.pairs, sides.symmetric) == (105, True)


def test_of_one_list_whole_groups_are_held_out_without_own_pairs(make: Make, data: Path) -> None:
    """Five groups of three texts, each pair in both directions, as in a project of one list."""
    groups = [range(3 * at, 3 * at + 3) for at in range(5)]
    pairs = [(i, j) for group in groups for i in group for j in group if i != j]
    wrong = [(i, (i + 5) % 15) for i in range(15)]
    table = [*(f"{i},{j},1" for i, j in pairs), *(f"{i},{j},0" for i, j in wrong)]
    (data / "groups.csv").write_text("\n".join(["id1,id2,label", *table]))
    run = make({"qrels": "groups.csv", "queries": "passages.tsv"}, held_out=0.4)
    for stage in pipeline_named(NAME).stages[:2]:
        run_stage(run, stage)
    texts, test = texts_of(run), texts_of(run).tests[0]
    held = set(test.queries.values("id"))
    assert len(held) == 6 and all(
        {str(i) for i in group} <= held or not {str(i) for i in group} & held for group in groups
    )
    names = texts.queries.all("id")
    learned = {
        (names[query], str(passage)) for query, passage in (*texts.positives.tolist(), *texts.negatives.tolist())
    }
    assert len(texts.positives) == 18 and not {name for pair in learned for name in pair} & held
    near = np.load(run.of("candidates") / "test-bm25.npy")
    assert all(int(name) not in row for name, row in zip(test.queries.values("id"), near.tolist(), strict=True))
    sides = all_sides(run, test)
    assert (sides.pairs, len(sides.positives), sides.symmetric) == (15, 6, True)
    assert sides.passages == [PAIRS[row][1] for row in sides.rows] and {str(row) for row in sides.rows} == held
    (data / "chain.csv").write_text("\n".join(["id1,id2", *(f"{i},{i + 1}" for i in range(14))]))
    (run.folder / "run.json").unlink()
    run = make({"qrels": "chain.csv", "queries": "passages.tsv"})
    with pytest.raises(InputError, match="join too many"):
        run_stage(Run(run.folder / "chain", run.inputs, run.config), pipeline_named(NAME).stages[0])


def test_the_same_text_in_two_lists_is_a_candidate(make: Make, data: Path) -> None:
    (data / "same.tsv").write_text("".join(f"{i}\t{PAIRS[i][1]}\n" for i in range(8, 12)))
    run = make({"test_queries": "same.tsv", "test_qrels": "qrels.dev.tsv"})
    for stage in pipeline_named(NAME).stages[:2]:
        run_stage(run, stage)
    assert np.load(run.of("candidates") / "test-bm25.npy")[:, 0].tolist() == [8, 9, 10, 11]


def test_a_seed_that_finds_nothing_leaves_the_improvement_open(make: Make) -> None:
    assert gain_figures([0.2, 0.3], [0.1, 0.0]) == {"improvement": None, "low": None, "high": None}
    found = gain_figures([0.2, 0.3], [0.1, 0.1])
    assert found["improvement"] == pytest.approx(1.5) and gain_row(found) == "+150.0% (-485.3% to +785.3%)"
    assert gain_row(gain_figures([0.2], [0.0])) == "–"


def test_of_equal_trainings_the_first_seed_counts_by_its_number(tmp_path: Path) -> None:
    for variant, seed, figure in ((0, 10, 0.5), (0, 2, 0.5), (10, 2, 0.5), (2, 2, 0.5), (1, 0, 0.4)):
        folder = tmp_path / f"variant-{variant}" / f"seed-{seed}"
        folder.mkdir(parents=True)
        (folder / "figure.json").write_text(json.dumps(figure))
    best = trainings.best_training(tmp_path.glob("variant-*/seed-*"))
    assert (best.parent.name, best.name) == ("variant-0", "seed-2")


def test_a_released_run_is_the_first_stage(make: Make) -> None:
    run = make(MARCO | {"rest_queries": None, "rest_qrels": None, "test_run": "run.tsv"}, ablations=True, all_pairs=0)
    run_pipeline(NAME, run)
    views = ["Rank", "Rank + P2Q", "Rank + Rank*", "Rank + Q2P", "Rank + P2Q (swap)", "Rank (swap) + P2Q"]
    assert [row["views"] for row in table_rows(run, "table3")] == [*views, "Rank (swap) + P2Q (swap)"]
    assert [row["paper_mean"] for row in table_rows(run, "table3")][:2] == [0.393, 0.399]
    found = all_measured(run)[0]
    assert found.near.tolist() == [[(i + k) % 15 for k in range(6)] for i in range(8, 12)]
    assert list(found.stages) == ["run"] and found.stages["run"]["RR@10"].mean() == 1.0


def test_a_killed_run_goes_on_with_the_next_training(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    run, trained = make(MARCO | {"rest_queries": None, "rest_qrels": None}, seeds=2), []
    train = trainings.run_training

    def counting(run: Run, training: trainings.VariantTraining, *rest: Any) -> None:
        if len(trained) == 3:
            raise Cancelled("stopped")
        trained.append((training.number, training.seed))
        train(run, training, *rest)

    monkeypatch.setattr(trainings, "run_training", counting)
    with pytest.raises(Cancelled):
        run_pipeline(NAME, run)
    assert trained == [(0, 0), (1, 0), (0, 1)] and not run.has("trainings")
    trained.clear()
    run_pipeline(NAME, run)
    assert trained == [(1, 1)]
    assert all(len(one.figures["RR@10"]) == 4 for one in all_measured(run)[0].trained)


def test_half_of_the_wrong_passages_are_known_ones() -> None:
    negatives, near = np.array([[0, 3], [0, 4], [0, 5], [0, 6]]), np.array([[7, 8, 9]])
    for k, known in ((1, 1), (4, 2), (6, 3)):
        found = draw_triples(np.array([[0, 0]]), negatives, near, 10, k, np.random.default_rng(k))[:, 2]
        assert len(set(found.tolist())) == k and np.isin(found, [3, 4, 5, 6]).sum() == known
    of_all = draw_triples(np.array([[0, 0]]), negatives, near[:, :0], 10, 4, np.random.default_rng(0))[:, 2]
    assert np.isin(of_all, [3, 4, 5, 6]).sum() >= 2 and 0 not in of_all
    scarce = draw_triples(np.array([[0, 0]]), negatives, near[:, :1], 10, 4, np.random.default_rng(0))[:, 2]
    assert set(scarce.tolist()) >= {7} and np.isin(scarce, [3, 4, 5, 6]).sum() == 3


def test_wrong_passages_are_known_ones_then_near_ones_then_any() -> None:
    positives, negatives = np.array([[0, 0], [1, 1]]), np.array([[0, 5], [0, 0]])
    near = np.array([[0, 5, 7, -1], [1, -1, -1, -1]])
    found = draw_triples(positives, negatives, near, 9, 3, np.random.default_rng(0))
    assert found.shape == (6, 3) and found[:2, 2].tolist() == [5, 7]
    assert not ({tuple(row) for row in found[:, [0, 2]].tolist()} & {(0, 0), (1, 1)})
    assert found.tolist() == draw_triples(positives, negatives, near, 9, 3, np.random.default_rng(0)).tolist()


REFUSED = {
    "half a test": ({"test_queries": "queries.tsv"}, {}, "inputs.test_queries and inputs.test_qrels: set both"),
    "rest without test": ({"rest_queries": "queries.tsv", "rest_qrels": "qrels.dev.tsv"}, {}, "needs inputs.test"),
    "no measure": ({}, {"measures": ["Best"]}, "'Best' is not a measure"),
    "no folder": ({}, {"sizes": ["./none"]}, "there is no folder ./none"),
    "no label": ({"qrels": "queries.tsv"}, {}, "row 1: .* values"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_first(make: Make, tmp_path: Path, case: str) -> None:
    inputs, config, said = REFUSED[case]
    with pytest.raises(InputError, match=said):
        make(inputs, **config)
    assert not (tmp_path / "out").exists()


def test_judgements_of_other_ids_are_told(make: Make, data: Path) -> None:
    (data / "other.tsv").write_text("x\t0\ty\t1\n" * 2)
    run = make({"test_queries": "queries.tsv", "test_qrels": "other.tsv"})
    with pytest.raises(InputError, match="none of its queries"):
        run_pipeline(NAME, run)
