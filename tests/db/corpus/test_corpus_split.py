"""Splits: components stay together, no text is on both sides, the share is met, files are respected."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus.corpus import Corpus, CorpusItem, GoldPair
from allpairs.db.corpus.split import read_split, split_corpus, write_split
from allpairs.db.domain import Kind, Side, Split
from allpairs.db.errors import InputError


def corpus_of(left: int, right: int = 0, gold: list[GoldPair] | None = None) -> Corpus:
    sides = [Side.LEFT] * left + [Side.RIGHT] * right
    items = [CorpusItem((f"{side}{i}", f"{side}{i} too"), side, f"text {i}") for i, side in enumerate(sides)]
    return Corpus(Kind.BIPARTITE if right else Kind.SYMMETRIC, items, gold or [])


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    left, right = draw(st.integers(2, 25)), draw(st.sampled_from([0, 0, 1, 7, 20]))
    first = st.integers(0, left - 1)
    second = st.integers(left, left + right - 1) if right else first
    ends = draw(st.lists(st.tuples(first, second, st.booleans()), max_size=20))
    gold = [GoldPair(min(a, b), max(a, b), positive) for a, b, positive in ends if a != b]
    return corpus_of(left, right, gold)


shares = st.floats(0, 0.95)


@given(corpora(), shares, st.booleans(), st.integers(0, 9))
def test_known_pairs_are_never_separated(corpus: Corpus, share: float, both_sides: bool, seed: int) -> None:
    split = split_corpus(corpus, share, np.random.default_rng(seed), both_sides=both_sides)
    assert [(item.ids, item.text) for item in split.items] == [(item.ids, item.text) for item in corpus.items]
    assert split == split_corpus(corpus, share, np.random.default_rng(seed), both_sides=both_sides)
    shared = corpus.kind == Kind.BIPARTITE and not both_sides
    for pair in split.gold:
        ends = split.items[pair.left].split, split.items[pair.right].split
        assert ends[1] == (Split.SHARED if shared else ends[0])


@given(corpora(), shares, st.booleans(), st.integers(0, 9))
def test_something_is_left_for_training_and_items_meet_the_share(
    corpus: Corpus, share: float, both_sides: bool, seed: int
) -> None:
    split = split_corpus(corpus, share, np.random.default_rng(seed), both_sides=both_sides)
    left = [item.split for item in split.items if item.side == Side.LEFT]
    assert Split.TRAIN in left
    if not corpus.gold:
        assert left.count(Split.EVALUATION) == min(round(share * len(left)), len(left) - 1)


def test_the_nearest_share_wins() -> None:
    pairs = [GoldPair(0, 1, True), GoldPair(1, 2, False), GoldPair(3, 4, True), GoldPair(4, 5, True)]  # 3 + 3 items
    split = split_corpus(corpus_of(6, gold=pairs), 0.4, np.random.default_rng(0))
    assert Counter(item.split for item in split.items) == {Split.TRAIN: 3, Split.EVALUATION: 3}
    assert "50.0% of the items" in split.notes[0]
    split = split_corpus(corpus_of(6, gold=pairs), 0.2, np.random.default_rng(0))
    assert Counter(item.split for item in split.items) == {Split.TRAIN: 6}


def test_a_component_is_exchanged_where_that_comes_nearer() -> None:
    gold = [GoldPair(0, 1, True), GoldPair(1, 2, True), GoldPair(3, 4, True)]  # 3 + 2 + 1 + 1 + 1 items
    for seed in range(20):
        split = split_corpus(corpus_of(8, gold=gold), 0.5, np.random.default_rng(seed))
        assert Counter(item.split for item in split.items) == {Split.TRAIN: 4, Split.EVALUATION: 4}


def test_one_component_of_everything_stays_in_training() -> None:
    split = split_corpus(corpus_of(2, gold=[GoldPair(0, 1, True)]), 0.9, np.random.default_rng(0))
    assert {item.split for item in split.items} == {Split.TRAIN}
    assert "0.0% of the items are in the evaluation set, not 90.0%" in split.notes[0]


def test_splitting_both_sides_gives_both_the_share() -> None:
    gold = [GoldPair(i, 100 + i, i % 2 == 0) for i in range(50)]
    split = split_corpus(corpus_of(100, 400, gold), 0.3, np.random.default_rng(0), both_sides=True)
    counts = Counter((item.side, item.split) for item in split.items)
    assert counts[Side.LEFT, Split.EVALUATION] == 30
    assert counts[Side.RIGHT, Split.EVALUATION] == 120


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="evaluation share"):
        split_corpus(corpus_of(4), share, np.random.default_rng(0))


@given(corpora(), shares, st.booleans())
def test_a_written_split_reads_back(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus, share: float, both_sides: bool
) -> None:
    path = tmp_path_factory.mktemp("split") / "split.csv"
    split = split_corpus(corpus, share, np.random.default_rng(0), both_sides=both_sides)
    write_split(split, path)
    again = read_split(path, corpus)
    assert (again.items, again.gold) == (split.items, split.gold)


def test_writing_an_unsplit_corpus_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="split the corpus"):
        write_split(corpus_of(2), tmp_path / "split.csv")


def table(folder: Path, *rows: str) -> Path:
    path = folder / "split.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_items_that_are_not_named_take_no_part(tmp_path: Path) -> None:
    corpus = corpus_of(4, gold=[GoldPair(0, 1, True), GoldPair(1, 3, False), GoldPair(2, 3, True)])
    split = read_split(table(tmp_path, "id,split", "left0,train", "left2 too,evaluation", "left3,evaluation"), corpus)
    assert [(item.ids[0], item.split) for item in split.items] == [
        ("left0", Split.TRAIN),
        ("left2", Split.EVALUATION),
        ("left3", Split.EVALUATION),
    ]
    assert split.gold == [GoldPair(1, 2, True)]
    assert "left out: 1 item, and with them 2" in split.notes[0]


def test_a_right_side_that_is_not_named_serves_both(tmp_path: Path) -> None:
    split = read_split(table(tmp_path, "id,side,split", "left0,left,train", "left1,left,evaluation"), corpus_of(2, 2))
    assert [item.split for item in split.items] == [Split.TRAIN, Split.EVALUATION, Split.SHARED, Split.SHARED]


def test_gold_pairs_that_a_file_separates_are_noted(tmp_path: Path) -> None:
    corpus = corpus_of(2, gold=[GoldPair(0, 1, True)])
    split = read_split(table(tmp_path, "id,side,split", "left0,left,train", "left1,left,evaluation"), corpus)
    assert "left out: 1 gold pair" in split.notes[0]


@pytest.mark.parametrize(
    ("right", "rows", "expected"),
    [
        (0, ["left9,left,train"], ["row 2, column 'id'", "'left9'"]),
        (0, ["left0,right,train"], ["row 2, column 'side'", "'right'"]),
        (0, ["left0,left,test"], ["row 2, column 'split'", "'test'", "train or evaluation"]),
        (0, ["left0,left,both"], ["row 2, column 'split'", "'both'"]),
        (2, ["left0,left,both"], ["row 2, column 'split'", "'both'"]),
        (0, ["left0,left,train", "left0 too,left,evaluation"], ["row 3, column 'split'", "train in row 2"]),
    ],
)
def test_bad_split_files_are_refused(tmp_path: Path, right: int, rows: list[str], expected: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_split(table(tmp_path, "id,side,split", *rows), corpus_of(2, right))
    assert [part for part in expected if part not in str(caught.value)] == []
