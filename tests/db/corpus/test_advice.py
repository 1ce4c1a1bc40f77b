"""What an error about a file advises works: each file is refused, mended as the error says, and read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allpairs.db.corpus.corpus import Columns, load_corpus, stage_corpus
from allpairs.db.corpus.split import read_split
from allpairs.db.errors import InputError
from allpairs.learner.files.labels import read_label_file
from allpairs.learner.files.mistakes import corrected_by

File = tuple[str, bytes]
ITEMS = b"id,text\n1,red\n2,blue\n3,green\n"
LIST: dict[str, tuple[File, str, File]] = {
    "no text": (("a.csv", b""), "named columns and rows", ("a.csv", ITEMS)),
    "no rows": (("a.csv", b"id,text\n"), "add rows", ("a.csv", ITEMS)),
    "no workbook": (("a.xlsx", ITEMS), "correct the end of its name", ("a.csv", ITEMS)),
    "workbook in disguise": (("a.csv", b"PK\x03\x04"), "save it as CSV", ("a.csv", ITEMS)),
    "wrong end": (("a.csv", b"\x1f\x8b..."), "correct the end of its name", ("a.csv", ITEMS)),
    "other letters": (("a.csv", ITEMS + "4,жёлтый\n".encode("cp1251")), "save the file as UTF-8",
                      ("a.csv", ITEMS + "4,жёлтый\n".encode())),
    "cut UTF-16": (("a.csv", ITEMS.decode().encode("utf-16")[:-1]), "Save it as UTF-8", ("a.csv", ITEMS)),
    "NUL": (("a.csv", ITEMS.decode().encode("utf-32-le")), "save the file as UTF-8", ("a.csv", ITEMS)),
    "another name": (("a.csv", ITEMS.replace(b"id,", b"Id,")), "did you mean 'Id'", ("a.csv", ITEMS)),
    "no names": (("a.csv", b"red\nblue\n"), "name the columns in row 1", ("a.csv", ITEMS)),
    "another sign": (("a.csv", ITEMS.replace(b",", b":")), "say which in the first line",
                     ("a.csv", b"sep=:\n" + ITEMS.replace(b",", b":"))),
    "twice a name": (("a.csv", b"id,text,text\n1,a,b\n2,c,d\n"), "rename one", ("a.csv", b"id,text,t\n1,a,b\n2,c,d\n")),
    "too many cells": (("a.csv", ITEMS + b"4,a, b\n"), "a comma, in quotes", ("a.csv", ITEMS + b'4,"a, b"\n')),
    "too few cells": (("a.csv", ITEMS + b"4\n"), "add the cells", ("a.csv", ITEMS + b"4,d\n")),
    "open quote": (("a.csv", ITEMS + b'4,"a" b\n'), "double each quote", ("a.csv", ITEMS + b'4,"""a"" b"\n')),
    "lone return": (("a.csv", ITEMS + b"4,a\rb\n"), "ordinary line endings", ("a.csv", ITEMS + b"4,ab\n")),
    "empty id": (("a.csv", ITEMS + b",a\n"), "give every row an id", ("a.csv", ITEMS + b"4,a\n")),
    "equal ids": (("a.csv", ITEMS + b"3,a\n"), "must be unique", ("a.csv", ITEMS + b"4,a\n")),
    "empty text": (("a.csv", ITEMS + b"4,\n"), "fill it or remove the row", ("a.csv", ITEMS)),
    "long id": (("a.csv", ITEMS + b"x" * 501 + b",a\n"), "shorten it", ("a.csv", ITEMS + b"x" * 500 + b",a\n")),
    "long text": (("a.csv", ITEMS + b"4," + b"x" * 100_001), "shorten", ("a.csv", ITEMS + b"4," + b"x" * 100_000)),
    "too few texts": (("a.csv", b"id,text\n1,red\n"), "provide at least 2", ("a.csv", b"id,text\n1,red\n2,blue\n")),
    "missing key": (("a.jsonl", b'{"id": 1, "text": "a"}\n{"id": 2}\n'), "add it",
                    ("a.jsonl", b'{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}\n')),
    "key twice": (("a.jsonl", b'{"id": 1, "text": "a", "text": "b"}\n{"id": 2, "text": "c"}\n'), "keep one",
                  ("a.jsonl", b'{"id": 1, "text": "b"}\n{"id": 2, "text": "c"}\n')),
    "no JSON": (("a.jsonl", b'[{"id": 1, "text": "a"},\n{"id": 2, "text": "b"}]'), "one object a line",
                ("a.jsonl", b'{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}')),
}  # fmt: skip


@pytest.mark.parametrize("case", LIST)
def test_advice_on_a_list_works(tmp_path: Path, case: str) -> None:
    before, advice, after = LIST[case]
    (tmp_path / before[0]).write_bytes(before[1])
    with pytest.raises(InputError) as refused:
        load_corpus(tmp_path / before[0])
    assert advice in str(refused.value) and before[0] in str(refused.value)
    (tmp_path / after[0]).write_bytes(after[1])
    assert len(load_corpus(tmp_path / after[0]).items) >= 2


def test_a_file_without_ids_is_told_of_the_option(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text\nred\nblue\n")
    with pytest.raises(InputError, match="--id-column ''"):
        load_corpus(path)
    assert len(load_corpus(path, id_column="").items) == 2
    with pytest.raises(InputError, match="name at least one"):
        stage_corpus(path, Columns("", ()))


def of_gold(items: Path, path: Path) -> Any:
    return load_corpus(items, gold=path).gold


def of_labels(items: Path, path: Path) -> Any:
    return read_label_file(path, load_corpus(items))


def of_split(items: Path, path: Path) -> Any:
    return read_split(path, load_corpus(items))


def of_mistakes(_items: Path, path: Path) -> Any:
    return corrected_by(path, np.random.default_rng(0))


PAIRS = b"id1,id2,label\n1,2,1\n"
SPLIT = b"id,split\n1,train\n2,evaluation\n"
MISTAKES = b"kind,stratum,size,true,label\nsample,near,8,3,1\n"
BESIDE: dict[str, tuple[Callable[[Path, Path], Any], bytes, str, bytes]] = {
    "unknown id": (of_gold, PAIRS + b"1,9,1\n", "correct it or remove the row", PAIRS),
    "unknown label": (of_gold, PAIRS + b"1,3,maybe\n", "write 1, 0, or nothing", PAIRS + b"1,3,\n"),
    "label of training": (of_labels, PAIRS + b"1,3,maybe\n", "write 1, 0, or nothing", PAIRS + b"1,3,0\n"),
    "id of training": (of_labels, PAIRS + b"1,9,1\n", "correct it or remove the row", PAIRS + b"1,3,1\n"),
    "no label": (of_labels, b"id1,id2,label\n1,2,\n", "name a file of training labels", PAIRS),
    "split": (of_split, SPLIT + b"3,both\n", "write train or evaluation", SPLIT + b"3,train\n"),
    "id of a split": (of_split, SPLIT + b"9,train\n", "correct it or remove the row", SPLIT),
    "two splits": (of_split, SPLIT + b"2,train\n", "choose one", SPLIT),
    "count": (of_mistakes, MISTAKES.replace(b"8", b"x"), "list the mistakes again", MISTAKES),
    "unchecked": (of_mistakes, MISTAKES.replace(b"3,1", b"3,"), "write 1 or 0 into the column label", MISTAKES),
}  # fmt: skip


@pytest.mark.parametrize("case", BESIDE)
def test_advice_on_a_file_beside_a_list_works(tmp_path: Path, case: str) -> None:
    read, before, advice, after = BESIDE[case]
    items, path = tmp_path / "items.csv", tmp_path / "file.csv"
    items.write_bytes(ITEMS)
    path.write_bytes(before)
    with pytest.raises(InputError) as refused:
        read(items, path)
    assert advice in str(refused.value) and "file.csv" in str(refused.value)
    path.write_bytes(after)
    assert read(items, path)
