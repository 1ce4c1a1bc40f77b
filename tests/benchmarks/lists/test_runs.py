"""What tools are given of a messy list, how their groups are measured, and what the page shows of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.lists.catalog import PEERS
from benchmarks.lists.measure import pair_counts, pair_figures
from benchmarks.lists.ours import corpus_of, groups_of_rows
from benchmarks.lists.page import keep_run, kept_runs, section
from benchmarks.lists.peers.prepared import prepared
from benchmarks.lists.run import write_list_task
from benchmarks.lists.task import read_list_task

NAMES = st.lists(st.integers(0, 3), min_size=2, max_size=12)


@given(st.data())
def test_counts_are_those_of_all_pairs(data: st.DataObject) -> None:
    group = np.array(data.draw(NAMES))
    truth = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(group), max_size=len(group))))
    left, right = np.triu_indices(len(group), 1)
    grouped, true = group[left] == group[right], truth[left] == truth[right]
    assert pair_counts(group, truth) == (grouped.sum(), true.sum(), (grouped & true).sum())


def test_figures_are_shares_of_pairs() -> None:
    figures = pair_figures(np.array([0, 0, 0, 1, 2]), np.array([5, 5, 6, 6, 7]))
    assert figures == {"precision": 0.3333, "recall": 0.5, "f1": 0.4}
    assert pair_figures(np.arange(3), np.array([0, 0, 1])) == {"precision": 1.0, "recall": 0.0, "f1": 0.0}


def test_a_task_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_list_task(tmp_path, PEERS["dedupe"], "customers", 3, 120)
    task = read_list_task(tmp_path)
    assert len(task.records) == len(task.truth) == 120 and task.seed == 3 and list(task.labels) == [50, 150]
    assert task.columns["Telefon"] == "phone" and task.id_column == "Kundennr." and task.id_column not in task.columns
    left, right = next(
        pair for pair in zip(*np.triu_indices(120, 1), strict=True) if len({*task.truth[list(pair)]}) < 2
    )
    assert task.answer(left, right) and not task.answer(*np.unique(task.truth, return_index=True)[1][:2])


def test_our_corpus_knows_all_pairs_of_the_truth(tmp_path: Path) -> None:
    write_list_task(tmp_path, PEERS["allpairs"], "products", 1, 200)
    task = read_list_task(tmp_path)
    corpus = corpus_of(task)
    groups = np.arange(len(corpus.items))
    for pair in corpus.gold:
        groups[groups == groups[pair.right]] = groups[pair.left]
    assert pair_figures(groups_of_rows(corpus, task, groups), task.truth)["f1"] == 1.0


@pytest.mark.parametrize(
    "holds, text, value",
    [
        ("price", "1.299,00 €", "1299.00"),
        ("price", "EUR 1,299.00", "1299.00"),
        ("price", "1299", "1299.00"),
        ("date", "7.3.84", "1984-03-07"),
        ("date", "07/03/1984", "1984-03-07"),
        ("phone", "+49 (0)356 734359", "356734359"),
        ("phone", "0356/734359", "356734359"),
        ("code", "ac-12 b", "AC12B"),
        ("name", "Müller-Weiß", "mueller weiss"),
        ("text", " ", None),
    ],
)
def test_values_are_prepared_by_what_they_hold(holds: str, text: str, value: str | None) -> None:
    assert prepared({"column": text}, {"column": holds}) == {"column": value}


def run(peer: str, seed: int, labels: int, f1: float) -> dict[str, Any]:
    budget = {"labels": labels, "cpu_seconds": 10.0, "precision": f1, "recall": f1, "f1": f1}
    about = {"list": "persons", "peer": peer, "seed": seed, "date": "2026-11-28", "machine": "2 cores", "versions": {}}
    return {**about, "budgets": [budget]}


def test_the_page_says_where_another_tool_is_ahead(tmp_path: Path) -> None:
    assert "Not run" in section(tmp_path)
    keep_run(run("splink", 0, 0, 0.9), tmp_path)
    assert "Nowhere" not in section(tmp_path) and "Allpairs has not been run" in section(tmp_path)
    for each in (run("allpairs", 0, 50, 0.1), run("allpairs", 0, 50, 0.7), run("dedupe", 0, 50, 0.9)):
        keep_run(each, tmp_path)
    assert [json.dumps(kept["budgets"][0]["f1"]) for kept in kept_runs(tmp_path)] == ["0.7", "0.9", "0.9"]
    text = section(tmp_path)
    assert "dedupe by 0.200" in text and "0.700 (0.700–0.700)" in text and "Allpairs [1]" in text
