"""Items on disk: the same as in memory, and constant memory for any number of texts."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from allpairs.annotate.features.projects.projects import create_project, project_contents
from allpairs.annotate.kit.uploads import Source, load
from allpairs.db.corpus.corpus import Columns, load_corpus, stage_corpus
from allpairs.db.corpus.item import CorpusItem, with_splits
from allpairs.db.corpus.split import read_split, split_corpus, write_split
from allpairs.db.corpus.staging import StagedPlaces, Staging
from allpairs.db.domain import Settings, Side, Split
from allpairs.db.identity import identity

COLUMNS = Columns("id", ("text", "more"))
texts = st.lists(st.tuples(st.sampled_from(Side), st.text("ab \u00e9", min_size=1).filter(str.strip)), max_size=30)


def in_memory(rows: list[tuple[Side, str]]) -> list[CorpusItem]:
    """Return the items made from the rows by a plain implementation."""
    merged: dict[tuple[Side, str], list[int]] = {}
    for i, (side, text) in enumerate(rows):
        merged.setdefault((side, identity(text)), []).append(i)
    return [
        CorpusItem(tuple(f"n{i}" for i in places), side, rows[places[0]][1]) for (side, _), places in merged.items()
    ]


def staged(rows: list[tuple[Side, str]]) -> Staging:
    items = Staging()
    for i, (side, text) in enumerate(rows):
        items.add(side, f"n{i}", i, text, identity(text))
    return items


@given(texts)
def test_items_on_disk_are_those_in_memory(rows: list[tuple[Side, str]]) -> None:
    items, expected = staged(rows), in_memory(rows)
    assert list(items) == expected == [items[i] for i in range(len(items))]
    assert items[1:3] == expected[1:3]
    for side in Side:
        places = {name: i for i, item in enumerate(expected) if item.side == side for name in item.ids}
        assert dict(StagedPlaces(items, side)) == places
        assert len(StagedPlaces(items, side)) == len(places)
    for start in range(len(expected) + 1):
        several = [item.ids for item in expected[start:] if len(item.ids) > 1]
        first = list(several[0][:2]) if several else []
        assert items.shared(start) == (len(several), sum(map(len, several)), first)


def test_what_is_not_there_is_an_error() -> None:
    items = staged([(Side.LEFT, "a")])
    assert "n0" in StagedPlaces(items, Side.LEFT)
    assert "n0" not in StagedPlaces(items, Side.RIGHT)
    with pytest.raises(IndexError):
        items[1]
    assert items[-1].text == "a"


@given(st.lists(st.sampled_from([Split.TRAIN, Split.EVALUATION, None]), max_size=8))
def test_splits_are_given_alike_on_disk_and_in_memory(splits: list[Split | None]) -> None:
    rows = [(Side.LEFT, f"text {i}") for i in range(len(splits))]
    seen, listed = with_splits(staged(rows), splits), with_splits(in_memory(rows), splits)
    assert isinstance(listed, list)
    assert list(seen) == listed == [seen[i] for i in range(len(seen))]
    assert len(seen) == len(listed)


@pytest.fixture
def make_files(tmp_path: Path) -> Callable[[int], Source]:
    def make_files(n: int) -> Source:
        rows = (f"{i},{i} {'word ' * 99},{'more' * (i % 2)}\n" for i in range(n))
        (tmp_path / "texts.csv").write_text("id,text,more\n" + "".join(rows))
        (tmp_path / "gold.csv").write_text("id1,id2\n0,1\n1,2\n4,5\n")
        return Source(tmp_path / "texts.csv", COLUMNS, gold=tmp_path / "gold.csv")

    return make_files


def test_a_staged_corpus_is_split_and_stored_as_one_in_memory(
    engine: Engine, make_files: Callable[[int], Source], tmp_path: Path
) -> None:
    source = make_files(40)
    memory, disk = load_corpus(source.left, gold=source.gold, text_columns=COLUMNS.texts), load(source)
    assert replace(disk, items=list(disk.items)) == memory
    assert disk.items[1].lengths == (496, 4)
    ours, theirs = (split_corpus(corpus, 0.3, np.random.default_rng(1)) for corpus in (disk, memory))
    assert list(ours.items) == theirs.items
    write_split(ours, tmp_path / "split.csv")
    again = read_split(tmp_path / "split.csv", stage_corpus(source.left, COLUMNS, gold=source.gold))
    assert list(again.items) == theirs.items
    project_id = create_project(engine, "Staged", ours, Settings())
    assert project_contents(engine, project_id).items == theirs.shares()


def test_progress_is_told_from_reading_to_storing(
    engine: Engine, make_files: Callable[[int], Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allpairs.db.corpus.files.BETWEEN", 100)
    monkeypatch.setattr("allpairs.db.projects.items.CHUNK", 100)
    told: list[tuple[str, float]] = []
    source = make_files(1000)
    corpus = load(source, lambda *step: told.append(step))
    create_project(engine, "Told", corpus, Settings(), lambda *step: told.append(step))
    stages = ["reading texts.csv", "storing texts", "storing ids"]
    assert list(dict.fromkeys(stage for stage, _ in told)) == stages
    for stage in stages:
        shares = [done for of, done in told if of == stage]
        assert len(shares) == 10
        assert shares == sorted(shares)
        assert 0 <= shares[0] < 0.2 and 0.8 < shares[-1] <= 1


def test_ten_times_the_texts_take_no_more_memory(
    engine: Engine, make_files: Callable[[int], Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allpairs.db.projects.items.CHUNK", 500)

    def peak(n: int) -> int:
        source = make_files(n)
        tracemalloc.start()
        create_project(engine, f"{n} texts", load(source), Settings())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)  # what is imported and compiled once
    small, large = peak(1000), peak(10_000)
    assert large < small + 2_000_000, "10,000 texts of 500 characters (5 MB) are held in memory"
