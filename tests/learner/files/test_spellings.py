"""Labels and ids as pandas and spreadsheets write them say the same in every file that has some."""

import re
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allpairs.db.corpus.cells import present_columns
from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.split import read_split
from allpairs.db.domain import Split
from allpairs.db.errors import InputError
from allpairs.learner.evaluation.audit.label_files import read_audit
from allpairs.learner.files.group_figures import group_figures
from allpairs.learner.files.labels import read_label_file
from allpairs.learner.files.mistakes import corrected_by
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.pipelines.multiview.formats import read_qrels

LABELS = "id1,id2,label\n0,1,1\n2,3,0\n4,5,1\n"
AUDIT = "id1,id2,label,inclusion\n0,1,1,1\n2,3,0,0.5\n4,5,1,0.5\n"
SPLIT = "id,split\n0,train\n1,evaluation\n7,train\n"
GROUPS = "id,group\n0,a\n1,a\n2,b\n"
MISTAKES = "kind,stratum,size,true,label\nsample,near,8,3,1\nsample,near,8,3,0\n"


def corpus_of(folder: Path, ids: str = "01234567", gold: Path | None = None) -> Corpus:
    items = folder / "items.csv"
    items.write_text("id,text\n" + "".join(f"{id_},text {id_}\n" for id_ in ids), encoding="utf-8")
    return load_corpus(items, gold=gold)


def evaluated(corpus: Corpus) -> Corpus:
    return replace(corpus, items=[replace(item, split=Split.EVALUATION) for item in corpus.items])


def of_audit(path: Path) -> list[Any]:
    corpus = evaluated(corpus_of(path.parent))
    return [np.asarray(part).tolist() for part in astuple(read_audit(path, corpus, dataset_of(corpus)))[:-1]]


def of_labels(path: Path) -> list[Any]:
    return [part.tolist() for part in astuple(read_label_file(path, corpus_of(path.parent)))]


def of_groups(path: Path) -> dict[str, Any]:
    true = path.with_name("true.csv")
    true.write_text("id,group\n0,x\n1,x\n2,x\n3,y\n", encoding="utf-8")
    return group_figures(path, true, [path.with_name("items.csv")] if corpus_of(path.parent) else ())


READERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "gold": (lambda path: corpus_of(path.parent, gold=path).gold, LABELS),
    "labels": (of_labels, LABELS),
    "audit": (of_audit, AUDIT),
    "split": (lambda path: read_split(path, corpus_of(path.parent)).items, SPLIT),
    "groups": (of_groups, GROUPS),
    "matches": (of_groups, LABELS),
    "mistakes": (lambda path: corrected_by(path, np.random.default_rng(0)), MISTAKES),
    "judgements": (lambda path: [judged.right for judged in read_qrels(path)], LABELS),
}


@pytest.mark.parametrize("reader", READERS)
def test_whole_numbers_with_a_point_are_read_as_without(tmp_path: Path, reader: str) -> None:
    read, text = READERS[reader]
    path = tmp_path / "file.csv"
    path.write_text(text, encoding="utf-8")
    plain = read(path)
    path.write_text(re.sub(r"\b(?<!\.)([0-9])(?=,|$)", r"\1.0", text, flags=re.MULTILINE), encoding="utf-8")
    if reader in ("mistakes", "audit"):  # counts and probabilities are numbers already
        path.write_text(re.sub(r",([01])$", r",\1.0", text, flags=re.MULTILINE), encoding="utf-8")
    assert read(path) == plain
    assert ".0" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "word", ["1", "1.0", "1.00", "1,0", " TRUE ", "Positive", "0", "0.0", "0,0", "false", "", "unsure"]
)
def test_each_label_means_the_same_in_every_file(tmp_path: Path, word: str) -> None:
    path = tmp_path / "file.csv"
    path.write_text(f'id1,id2,label,inclusion\n0,1,1,1\n2,3,0,1\n4,5,"{word}",1\n', encoding="utf-8")
    expected = {"1": [True], "0": [False]}.get(word.strip()[:1], [word.strip().lower() in ("true", "positive")])
    expected = [] if word in ("", "unsure") else expected
    gold = corpus_of(tmp_path, gold=path)
    assert [pair.positive for pair in gold.gold if pair.left == 4] == expected
    assert len(gold.notes) == 1 - len(expected)
    assert of_labels(path)[2][2:] == expected
    assert of_audit(path)[2][2:] == expected
    found = of_groups(path)["found"]["sizes"]
    path.write_text(f"id1,id2\n0,1\n{'4,5' if expected == [True] else '4,4'}\n", encoding="utf-8")
    assert found == of_groups(path)["found"]["sizes"]


@pytest.mark.parametrize("name", ["Label", "LABEL", "lABEL"])
@pytest.mark.parametrize("reader", ["gold", "labels", "audit", "matches", "judgements"])
def test_a_label_column_in_other_letters_is_not_left_out(tmp_path: Path, reader: str, name: str) -> None:
    read, text = READERS[reader]
    path = tmp_path / "file.csv"
    path.write_text(text.replace("label", name, 1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"file\.csv.*'{name}'"):
        read(path)


def test_another_column_in_other_letters_does_no_harm() -> None:
    assert present_columns(["label"], ["id", "label", "Label"], "a table") == ["label"]


@pytest.mark.parametrize("column", ["Purpose", "Side", "Stratum"])
def test_an_optional_column_in_other_letters_is_not_left_out(tmp_path: Path, column: str) -> None:
    reader = {"Purpose": "labels", "Side": "split", "Stratum": "audit"}[column]
    read, text = READERS[reader]
    path = tmp_path / "file.csv"
    path.write_text(re.sub("$", ",x", text.strip(), flags=re.MULTILINE).replace(",x", f",{column}", 1), "utf-8")
    with pytest.raises(InputError, match=f"'{column}': rename .* '{column.lower()}'"):
        read(path)


def test_pairs_whose_labels_have_another_name_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("id1,id2,is_match\n0,1,1\n2,3,0\n", encoding="utf-8")
    (note,) = corpus_of(tmp_path, gold=path).notes
    assert "pair counts as positive" in note
    assert "'is_match'" in note


def test_a_whole_number_with_a_point_is_a_separate_id(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("id1,id2\n7.0,1\n", encoding="utf-8")
    items = tmp_path / "items.csv"
    items.write_text("id,text\n7,a\n7.1,b\n1,c\n", encoding="utf-8")
    for ids, column in (("7.0,1", "id1"), ("1,7.0", "id2")):
        path.write_text(f"id1,id2\n{ids}\n", encoding="utf-8")
        with pytest.raises(InputError, match=rf"row 2, column '{column}': the id '7\.0' is not"):
            load_corpus(items, gold=path)
    path.write_text("id1,id2\n7.0,1\n", encoding="utf-8")
    items.write_text("id,text\n7,a\n7.0,b\n1,c\n", encoding="utf-8")
    assert [pair[:2] for pair in load_corpus(items, gold=path).gold] == [(1, 2)]


def test_pairs_without_a_label_count_for_their_stratum(tmp_path: Path) -> None:
    path = tmp_path / "audit.csv"
    path.write_text("id1,id2,label,inclusion\n0,1,1,1\n2,3,,0.5\n4,5,0,0.5\n6,7,,0.25\n", encoding="utf-8")
    corpus = evaluated(corpus_of(tmp_path))
    found = read_audit(path, corpus, dataset_of(corpus))
    assert found.positive.tolist() == [True, False]
    assert found.inclusion.tolist() == [1, 0.25]  # drawn with 0.5, and one of two labelled
    assert found.sizes.tolist() == [1, 4, 4]
    assert found.sample().labels.tolist() == [1, 1, 0]
