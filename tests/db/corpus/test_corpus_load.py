"""A corpus from files: identical texts, gold pairs, closure, and warnings about odd data."""

import json
import unicodedata
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus import gold, graph
from allpairs.db.corpus.corpus import Columns, Corpus, CorpusItem, GoldPair, load_corpus
from allpairs.db.corpus.fields import joined_values
from allpairs.db.corpus.split import read_split
from allpairs.db.domain import Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.identity import identity


def table(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def items(folder: Path, n: int = 5, name: str = "items.csv", prefix: str = "") -> Path:
    return table(folder / name, "id,text", *(f"{prefix}{i},text {prefix}{i}" for i in range(1, n + 1)))


def refusal(*files: Path | None, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        load_corpus(*files, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def pairs(corpus: Corpus) -> set[tuple[str, str, bool, bool]]:
    return {(corpus.items[a].ids[0], corpus.items[b].ids[0], label, closed) for a, b, label, closed in corpus.gold}


def test_one_list_is_symmetric(tmp_path: Path) -> None:
    corpus = load_corpus(items(tmp_path, 2))
    assert corpus == Corpus(
        Kind.SYMMETRIC, [CorpusItem(("1",), Side.LEFT, "text 1"), CorpusItem(("2",), Side.LEFT, "text 2")], [], []
    )


def test_two_lists_are_bipartite_and_may_share_ids_and_texts(tmp_path: Path) -> None:
    left, right = items(tmp_path, 2), items(tmp_path, 3, "right.csv")
    corpus = load_corpus(left, right, table(tmp_path / "gold.csv", "id1,id2", "2,1", "1,2"))
    assert corpus.kind == Kind.BIPARTITE
    assert [item.side for item in corpus.items] == [Side.LEFT] * 2 + [Side.RIGHT] * 3
    assert corpus.gold == [GoldPair(1, 2, True), GoldPair(0, 3, True)]  # no closure


def test_the_right_file_may_have_columns_of_its_own(tmp_path: Path) -> None:
    right = table(tmp_path / "right.csv", "key,title,body", "1,T,b")
    corpus = load_corpus(items(tmp_path, 1), right, right_columns=Columns("key", ("title", "body")))
    assert corpus.items[1] == CorpusItem(("1",), Side.RIGHT, "T . b", lengths=(1, 1))
    assert corpus.columns and corpus.columns.names == {Side.LEFT: ("text",), Side.RIGHT: ("title", "body")}


def test_identical_texts_are_one_item_with_several_ids(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "id,text", "1,  café  au lait ", "2,cafe\u0301 au\u00a0lait", "3,Café au lait")
    corpus = load_corpus(path)
    assert [(item.ids, item.text) for item in corpus.items] == [
        (("1", "2"), "café  au lait"),
        (("3",), "Café au lait"),
    ]
    assert "2 rows" in corpus.notes[0]
    assert "'1' and '2'" in corpus.notes[0]


def test_texts_that_differ_in_character_forms_alone_are_one_item(tmp_path: Path) -> None:
    corpus = load_corpus(table(tmp_path / "a.csv", "id,text", "1,ﬁve ｍ²", "2,five m2", "3,five m3"))
    assert [item.ids for item in corpus.items] == [("1", "2"), ("3",)]


def test_ids_are_the_same_however_their_letters_are_composed(tmp_path: Path) -> None:
    composed, decomposed = "Köln", unicodedata.normalize("NFD", "Köln")
    texts = table(tmp_path / "items.csv", "id,text", f"{decomposed},one", "2,two")
    gold_pairs = table(tmp_path / "gold.csv", "id1,id2", f"{composed},2")
    corpus = load_corpus(texts, gold=gold_pairs)
    assert corpus.gold == [GoldPair(0, 1, True)] and corpus.items[0].ids == (decomposed,)  # as it came in
    assert corpus.positions(Side.LEFT)[composed] == corpus.positions(Side.LEFT)[decomposed] == 0
    split = table(tmp_path / "split.csv", "id,split", f"{composed},train", "2,evaluation")
    assert [item.split for item in read_split(split, corpus).items] == ["train", "evaluation"]
    twice = table(tmp_path / "twice.csv", "id,text", f"{composed},one", f"{decomposed},two")
    assert "row 3" in refusal(twice) and "already in row 2" in refusal(twice)


def test_invisible_texts_are_refused_and_emoji_stay_apart(tmp_path: Path) -> None:
    for text in ("\u200b", "\u200d", "\xad", "\ufeff\u2060", "\u3164", "\u2800"):
        assert "row 3" in refusal(table(tmp_path / "blank.csv", "id,text", "1,one", f"2,{text}"))
    emoji = [
        "😀",
        "🚗",
        "👨\u200d👩\u200d👧",
        "👨👩👧",
        "🏴",
        "🏴\U000e0067\U000e0062\U000e0065\U000e007f",
        "👍",
        "👍🏽",
        "#",
    ]
    rows = [f"{place},{text}" for place, text in enumerate(emoji)]
    assert len(load_corpus(table(tmp_path / "emoji.csv", "id,text", *rows)).items) == len(emoji)


def test_text_columns_are_joined_and_empty_ones_skipped(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "id,title,text", "1,Glacier cave, A cave ", "2,,no title", "3, ,x")
    corpus = load_corpus(path, text_columns=["title", "text"])
    assert [item.text for item in corpus.items] == ["Glacier cave . A cave", "no title", "x"]
    path = table(tmp_path / "b.csv", "id,title,text", "1,a,b", "2, ,")
    assert "b.csv, row 3, column 'title + text'" in refusal(path, text_columns=["title", "text"])


def test_a_joined_text_is_no_longer_than_any_other(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "id,title,text", f"1,{'x' * 60_000},{'y' * 60_000}", "2,a,b")
    said = refusal(path, text_columns=["title", "text"])
    assert "a.csv, row 2, column 'title + text'" in said and "120,003 characters, but the limit is 100,000" in said


def test_the_first_of_identical_texts_gives_the_columns(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "id,title,text", "1,a . b,c", "2,a,b . c", "3,x,y")
    first, second = load_corpus(path, text_columns=["title", "text"]).items
    assert (first.ids, joined_values(first.text, first.lengths)) == (("1", "2"), ["a . b", "c"])
    assert joined_values(second.text, second.lengths) == ["x", "y"]


def test_one_text_column_has_no_name(tmp_path: Path) -> None:
    corpus = load_corpus(items(tmp_path), items(tmp_path, 2, "right.csv"))
    assert corpus.columns is None and {item.lengths for item in corpus.items} == {()}


def test_closure_as_in_the_specification(tmp_path: Path) -> None:
    path = table(tmp_path / "gold.csv", "id1,id2", "1,2", "3,2", "4,5")
    found = pairs(load_corpus(items(tmp_path), gold=path))
    assert found == {("1", "2", True, False), ("1", "3", True, True), ("2", "3", True, False), ("4", "5", True, False)}


def test_labels_in_every_spelling(tmp_path: Path) -> None:
    labels = ["1", "true", "Positive", " 1 ", "0", "FALSE", "negative"]
    rows = [f"{i},{i + 1},{label}" for i, label in enumerate(labels, 1)]
    path = table(tmp_path / "gold.csv", "id1,id2,label", *rows)
    corpus = load_corpus(items(tmp_path, 8, "l.csv"), items(tmp_path, 8, "r.csv"), path)
    assert [pair.positive for pair in corpus.gold] == [True] * 4 + [False] * 3


def test_json_labels_may_be_booleans(tmp_path: Path) -> None:
    rows = [json.dumps({"id1": 1, "id2": 2, "label": True}), json.dumps({"id1": 3, "id2": 4, "label": 0})]
    corpus = load_corpus(items(tmp_path), gold=table(tmp_path / "gold.jsonl", *rows))
    assert [pair.positive for pair in corpus.gold] == [True, False]


def test_conflicts_are_noted_and_the_positive_wins(tmp_path: Path) -> None:
    same = table(tmp_path / "a.csv", "id,text", "1,a", "2,b", "3,c", "4,d", "5,a")
    rows = ["1,2,1", "2,3,1", "1,3,0", "3,4,0", "4,3,0", "2,1,0", "1,5,1", "5,1,0"]
    corpus = load_corpus(same, gold=table(tmp_path / "gold.csv", "id1,id2,label", *rows))
    assert pairs(corpus) == {
        ("1", "2", True, False),
        ("2", "3", True, False),
        ("1", "3", True, True),
        ("3", "4", False, False),
    }
    notes = "\n".join(corpus.notes[1:])
    assert "1 positive pair of an item with itself (identical texts), left out (row 8: '1', '5')" in notes
    assert "1 negative pair of an item with itself (identical texts): a conflict, left out (row 9" in notes
    assert "both positive and negative: a conflict, taken as positive (row 7: '2', '1')" in notes
    assert "1 negative pair implied to be positive" in notes
    assert "(row 4: '1', '3')" in notes


@pytest.mark.parametrize("labels", [(1, 0), (0, 1), (0, 1, 0)])
@pytest.mark.parametrize("lists", [1, 2])
def test_a_pair_stated_as_both_is_positive_in_whatever_order(
    tmp_path: Path, labels: tuple[int, ...], lists: int
) -> None:
    stated = table(tmp_path / "gold.csv", "id1,id2,label", *(f"1,2,{label}" for label in labels))
    corpus = load_corpus(items(tmp_path), items(tmp_path, name="right.csv") if lists == 2 else None, stated)
    assert pairs(corpus) == {("1", "2", True, False)}
    assert "taken as positive" in corpus.notes[-1]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["1,a"], ["items.csv: 1 distinct text", "at least 2"]),
        (["1,a", "2,a"], ["items.csv: 1 distinct text"]),
        (["1,a", "1,b"], ["row 3, column 'id'", "'1' is already in row 2", "another text", "unique"]),
        (["1,a", "1,a"], ["row 3, column 'id'", "'1' is already in row 2", "the same text"]),
        (["1,a", "2, "], ["row 3, column 'text'", "empty"]),
        (["1,a", ",b"], ["row 3, column 'id'", "empty"]),
        (["1,a", f"{'9' * 501},b"], ["row 3, column 'id'", "501", "500"]),
    ],
)
def test_bad_items_are_refused(tmp_path: Path, rows: list[str], expected: list[str]) -> None:
    text = refusal(table(tmp_path / "items.csv", "id,text", *rows))
    assert [part for part in expected if part not in text] == []


def test_bad_gold_is_refused(tmp_path: Path) -> None:
    left, right = items(tmp_path, 3, "l.csv", "a"), items(tmp_path, 3, "r.csv", "b")

    def gold_refusal(*rows: str) -> str:
        return refusal(left, right, table(tmp_path / "gold.csv", *rows))

    text = gold_refusal("id1,id2", "a1,b1", "a1,b9")
    assert "row 3, column 'id2': the id 'b9'" in text
    assert "swap" in gold_refusal("id1,id2", "b1,a1")
    text = gold_refusal("id1,id2,label", "a1,b1,maybe")
    assert "row 2, column 'label': the label is 'maybe'" in text
    assert "column 'id2'" in gold_refusal("id1,other", "a1,b1")


def test_a_closure_beyond_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gold, "MAX_CLOSURE", 5)
    path = table(tmp_path / "gold.csv", "id1,id2", "1,2", "2,3", "3,4")
    text = refusal(items(tmp_path), gold=path)
    assert "6 pairs, but the limit is 5" in text
    assert "largest group has 4 items" in text


edges = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda pair: pair[0] != pair[1]), max_size=15)


def smallest_reached(n: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the smallest item reachable from each item, by passing minima to neighbours."""
    reached = list(range(n))
    for left, right in pairs * n:
        reached[left] = reached[right] = min(reached[left], reached[right])
    return reached


@given(edges)
def test_closure_is_idempotent_and_joins_exactly_the_connected(pairs: list[tuple[int, int]]) -> None:
    component = graph.components(13, pairs)
    assert component.tolist() == smallest_reached(13, pairs)
    closed = set(graph.closure(graph.joined_groups(component)))
    assert closed >= {(min(pair), max(pair)) for pair in pairs}
    again = graph.components(13, np.array(sorted(closed), dtype=np.int64).reshape(-1, 2))
    assert (again == component).all()
    assert closed == {(a, b) for a, b in combinations(range(13), 2) if component[a] == component[b]}
    # transitive: no two closed pairs share an item without closing the triangle
    assert all((min(a, c), max(a, c)) in closed for a, b in closed for x, c in closed if x == b and a != c)


@given(st.text(), st.sampled_from([" ", "\u00a0", "\n", "\t "]))
def test_identity_ignores_white_space_and_form(text: str, space: str) -> None:
    assert identity(f"{space}{text}{space}") == identity(text)
    assert identity(identity(text)) == identity(text)
