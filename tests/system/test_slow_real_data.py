"""Real data, the real encoder, from files to figures: minutes, so only `make slow` runs it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.helpers.machine import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def learner(*arguments: object) -> str:
    """Return what the command prints."""
    command = [sys.executable, "-m", "allpairs", *map(str, arguments)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def value(row: dict[str, Any]) -> float:
    return float(row["average_precision"]["value"])


def test_two_rounds_on_product_records_beat_the_initial_encoder(real_data: Path, tmp_path: Path) -> None:
    data = real_data / "amazon_google"
    files = {path.name.split(".")[0]: path for path in data.iterdir()}
    learner(
        "simulate", "--left", files["left"], "--right", files["right"], "--gold", files["gold"],
        "--strategy", "uncertainty", "--first", 64, "--growth", 1.5, "--rounds", 2, "--out", tmp_path,
    )  # fmt: skip
    rounds = [json.loads(line) for line in (tmp_path / "rounds.jsonl").read_text().splitlines()]
    assert [row["labels"] for row in rounds] == [64, 160]
    base = json.loads((tmp_path / "base.json").read_text())
    assert value(rounds[-1]) > value(base) + 0.01


def test_the_pre_trained_encoder_on_wikiqa(real_data: Path, tmp_path: Path) -> None:
    rows = pd.concat(pd.read_parquet(path) for path in sorted((real_data / "wikiqa").glob("*.parquet")))
    test = rows[rows["split"] == "test"]
    questions = test.drop_duplicates("question_id")
    questions.rename(columns={"question_id": "id", "question": "text"})[["id", "text"]].to_csv(
        tmp_path / "left.csv", index=False
    )
    sentences = rows[["sentence"]].drop_duplicates().reset_index(drop=True)
    sentences["id"] = [f"s{i}" for i in range(len(sentences))]
    sentences.rename(columns={"sentence": "text"})[["id", "text"]].to_csv(tmp_path / "right.csv", index=False)
    gold = test[test["label"] == 1].merge(sentences, on="sentence")
    gold.rename(columns={"question_id": "id1", "id": "id2"})[["id1", "id2"]].to_csv(tmp_path / "gold.csv", index=False)
    found = json.loads(
        learner("evaluate", "--model", "all-MiniLM-L6-v2", "--left", tmp_path / "left.csv", "--right",
                tmp_path / "right.csv", "--gold", tmp_path / "gold.csv")
    )  # fmt: skip
    assert found["positives"] == 293
    assert found["pairs"] == pytest.approx(633 * 26_196, rel=0.01)
    assert value(found) == pytest.approx(0.233, abs=0.003)
    assert found["precision_at_recall_20"]["value"] == pytest.approx(0.396, abs=0.02)
