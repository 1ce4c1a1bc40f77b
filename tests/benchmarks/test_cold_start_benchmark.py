"""The cold-start benchmark: the peer's input, the measurement of its scores, and the table."""

from pathlib import Path

import numpy as np
import pytest

from allpairs.learner.data.dataset import Dataset, make_dataset
from benchmarks.quality import cold_start
from benchmarks.quality.cold_start import OURS, PEER, measured, spread, table, task_of


def products(n: int = 40) -> Dataset:
    names = [f"product {i} model {i * 7}" for i in range(n)]
    texts = [*names, *(f"{name} black" for name in names)]
    splits = ["evaluation" if i % 4 == 0 else "train" for i in range(n)] + ["both"] * n
    return make_dataset(texts, ["left"] * n + ["right"] * n, splits, False, np.array([(i, n + i) for i in range(n)]))


def test_the_peer_is_told_the_training_gold_by_position() -> None:
    task = task_of(products(), 3)
    train, right = task["train"], task["right"]
    assert isinstance(task["gold"], list) and isinstance(train, list) and isinstance(right, list)
    assert len(task["gold"]) == len(train) == 30
    for left, other in task["gold"]:
        assert right[other].startswith(train[left])
    assert not set(train) & set(task["evaluation"])  # type: ignore[call-overload]
    assert task["seed"] == 3


def test_the_peer_s_scores_are_measured_over_all_evaluation_pairs(tmp_path: Path) -> None:
    dataset = products()
    scores = np.zeros((10, 40), dtype=np.float32)
    scores[tuple(dataset.evaluation_positives.T)] = 1
    names = {f"{name}-64": scores if name == "plain" else -scores for name in PEER}
    np.savez(tmp_path / "scores.npz", labels=np.array([(64, 30, 1.5)]), **names)  # type: ignore[arg-type]
    (row,) = measured(dataset, tmp_path / "scores.npz")
    assert row == {"labels": 64, "positives": 30, "plain": 1.0, "default": pytest.approx(10 / 400)}


def test_the_table_has_a_line_a_budget_and_columns_of_those_who_took_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_start, "BUDGETS", [64])
    ours = [{"labels": 64, **{name: 0.5 + at / 10 for at, name in enumerate(OURS)}}] * 2
    cells = " | ".join(spread([0.5 + at / 10]) for at in range(len(OURS)))
    assert table(ours, []).splitlines()[-1] == f"| 64 | {cells} |"
    assert table(ours, [{"labels": 64, "default": 0.1, "plain": 0.2}]).splitlines()[0].count("dedupe") == 2


def test_a_spread_is_mean_and_range() -> None:
    assert spread([0.5, 0.7]) == "0.600 (0.500–0.700)"
