"""`python -m learner` on files: what it writes, prints and refuses."""

import csv
import json
import re
import runpy
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sentence_transformers import SentenceTransformer
from sklearn.metrics import average_precision_score

from allpairs.learner.catalog import STRATEGIES
from allpairs.learner.files.simulate import notes_of
from allpairs.learner.loop.simulated_labels import composition_of
from allpairs.learner.search import nearest
from tests.helpers.services.commands import Run, learn
from tests.helpers.tiny import tiny_encoder

TRAINING = ["--learning-rate", "0.002", "--epochs", "12", "--neighbours", "20"]
ROUND = {
    "round", "labels", "positives", "trained", "average_precision", "precision_at_recall_20", "pairs",
    "evaluation_positives", "seconds", "search", "stated",
}  # fmt: skip
AT_THRESHOLD = {"precision", "recall", "f1", "calibration_error"}


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def texts_of(topics: Sequence[int], seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"topic{topic} " + " ".join(rng.choice([f"word{i}" for i in range(20)], 4)) for topic in topics]


@dataclass(frozen=True)
class Files:
    """A small corpus on disk: left and right ids with their texts, and the gold pairs."""

    folder: Path
    encoder: Path
    left: dict[str, str]
    right: dict[str, str]
    gold: set[tuple[str, str]]

    @property
    def items(self) -> list[object]:
        right = ["--right", self.folder / "right.csv"] if self.right else []
        return ["--left", self.folder / "left.csv", *right]

    @property
    def known(self) -> list[object]:
        return [*self.items, "--gold", self.folder / "gold.csv"]

    def simulate(self, out: Path, *more: object) -> list[object]:
        return ["simulate", *self.known, "--encoder", self.encoder, "--first", 10, "--rounds", 3, *TRAINING,
                "--out", out, *more]  # fmt: skip

    def pairs(self, ids: Iterable[str] | None = None) -> list[tuple[str, str]]:
        """Return all pairs of these left ids (default: all): with each other, or with all right ones."""
        left = list(self.left) if ids is None else [name for name in self.left if name in set(ids)]
        return list(product(left, self.right) if self.right else combinations(left, 2))

    def brute_force(self, model: Path, pairs: Sequence[tuple[str, str]]) -> float:
        """Return the average precision over these pairs by the library's own encoding."""
        encoder = SentenceTransformer(str(model), device="cpu")
        names = [("left", name) for name in self.left] + [("right", name) for name in self.right]
        vectors = encoder.encode([getattr(self, side)[name] for side, name in names], normalize_embeddings=True)
        at = dict(zip(names, vectors, strict=True))
        second = "right" if self.right else "left"
        scores = [float(at["left", one] @ at[second, other]) for one, other in pairs]
        return float(average_precision_score([pair in self.gold for pair in pairs], np.round(scores, 6)))


def make_files(folder: Path, left: dict[str, str], right: dict[str, str], gold: Iterable[tuple[str, str]]) -> Files:
    files = Files(folder, Path(), left, right, set(gold))
    write(folder / "left.csv", ["id", "text"], left.items())
    if right:
        write(folder / "right.csv", ["id", "text"], right.items())
    write(folder / "gold.csv", ["id1", "id2"], sorted(files.gold))
    encoder = tiny_encoder(folder, [*left.values(), *right.values()])
    return Files(folder, encoder, left, right, files.gold)


@pytest.fixture(scope="module", params=["symmetric", "bipartite"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return 48 texts on 12 topics; in two lists, 32 of them and 24 others."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "symmetric":
        topics = [i % 12 for i in range(48)]
        left = {f"q{i}": text for i, text in enumerate(texts_of(topics, 0))}
        return make_files(
            folder, left, {}, [(f"q{i}", f"q{j}") for i, j in combinations(range(48), 2) if i % 12 == j % 12]
        )
    left = {f"q{i}": text for i, text in enumerate(texts_of([i % 12 for i in range(32)], 1))}
    right = {f"p{i}": text for i, text in enumerate(texts_of([i % 12 for i in range(24)], 2))}
    return make_files(
        folder, left, right, [(f"q{i}", f"p{j}") for i, j in product(range(32), range(24)) if i % 12 == j % 12]
    )


@pytest.fixture(scope="module")
def out(files: Files) -> Path:
    """Return the folder of a simulation of three rounds."""
    folder = files.folder / "out"
    run = learn(*files.simulate(folder))
    assert run.code == 0, run.err
    lines = run.out.splitlines()
    assert lines[0].split() == ["round", "labels", "positives", "AP", "P@R20"]
    assert [line.split()[:2] for line in lines[1:]] == [["1", "10"], ["2", "25"], ["3", "47"]]
    assert all(line.startswith("note: ") for line in run.err.splitlines()), run.err
    return folder


def rounds_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "rounds.jsonl").read_text().splitlines()]


def without_seconds(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rounds]


def split_of(out: Path) -> dict[tuple[str, str], str]:
    with (out / "split.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["id", "side", "split"]
    return {(side, name): split for name, side, split in rows}


def evaluation_ids(out: Path) -> list[str]:
    return [name for (side, name), split in split_of(out).items() if side == "left" and split == "evaluation"]


def test_rounds_are_written_one_object_a_line(files: Files, out: Path) -> None:
    rounds = rounds_of(out)
    assert [row["round"] for row in rounds] == [1, 2, 3]
    assert [row["labels"] for row in rounds] == [10, 25, 47]
    measured = files.pairs(evaluation_ids(out))
    for row in rounds:
        assert ROUND <= set(row) <= ROUND | AT_THRESHOLD
        assert row["trained"] == ("recall" in row)
        assert row["trained"] == (0 < row["positives"] < row["labels"])
        assert (row["pairs"], row["evaluation_positives"]) == (len(measured), len(files.gold & set(measured)))
        assert {"choose", "train", "encode", "second_stage", "evaluate"} >= set(row["seconds"])
        assert row["search"] == {"method": "exact", "neighbours": 20, "recall": None}
        for name in ("average_precision", "precision_at_recall_20"):
            assert set(row[name]) == {"value", "low", "high", "method", "labels"}
            assert row[name]["low"] == row[name]["value"] == row[name]["high"]
            assert row[name]["method"] == "exact"


def test_the_split_is_written_for_every_id(files: Files, out: Path) -> None:
    split = split_of(out)
    sides = [("left", name) for name in files.left] + [("right", name) for name in files.right]
    assert list(split) == sides
    assert {split["right", name] for name in files.right} <= {"both"}
    assert len(evaluation_ids(out)) == pytest.approx(len(files.left) / 2, abs=4)


def test_labels_are_gold_answers_on_training_pairs(files: Files, out: Path) -> None:
    table = pd.read_csv(out / "labels.csv")
    assert list(table) == ["id1", "id2", "label", "round", "score"]
    pairs = list(zip(table["id1"], table["id2"], strict=True))
    assert len(set(pairs)) == len(pairs) == 47
    assert table["label"].tolist() == [int(pair in files.gold) for pair in pairs]
    assert table["round"].tolist() == [1] * 10 + [2] * 15 + [3] * 22
    assert table["score"].between(-1, 1.0001).all()
    assert table["score"][:10].is_monotonic_decreasing
    train = set(files.left) - set(evaluation_ids(out))
    allowed = set(product(train, files.right) if files.right else product(train, train))
    assert set(pairs) <= allowed
    for row in rounds_of(out):
        assert row["positives"] == table["label"][table["round"] <= row["round"]].sum()


def test_the_first_batch_is_the_most_similar_pairs_of_the_pre_trained_encoder(files: Files, out: Path) -> None:
    table = pd.read_csv(out / "labels.csv")[:10]
    vectors = SentenceTransformer(str(files.encoder), device="cpu")
    second = files.right or files.left
    one = vectors.encode([files.left[name] for name in table["id1"]], normalize_embeddings=True)
    other = vectors.encode([second[name] for name in table["id2"]], normalize_embeddings=True)
    assert table["score"].to_numpy() == pytest.approx((one * other).sum(1), abs=1e-4)


def test_every_round_measures_another_model(out: Path) -> None:
    rows = [json.loads((out / "base.json").read_text()), *rounds_of(out)]
    assert [row["trained"] for row in rows] == [False, True, True, True]
    assert len({row["average_precision"]["value"] for row in rows}) == 4


def test_the_model_is_a_folder_that_the_library_loads(files: Files, out: Path) -> None:
    matcher = json.loads((out / "model" / "matcher.json").read_text())
    assert matcher["w"] > 0
    assert matcher["threshold"] == pytest.approx(-matcher["b"] / matcher["w"])
    measured = files.pairs(evaluation_ids(out))
    expected = rounds_of(out)[-1]["average_precision"]["value"]
    assert files.brute_force(out / "model", measured) == pytest.approx(expected, abs=1e-4)


def test_the_same_seed_gives_the_same_rounds(files: Files, out: Path, tmp_path: Path) -> None:
    printed = learn(*files.simulate(tmp_path / "again", "--json")).json()
    assert rounds_of(tmp_path / "again") == printed["rounds"]
    assert without_seconds(printed["rounds"]) == without_seconds(rounds_of(out))
    assert (tmp_path / "again" / "labels.csv").read_text() == (out / "labels.csv").read_text()
    learn(*files.simulate(tmp_path / "other", "--seed", 1))
    assert (tmp_path / "other" / "labels.csv").read_text() != (out / "labels.csv").read_text()


def test_a_split_file_is_obeyed(files: Files, tmp_path: Path) -> None:
    names = list(files.left)
    rows = [(name, "left", "evaluation" if i % 3 == 0 else "train") for i, name in enumerate(names[:-4])]
    split = write(tmp_path / "split.csv", ["id", "side", "split"], rows)
    run = learn(*files.simulate(tmp_path / "out", "--split", split))
    assert run.code == 0
    assert "split.csv" in run.err and "4 items" in run.err
    assert set(evaluation_ids(tmp_path / "out")) == set(names[:-4:3])
    labelled = pd.read_csv(tmp_path / "out" / "labels.csv")
    assert not set(labelled["id1"]) & {*names[:-4:3], *names[-4:]}


SEEDED_ALIKE = {"adaptive-retrieval", "static-retrieval", "committee"}


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "uncertainty"])
def test_the_other_strategies(files: Files, out: Path, strategy: str, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.csv", ["id1", "id2", "label"], [(*pair, int(pair in files.gold))
                 for at, pair in enumerate(files.pairs()) if pair in files.gold or at % 3 == 0])  # fmt: skip
    match = ["--match-labels", out / "labels.csv"] if strategy == "stratified-match" else []
    known = ["--gold", gold, "--split", out / "split.csv", *match]
    run = learn(*files.simulate(tmp_path / "out", "--strategy", strategy, "--warm-start", *known))
    assert run.code == 0, run.err
    assert [row["labels"] for row in rounds_of(tmp_path / "out")] == [10, 25, 47]
    labels, others = (folder.joinpath("labels.csv").read_text().splitlines() for folder in (out, tmp_path / "out"))
    assert (labels[:11] == others[:11]) == (strategy in SEEDED_ALIKE)
    assert labels[11:] != others[11:]
    found = composition_of(tmp_path / "out" / "labels.csv")
    assert [sum(counts) for counts in found] == [10, 15, 22]
    if strategy == "stratified-match":
        assert found == composition_of(out / "labels.csv")


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        (["--distance", "l2", "--no-batch-norm"], [10, 25, 47]),
        (["--distance", "dot", "--pooling", "max", "--warm-start"], [10, 25, 47]),
        (["--pooling", "cls", "--growth-kind", "linear"], [10, 25, 45]),
        (["--hubness", 0.25, "--lexical"], [10, 25, 47]),
        (
            ["--per-text", 3, "--per-neighbourhood", 6, "--control-share", 0.2, "--growth-kind", "constant"],
            [10, 20, 30],
        ),
    ],
)
def test_variants(files: Files, options: list[object], sizes: list[int], tmp_path: Path) -> None:
    run = learn(*files.simulate(tmp_path / "out", *options))
    assert run.code == 0, run.err
    rounds = rounds_of(tmp_path / "out")
    assert [row["labels"] for row in rounds] == sizes
    again = learn("evaluate", "--model", tmp_path / "out" / "model", *files.known, "--split",
                    tmp_path / "out" / "split.csv").json()  # fmt: skip
    assert again["average_precision"] == pytest.approx(rounds[-1]["average_precision"], abs=1e-4)
    learn("match", "--model", tmp_path / "out" / "model", *files.items, "--top", 9, "--out", tmp_path / "m.csv")
    matches = pd.read_csv(tmp_path / "m.csv")
    assert len(matches) == 9
    assert matches["score"].is_monotonic_decreasing


def test_why_a_pair_matches(files: Files, tmp_path: Path) -> None:
    model = tmp_path / "out" / "model"
    learn(*files.simulate(tmp_path / "out", "--crowding", 0.25, "--lexical"))
    known = json.loads((model / "matcher.json").read_text())
    assert known["lexical"]
    learn("match", "--model", model, *files.items, "--top", 9, "--why", "--out", tmp_path / "m.csv")
    for score, why in pd.read_csv(tmp_path / "m.csv")[["score", "why"]].itertuples(index=False):
        assert {"meaning", "hubness"} < set(re.findall(r"(\w+) [+-]\d", why))
        amounts = [float(amount) for amount in re.findall(r"[+-]\d+\.\d\d", why)]
        assert sum(amounts) == pytest.approx(known["w"] * score + known["b"], abs=0.005 * len(amounts) + 1e-3)


def test_lexical_features_need_a_cosine(files: Files, tmp_path: Path) -> None:
    refused = learn(*files.simulate(tmp_path / "out", "--distance", "dot", "--lexical")).refused()
    assert "leave out --lexical" in refused


def test_an_audit_needs_a_cosine(files: Files, tmp_path: Path) -> None:
    learn(*files.simulate(tmp_path / "out", "--distance", "l2", "--rounds", 1))
    pairs = files.pairs()
    audit = write(tmp_path / "audit.csv", ["id1", "id2", "label", "inclusion", "stratum", "size"],
                  [(*pair, int(pair in files.gold), 1.0, 0, len(pairs)) for pair in pairs])  # fmt: skip
    refused = learn("evaluate", "--model", tmp_path / "out" / "model", *files.items, "--audit", audit).refused()
    assert "scores by l2" in refused


def test_evaluation_equals_brute_force(files: Files, out: Path, tmp_path: Path) -> None:
    for model in (files.encoder, out / "model"):
        found = learn("evaluate", "--model", model, *files.known, "--json").json()
        assert found["average_precision"]["value"] == pytest.approx(files.brute_force(model, files.pairs()), abs=1e-4)
        assert (found["pairs"], found["positives"]) == (len(files.pairs()), len(files.gold))
        assert found["precision_at_recall_20"]["method"] == "exact"
    silent = learn("evaluate", "--model", out / "model", *files.known, "--out", tmp_path / "new" / "result.json")
    assert silent.out == ""
    short = learn("evaluate", "--model", out / "model", *files.known).json()
    assert short == {name: value for name, value in found.items() if name not in ("curve", "histogram")}
    assert set(short) >= AT_THRESHOLD
    assert short["strata"] == [
        {"name": "all pairs", "size": len(files.pairs()), "sampled": len(files.pairs()), "positives": len(files.gold),
         "weight": 1.0}
    ]  # fmt: skip
    assert json.loads((tmp_path / "new" / "result.json").read_text()) == found


def test_evaluation_of_a_simulations_split_gives_its_figures(files: Files, out: Path) -> None:
    base = json.loads((out / "base.json").read_text())
    for model, row in ((files.encoder, base), (out / "model", rounds_of(out)[-1])):
        found = learn("evaluate", "--model", model, *files.known, "--split", out / "split.csv").json()
        for name in ("average_precision", "precision_at_recall_20"):
            assert found[name] == pytest.approx(row[name], abs=1e-4)
        assert found["positives"] == row["evaluation_positives"]


def test_evaluation_from_audit_labels(files: Files, out: Path, tmp_path: Path) -> None:
    pairs = files.pairs()
    rows = [(*pair, int(pair in files.gold), 1.0, 0, len(pairs)) for pair in pairs]
    audit = write(tmp_path / "audit.csv", ["id1", "id2", "label", "inclusion", "stratum", "size"], rows)
    usual = ["evaluate", "--model", out / "model", *files.items, "--audit", audit]
    found = learn(*usual).json()
    assert found["average_precision"]["method"] == "audit"
    assert found["average_precision"]["labels"] == found["pairs"] == len(pairs)
    exact = files.brute_force(out / "model", pairs)
    assert found["average_precision"]["value"] == pytest.approx(exact, abs=0.05)  # between labels it draws lines
    assert found["positives"]["value"] == pytest.approx(len(files.gold))
    known = learn(*usual, "--gold", files.folder / "gold.csv").json()
    assert known == found  # gold without negatives adds no figure
    short = write(tmp_path / "short.csv", ["id1", "id2", "label"], [row[:3] for row in rows])
    assert "short.csv" in learn(*usual[:-1], short).refused()


def test_the_best_matches(files: Files, out: Path, tmp_path: Path) -> None:
    model = out / "model"
    found = learn("match", "--model", model, *files.items, "--top", 25, "--out", tmp_path / "m.csv", "--json").json()
    table = pd.read_csv(tmp_path / "m.csv")
    assert list(table) == ["id1", "id2", "score", "p", "text1", "text2"]
    assert len(table) == found["pairs"] == 25
    assert found["lowest_score"] == pytest.approx(table["score"].min())
    assert table["score"].is_monotonic_decreasing
    assert table["text1"].tolist() == [files.left[name] for name in table["id1"]]
    matcher = json.loads((model / "matcher.json").read_text())
    expected = 1 / (1 + np.exp(-matcher["w"] * table["score"] - matcher["b"]))
    assert table["p"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-3)
    assert set(zip(table["id1"], table["id2"], strict=True)) <= set(files.pairs())


def test_the_groups_of_the_best_matches(files: Files, out: Path, tmp_path: Path) -> None:
    usual = ["match", *files.items, "--top", 25, "--out", tmp_path / "m.csv", "--groups"]
    run = learn(*usual, "average", "--model", out / "model")
    pairs, groups = pd.read_csv(tmp_path / "m.csv"), pd.read_csv(tmp_path / "m-groups.csv")
    assert f"{groups['group'].max()} groups in " in run.out and groups["size"].is_monotonic_decreasing
    assert (groups.groupby("group")["representative"].sum() == 1).all()
    p = {frozenset(row[:2]): row[2] for row in pairs[["id1", "id2", "p"]].itertuples(index=False)}
    possible = {frozenset(pair) for pair in files.pairs()}
    for _, group in groups.groupby("group"):  # joined while the mean was at least that of the last pair
        within = possible & {frozenset(pair) for pair in combinations(group["id"], 2)}
        assert np.mean([p.get(pair, 0.0) for pair in within]) >= pairs["p"].min() - 1e-9
    best = pairs.iloc[0]
    answers = write(tmp_path / "answers.csv", ["id1", "id2", "label"], [(best["id1"], best["id2"], 0)])
    learn(*usual, "connected", "--model", out / "model", "--answers", answers)
    group = pd.read_csv(tmp_path / "m-groups.csv").set_index("id")["group"]
    assert group.get(best["id1"], -1) != group.get(best["id2"], -2)
    learn(*usual, "connected", "--model", out / "model", "--representative", "newest", "--newest-by", "text")
    groups = pd.read_csv(tmp_path / "m-groups.csv")
    newest = groups[groups["representative"] == 1].set_index("group")["text"]
    assert (newest == groups.groupby("group")["text"].max()).all()  # words, so the last one of the alphabet
    assert "need probabilities" in learn(*usual, "average", "--model", files.encoder).refused()


def test_all_matches_above_a_threshold(files: Files, out: Path, tmp_path: Path) -> None:
    learn("match", "--model", out / "model", *files.items, "--top", 25, "--out", tmp_path / "top.parquet")
    top = pd.read_parquet(tmp_path / "top.parquet")
    threshold = float(top["score"].iloc[9:11].mean())
    run = learn(
        "match", "--model", out / "model", *files.items, "--threshold", threshold, "--out", tmp_path / "m.jsonl"
    )
    assert run.out.startswith("10 pairs in ")
    assert f"lowest score {top['score'].iloc[9]:.4f}" in run.out
    lines = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert [line["id2"] for line in lines] == top["id2"].tolist()[:10]
    bare = learn("match", "--model", files.encoder, *files.items, "--threshold", 2, "--out", tmp_path / "none.csv")
    assert bare.out.startswith("0 pairs in ")
    assert list(pd.read_csv(tmp_path / "none.csv")) == ["id1", "id2", "score", "text1", "text2"]


def test_matches_at_a_measured_precision(files: Files, out: Path, tmp_path: Path) -> None:
    curve = json.loads((out / "model" / "matcher.json").read_text())["curve"]
    wanted = sorted(curve["precision"])[len(curve["precision"]) // 2]
    least = min(score for score, p in zip(curve["score"], curve["precision"], strict=True) if p >= wanted)
    arguments = ["match", "--model", out / "model", *files.items, "--out", tmp_path / "m.csv", "--json"]
    found = learn(*arguments, "--precision", wanted).json()
    table = pd.read_csv(tmp_path / "m.csv")
    assert table["score"].min() >= least - 1e-6
    assert len(table) == found["pairs"] == learn(*arguments, "--threshold", least).json()["pairs"]
    # The measured pairs among them reach the precision that was asked for.
    measured = set(files.pairs(evaluation_ids(out)))
    hits = [pair in files.gold for pair in zip(table["id1"], table["id2"], strict=True) if pair in measured]
    assert np.mean(hits) >= wanted - 1e-9


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return eight pairs of texts that the encoder cannot distinguish, all positive, among sixteen others."""
    folder = tmp_path_factory.mktemp("twins")
    texts = texts_of(range(8), 0)
    left = {f"a{i}": text for i, text in enumerate(texts)} | {f"b{i}": text.title() for i, text in enumerate(texts)}
    left |= {f"c{i}": text for i, text in enumerate(texts_of(range(20, 36), 3))}
    twins = make_files(folder, left, {}, [(f"a{i}", f"b{i}") for i in range(8)])
    rows = [(name, "evaluation" if name[1:] in ("6", "7", "14", "15") else "train") for name in left]
    write(folder / "split.csv", ["id", "split"], rows)
    return twins


def test_labels_of_one_class_do_not_pass_for_training(twins: Files, tmp_path: Path) -> None:
    arguments = [*twins.simulate(tmp_path / "out"), "--first", 6, "--split", twins.folder / "split.csv"]
    assert learn(*arguments).code == 0
    base = json.loads((tmp_path / "out" / "base.json").read_text())
    first, second, _ = rounds_of(tmp_path / "out")
    assert (first["labels"], first["positives"], first["trained"]) == (6, 6, False)
    assert first["average_precision"] == base["average_precision"]
    assert "train" not in first["seconds"]
    assert (second["labels"], second["positives"], second["trained"]) == (15, 6, True)
    scores = pd.read_csv(tmp_path / "out" / "labels.csv")["score"][6:15]
    assert not scores.is_monotonic_decreasing  # they come from all over the ranking


def test_a_simulation_that_never_trains_says_so(twins: Files, tmp_path: Path) -> None:
    arguments = [*twins.simulate(tmp_path / "out"), "--first", 6, "--split", twins.folder / "split.csv"]
    run = learn(*arguments, "--rounds", 1)
    assert run.code == 0
    assert "round 1: all 6 labels are positive" in run.err
    matcher = json.loads((tmp_path / "out" / "model" / "matcher.json").read_text())
    assert "w" not in matcher
    found = learn("evaluate", "--model", tmp_path / "out" / "model", *twins.known).json()
    assert found["average_precision"]["value"] == pytest.approx(twins.brute_force(twins.encoder, twins.pairs()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--left", "nowhere.csv"], "nowhere.csv"),
        (["--gold", "nowhere.csv"], "nowhere.csv"),
        (["--id-column", "key"], "left.csv"),
        (["--strategy", "guess"], "strategy 'guess' is not known; use one of uncertainty"),
        (["--first", 1], "--first: input should be greater than or equal to 2, not 1"),
        (["--growth", 0.5], "--growth"),
        (["--first", "many"], "--first"),
        (["--rounds", 0], "--rounds"),
        (["--seed", -1], "--seed"),
        (["--test-fraction", 1], "--test-fraction: input should be less than 1, not 1.0"),
        (["--test-fraction", 0], "use a larger --test-fraction"),
        (["--initialization", "lucky"], "--initialization"),
        (["--encoder", "no-such-encoder"], "encoder 'no-such-encoder' cannot be loaded"),
        (["--split", "nowhere.csv"], "nowhere.csv"),
        (["--distance", "far"], "--distance: input should be 'cosine', 'dot' or 'l2', not 'far'"),
        (["--pooling", "sum"], "--pooling"),
        (["--growth-kind", "steep"], "--growth-kind"),
        (["--control-share", 1.5], "--control-share"),
        (["--per-text", -1], "--per-text"),
        (["--strategy", "stated"], "add pairs with label 0"),
        (["--strategy", "uncertainty-stated"], "add pairs with label 0"),
        (["--strategy", "stratified-match"], "0 of the 3 rounds"),
        (["--match-labels", "nowhere.csv"], "nowhere.csv"),
        (["--unheard-of"], "--unheard-of"),
    ],
)
def test_bad_input_to_simulate_is_one_line(twins: Files, change: list[object], message: str, tmp_path: Path) -> None:
    assert message in learn(*twins.simulate(tmp_path / "out"), *change).refused()
    assert not (tmp_path / "out").exists()


def test_a_development_set_is_measured_beside_the_other(files: Files, out: Path, tmp_path: Path) -> None:
    split = split_of(out)
    same = write(
        tmp_path / "same.csv", ["id", "side", "split"], [(name, side, how) for (side, name), how in split.items()]
    )
    other = [(name, "left", "evaluation") for (side, name), how in split.items() if (side, how) == ("left", "train")][
        3:
    ]
    part = write(tmp_path / "part.csv", ["id", "side", "split"], other)
    for development, equal in ((same, True), (part, False)):
        more = ["--split", same, "--development", development, "--second-stage", "on", "--hubness", 0.25, "--lexical"]
        assert learn(*files.simulate(tmp_path / "out", *more)).code == 0
        rows = [json.loads((tmp_path / "out" / "base.json").read_text()), *rounds_of(tmp_path / "out")]
        measured = [name for name, value in rows[-1].items() if isinstance(value, dict) and "value" in value]
        assert "average_precision" in measured
        beside = [row["development"] for row in rows]
        if equal:
            assert [row["near_negatives"] for row in (rows[0], beside[0])] == [beside[0]["near_negatives"]] * 2
            for name in measured:
                assert beside[-1][name]["value"] == pytest.approx(rows[-1][name]["value"], abs=1e-6), name
        else:
            ids = [name for name, _, _ in other]
            assert beside[-1]["pairs"] == len(files.pairs(ids)) and beside[-1]["pairs"] != rows[-1]["pairs"]
            assert beside[-1]["evaluation_positives"] == len(files.gold & set(files.pairs(ids)))


def test_a_simulation_refuses_neighbours_that_memory_does_not_hold(
    twins: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nearest, "MOST", 100)
    monkeypatch.setattr(nearest, "SHARE", 0.0)
    refused = learn(*twins.simulate(tmp_path / "out"), "--neighbours", 50).refused()
    assert "50 neighbours of" in refused and "at most" in refused
    assert not (tmp_path / "out").exists()


def test_a_simulation_says_that_a_search_was_approximate() -> None:
    recall = {"value": 0.951, "low": 0.936, "high": 0.962, "labels": 1_000}
    row = {"round": 2, "trained": True, "search": {"method": "faiss-ivf", "neighbours": 100, "recall": recall}}
    assert list(notes_of(row, 100)) == [
        "round 2: The neighbour search was approximate (faiss-ivf): it found 95.1% (93.6–96.2%) of the true "
        "neighbours, measured on 1,000 sampled texts."
    ]
    assert not list(notes_of({**row, "search": {"method": "exact", "neighbours": 100, "recall": None}}, 100))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ([], "give exactly one of top, threshold and precision (given: none)"),
        (["--top", 3, "--threshold", 0.5], "(given: top, threshold)"),
        (["--precision", 0.9], "use top or threshold"),
        (["--top", 0], "--top"),
        (["--top", 3, "--out", "m.txt"], "m.txt: the suffix is .txt"),
        (["--top", 3, "--out", "no/such/folder/m.csv"], "the folder no/such/folder does not exist"),
        (["--top", 10**8], "100,000,000 pairs"),
        (["--top", 3, "--model", "no-such-model"], "'no-such-model' cannot be loaded"),
    ],
)
def test_bad_input_to_match_is_one_line(twins: Files, change: list[object], message: str, tmp_path: Path) -> None:
    usual = ["match", "--model", twins.encoder, *twins.items, "--out", tmp_path / "m.csv"]
    assert message in learn(*usual, *change).refused()
    assert not (tmp_path / "m.csv").exists()


def test_a_precision_that_is_no_share(files: Files, out: Path, tmp_path: Path) -> None:
    usual = ["match", "--model", out / "model", *files.items, "--out", tmp_path / "m.csv"]
    assert "a share between 0 and 1, not 1.5" in learn(*usual, "--precision", 1.5).refused()


def test_bad_input_to_evaluate_is_one_line(twins: Files, tmp_path: Path) -> None:
    usual = ["evaluate", "--model", twins.encoder, *twins.items]
    negative = write(tmp_path / "gold.csv", ["id1", "id2", "label"], [("a0", "b0", 0)])
    assert "no known pair is positive" in learn(*usual, "--gold", negative).refused()
    assert "'guess' is not known: use exact" in learn(*usual, "--gold", negative, "--method", "guess").refused()
    assert "give --gold or --audit" in learn(*usual).refused()
    both = learn(*usual, "--audit", negative, "--method", "exact")
    assert "leave out --method" in both.refused()
    unknown = write(tmp_path / "unknown.csv", ["id1", "id2"], [("a0", "z9")])
    assert "unknown.csv, row 2, column 'id2': the id 'z9'" in learn(*usual, "--gold", unknown).refused()


def test_the_module_runs_the_command_line(twins: Files, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    command = ["match", "--model", twins.encoder, *twins.items, "--top", 10**8, "--out", twins.folder / "m.csv"]
    monkeypatch.setattr(sys, "argv", ["learner", *map(str, command)])
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")  # which the module sets for good
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("learner", run_name="__main__")
    said = capsys.readouterr()
    assert "20,000,000" in Run(int(str(stopped.value.code)), said.out, said.err).refused()


@pytest.mark.parametrize("command", ["worker", "simulate", "evaluate", "match"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    run = learn(command, "--help")
    assert run.code == 0
    assert f"Example: allpairs {command}" in " ".join(run.out.split())


def test_without_a_command_the_help_is_shown() -> None:
    run = learn()
    assert run.code == 0
    assert "simulate" in run.out


def test_what_is_not_bad_input_fails_with_one_line(monkeypatch: pytest.MonkeyPatch, twins: Files) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr("allpairs.learner.files.evaluate.evaluate_corpus", broken)
    run = learn("evaluate", "--model", twins.encoder, *twins.known)
    assert (run.code, run.out, run.err) == (1, "", "error: RuntimeError: first line second line\n")
