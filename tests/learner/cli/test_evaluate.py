"""`allpairs evaluate` on files: what it prints and refuses."""

import json
from pathlib import Path

import pytest

from tests.helpers.files.simulated import AT_THRESHOLD, Files, rounds_of, write
from tests.helpers.services.commands import learn


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
    assert found["average_precision"]["method"] == "exact"  # every pair is labelled
    assert found["average_precision"]["labels"] == found["pairs"] == len(pairs)
    exact = files.brute_force(out / "model", pairs)
    assert found["average_precision"]["value"] == pytest.approx(exact, abs=1e-6)
    assert found["positives"]["value"] == pytest.approx(len(files.gold))
    known = learn(*usual, "--gold", files.folder / "gold.csv").json()
    assert known == found  # gold without negatives adds no figure
    short = write(tmp_path / "short.csv", ["id1", "id2", "label"], [row[:3] for row in rows])
    assert "short.csv" in learn(*usual[:-1], short).refused()


def test_bad_input_to_evaluate_is_one_line(twins: Files, tmp_path: Path) -> None:
    usual = ["evaluate", "--model", twins.encoder, *twins.items]
    negative = write(tmp_path / "gold.csv", ["id1", "id2", "label"], [("a0", "b0", 0)])
    assert "known pair is positive" in learn(*usual, "--gold", negative).refused()
    assert "'guess' is not known" in learn(*usual, "--gold", negative, "--method", "guess").refused()
    assert "give --gold or --audit" in learn(*usual).refused()
    both = learn(*usual, "--audit", negative, "--method", "exact")
    assert "leave out --method" in both.refused()
    unknown = write(tmp_path / "unknown.csv", ["id1", "id2"], [("a0", "z9")])
    assert "row 2, column 'id2': the id 'z9'" in learn(*usual, "--gold", unknown).refused()


def test_figures_say_that_they_are_over_texts(twins: Files, tmp_path: Path) -> None:
    usual, left = ["evaluate", "--model", twins.encoder, "--left"], tmp_path / "left.csv"
    rows = [("a", "red kettle"), ("b", "blue chair"), ("c", "old lamp")]
    gold = write(tmp_path / "gold.csv", ["id1", "id2"], [("a", "b")])
    whole = learn(*usual, write(left, ["id", "text"], rows), "--gold", gold)
    repeated = learn(
        *usual, write(left, ["id", "text"], [*rows, ("d", "old  lamp"), ("e", "red kettle")]), "--gold", gold
    )
    assert repeated.json() == whole.json() and "different texts" not in whole.err
    assert repeated.err.count("5 rows have 3 different texts") == 1
