"""The order of rows, and of the keys in them, changes the order of what is read, and nothing else."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.files import column_names
from allpairs.db.errors import InputError
from allpairs.learner.files.labels import read_label_file
from tests.helpers.machine import examples

Rows = list[dict[str, str]]
SIGNS = st.characters(exclude_categories=["C", "Z"], include_characters=" ,;|\t\"'")
TEXTS = st.lists(st.text(SIGNS, min_size=1, max_size=12).filter(str.strip), min_size=6, max_size=12)
LABELLED = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["1", "0", "1.0", ""])), min_size=1)


def write(path: Path, rows: Rows) -> Path:
    """Write the rows as the end of the name says."""
    names = list(rows[0])
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.table({name: [row[name] for row in rows] for name in names}), path)
    return path


def read(items: Path, gold: Path) -> tuple[object, ...] | str:
    """Return what the files say, whatever the order; or that they cannot be read."""
    try:
        corpus = load_corpus(items, gold=gold)
    except InputError as error:
        return str(error).partition(",")[0]
    return frozenset(corpus_of(corpus)), frozenset(labels_of(gold, corpus)), frozenset(column_names(items))


def corpus_of(corpus: Corpus) -> list[tuple[object, ...]]:
    texts = [frozenset(item.ids) for item in corpus.items]
    pairs = [(frozenset((texts[pair.left], texts[pair.right])), pair.positive, pair.closure) for pair in corpus.gold]
    return [*texts, *pairs]  # type: ignore[list-item]


def labels_of(path: Path, corpus: Corpus) -> list[object]:
    names = [frozenset(item.ids) for item in corpus.items]
    try:
        labelled = read_label_file(path, corpus)
    except InputError:
        return []
    rows = zip(labelled.left.tolist(), labelled.right.tolist(), strict=True)
    return [frozenset((names[left], names[right])) for left, right in rows]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@settings(max_examples=examples(60), deadline=None)
@given(texts=TEXTS, labelled=LABELLED, random=st.randoms(use_true_random=False))
def test_order_changes_nothing_but_order(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, texts: list[str], labelled: list[tuple[int, int, str]],
    random: object,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("order")
    items: Rows = [{"id": str(at), "text": text} for at, text in enumerate(texts)]
    gold: Rows = [{"id1": str(one), "id2": f"{other}.0", "label": label} for one, other, label in labelled]
    before = read(write(folder / f"a.{suffix}", items), write(folder / f"g.{suffix}", gold))
    shuffle = random.shuffle  # type: ignore[attr-defined]
    for rows in (items, gold):
        names = list(rows[0])
        shuffle(names)
        shuffle(rows)
        rows[:] = [{name: row[name] for name in names} for row in rows]
    assert read(write(folder / f"a.{suffix}", items), write(folder / f"g.{suffix}", gold)) == before


@pytest.mark.parametrize("late", ["label", "annotator"])
@pytest.mark.parametrize("place", [0, 120, -1])
def test_a_key_counts_wherever_it_comes_first(tmp_path: Path, late: str, place: int) -> None:
    items: Rows = [{"id": str(at), "text": f"text {at}"} for at in range(200)]
    gold: Rows = [{"id1": str(at), "id2": str(at + 1)} for at in range(150)]
    gold[place][late] = "0"
    files = write(tmp_path / "a.jsonl", items), write(tmp_path / "g.jsonl", gold)
    assert column_names(files[1]) == ["id1", "id2", late]
    if late == "label":
        with pytest.raises(InputError, match=r"g\.jsonl, row [12], column 'label'"):
            load_corpus(files[0], gold=files[1])
