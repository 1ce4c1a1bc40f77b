"""The benchmark of clusterings: made-up references, their true groups, and a run on few of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from allpairs.db.corpus import graph
from allpairs.db.corpus.corpus import load_corpus
from benchmarks.data.bibliography import LARGEST, write_bibliography
from benchmarks.quality.clusterings import measured


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    texts, gold = tmp_path / "texts.csv", tmp_path / "gold.csv"
    write_bibliography(texts, gold, 300, 1)
    return texts, gold


def test_references_of_a_paper_are_alike_and_the_same_each_time(files: tuple[Path, Path], tmp_path: Path) -> None:
    texts, gold = files
    again = tmp_path / "again.csv"
    write_bibliography(again, tmp_path / "same.csv", 300, 1)
    assert again.read_text() == texts.read_text()
    table, pairs = pd.read_csv(texts), pd.read_csv(gold)
    row = {name: at for at, name in enumerate(table.id)}
    group = graph.components(300, zip(pairs.id1.map(row), pairs.id2.map(row), strict=True))
    assert len(table) == 300 and 1 < np.unique(group, return_counts=True)[1].max() <= LARGEST
    words = [set(text.lower().replace(".", "").replace(",", "").split()) for text in table.text]
    pair = [(row[one], row[other]) for one, other in zip(pairs.id1, pairs.id2, strict=True)]
    shared = [len(words[a] & words[b]) / len(words[a] | words[b]) for a, b in pair]
    others = [len(words[a] & words[b - 1]) / len(words[a] | words[b - 1]) for a, b in pair if group[b - 1] != group[b]]
    assert np.mean(shared) > 2 * np.mean(others)


def test_every_clustering_of_one_list_is_measured(files: tuple[Path, Path]) -> None:
    corpus = load_corpus(files[0], None, files[1])
    letters = np.array(
        [[item.text.lower().count(one) for one in "abcdefghijklmnopqrstuvwxyz"] for item in corpus.items]
    )
    vectors = (letters / np.linalg.norm(letters, axis=1, keepdims=True)).astype(np.float32)
    found = dict(measured(corpus, vectors, 90, 0))
    assert list(found) == ["connected", "average", "average, p ≥ 0.05", "correlation", "correlation, p ≥ 0.05"]
    assert all(0 < figure <= 1 for figures in found.values() for figure in figures)
