"""Labelled pairs in a file: which of them train, and which label of a pair counts."""

from dataclasses import replace
from pathlib import Path

import pytest

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.domain import Split
from allpairs.db.errors import InputError
from allpairs.learner.files.labels import read_label_file, read_training, training_pairs


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Four texts, of which the first and the last are kept for measuring."""
    path = tmp_path / "texts.csv"
    path.write_text("id,text\n" + "".join(f"q{i},text {i}\n" for i in range(4)))
    found = load_corpus(path)
    splits = [Split.EVALUATION, Split.TRAIN, Split.TRAIN, Split.EVALUATION]
    return replace(found, items=[replace(item, split=split) for item, split in zip(found.items, splits, strict=True)])


def file_of(folder: Path, header: str, *rows: str) -> Path:
    path = folder / "labels.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_no_pair_with_a_text_kept_for_measuring_trains(tmp_path: Path, corpus: Corpus) -> None:
    path = file_of(tmp_path, "id1,id2,label", "q0,q1,1", "q1,q2,1", "q2,q3,0", "q0,q3,1")
    found = read_training(path, corpus, corpus)
    assert (found.left.tolist(), found.right.tolist(), found.label.tolist()) == ([1], [2], [1])
    for row in ("q0,q1,1", "q2,q3,1", "q0,q3,1"):
        labelled = read_label_file(file_of(tmp_path, "id1,id2,label", row), corpus)
        with pytest.raises(InputError, match="two train items"):
            training_pairs(labelled, corpus, corpus)


def test_the_last_training_label_of_a_pair_counts(tmp_path: Path, corpus: Corpus) -> None:
    rows = "q0,q1,0,train", "q1,q0,1,train", "q0,q2,1,audit", "q0,q3,,train", "q1,q1,1,train"
    found = read_label_file(file_of(tmp_path, "id1,id2,label,purpose", *rows), corpus)
    assert (found.left.tolist(), found.right.tolist(), found.label.tolist()) == ([0], [1], [1])
