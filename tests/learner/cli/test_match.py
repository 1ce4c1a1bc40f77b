"""`allpairs match` on files: what it writes, prints and refuses."""

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from allpairs.learner.light.groups.newest import order_by
from tests.helpers.files.simulated import Files, evaluation_ids, write
from tests.helpers.services.commands import learn


def test_why_a_pair_matches(files: Files, tmp_path: Path) -> None:
    model = tmp_path / "out" / "model"
    learn(*files.simulate(tmp_path / "out", "--hubness", 0.25, "--lexical"))
    known = json.loads((model / "matcher.json").read_text())
    assert known["lexical"]
    learn("match", "--model", model, *files.items, "--top", 9, "--why", "--out", tmp_path / "m.csv")
    for score, why in pd.read_csv(tmp_path / "m.csv")[["score", "why"]].itertuples(index=False):
        assert {"meaning", "hubness"} < set(re.findall(r"(\w+) [+-]\d", why))
        amounts = [float(amount) for amount in re.findall(r"[+-]\d+\.\d\d", why)]
        assert sum(amounts) == pytest.approx(known["w"] * score + known["b"], abs=0.005 * len(amounts) + 1e-3)


def test_the_best_matches(files: Files, out: Path, tmp_path: Path) -> None:
    model = out / "model"
    found = learn("match", "--model", model, *files.items, "--top", 25, "--out", tmp_path / "m.csv", "--json").json()
    table = pd.read_csv(tmp_path / "m.csv")
    assert list(table) == ["id1", "id2", "score", "p", "reason", "text1", "text2"]
    assert len(table) == found["pairs"] == 25
    assert found["lowest_score"] == pytest.approx(table["score"].min())
    assert table["score"].is_monotonic_decreasing
    assert table["text1"].tolist() == [files.left[name] for name in table["id1"]]
    matcher = json.loads((model / "matcher.json").read_text())
    expected = 1 / (1 + np.exp(-matcher["w"] * table["score"] - matcher["b"]))
    assert table["p"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-3)
    assert set(zip(table["id1"], table["id2"], strict=True)) <= set(files.pairs())


def test_no_file_is_overwritten_that_is_read(files: Files, tmp_path: Path) -> None:
    left = files.items[1]
    before = Path(str(left)).read_bytes()
    for command in (
        ["match", "--top", 3, *files.items],
        ["evaluate", *files.items, "--gold", files.folder / "gold.csv"],
    ):
        said = learn(*command, "--model", files.encoder, "--out", left).refused()
        assert "this command reads" in said
    pairs = write(tmp_path / "m-groups.csv", ["id", "text"], [("a", "b"), ("c", "d")])
    groups = learn("match", "--model", files.encoder, "--left", pairs, "--top", 1, "--out", tmp_path / "m.csv",
                   "--groups", "connected")  # fmt: skip
    assert "m-groups.csv is a file" in groups.refused()
    assert Path(str(left)).read_bytes() == before


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
    groups["rank"] = order_by("text", groups["text"].tolist()).rank  # words: the last of the alphabet, 9 before 10
    last = groups.sort_values("rank").groupby("group")["text"].last()
    assert (newest == last).all()
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
    assert list(pd.read_csv(tmp_path / "none.csv")) == ["id1", "id2", "score", "reason", "text1", "text2"]


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ([], "give exactly one of top, threshold and precision (given: none)"),
        (["--top", 3, "--threshold", 0.5], "(given: top, threshold)"),
        (["--precision", 0.9], "use top or threshold"),
        (["--top", 0], "--top"),
        (["--top", 3, "--out", "m.txt"], "m.txt: cannot write files that end in '.txt'"),
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
    assert "between 0 and 1, not 1.5" in learn(*usual, "--precision", 1.5).refused()
