"""`allpairs simulate` on files: what it writes, prints and refuses."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sentence_transformers import SentenceTransformer

from allpairs.learner.files.simulate import notes_of
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.loop.simulated_labels import composition_of
from allpairs.learner.search import nearest
from tests.helpers.files.simulated import AT_THRESHOLD, Files, evaluation_ids, rounds_of, split_of, write
from tests.helpers.services.commands import learn

ROUND = {
    "round", "labels", "positives", "trained", "average_precision", "precision_at_recall_20", "pairs",
    "evaluation_positives", "seconds", "search", "stated",
}  # fmt: skip


def without_seconds(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rounds]


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


def test_the_first_batch_is_the_encoders_most_similar_pairs(files: Files, out: Path) -> None:
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


SEEDED_ALIKE = {"adaptive-retrieval", "static-retrieval"}


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
        (["--hubness", 0.25, "--lexical", "--first-batch", "half-spread"], [10, 25, 47]),
        (
            ["--per-text", 3, "--control-share", 0.2, "--growth-kind", "constant"],
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


def test_lexical_features_need_a_cosine(files: Files, tmp_path: Path) -> None:
    refused = learn(*files.simulate(tmp_path / "out", "--distance", "dot", "--lexical")).refused()
    assert "leave out --lexical" in refused


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


def test_a_simulation_refuses_neighbours_that_exceed_memory(
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
    (note,) = notes_of(row, 100)
    assert re.fullmatch(r"round 2: .*approximate \(faiss-ivf\).* 95\.1% \(93\.6–96\.2%\) .* 1,000 .*", note)
    assert not list(notes_of({**row, "search": {"method": "exact", "neighbours": 100, "recall": None}}, 100))
