"""Published data sets as the product's files: what is read, closed, split, and counted."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus import graph
from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.split import read_split
from allpairs.db.domain import Side, Split
from allpairs.db.errors import InputError
from allpairs.learner.experiment.paper import printed
from allpairs.learner.published import ADAPTERS, Options, Titles
from allpairs.learner.published.quora import read_quora
from allpairs.learner.published.released import (
    PARTS,
    GivenPair,
    Released,
    Text,
    draw_parts,
    evaluated_part,
    without_conflicts,
    write_released,
)
from allpairs.learner.published.table1 import load_written, statistics
from tests.helpers.files.released_files import QUORA_HEADER, WIKIQA, write_quora, write_wikiqa

# Worked numbers: positives (1,2)(2,3)(4,5), negatives (3,4)(6,7), and 8 by itself.
WORKED = [("1", "2", 1), ("2", "3", 1), ("4", "5", 1), ("3", "4", 0), ("6", "7", 0), ("8", "8", 1)]


def qqp(path: Path, seed: int = 0) -> Released:
    return ADAPTERS["qqp"](path, Options(seed=seed))


def written(released: Released, folder: Path, evaluated: str = "test") -> Corpus:
    """Return the split corpus of the written files."""
    write_released(released, evaluated, folder)
    right = folder / "right.csv" if released.right else None
    return read_split(folder / "split.csv", load_corpus(folder / "left.csv", right, folder / "gold.csv"))


def everything(released: Released) -> Released:
    """Return the same with all items in one part, so that none is left out."""
    return Released(**{**vars(released), "parts": dict.fromkeys(released.parts, "train")})


def test_closure_and_components_of_the_worked_example(tmp_path: Path) -> None:
    released = qqp(write_quora(tmp_path / "quora_duplicate_questions.tsv", WORKED))
    corpus = written(everything(released), tmp_path / "out")
    names = [item.ids[0] for item in corpus.items]
    pairs = {(names[pair.left], names[pair.right]): pair.positive for pair in corpus.gold}
    assert {pair for pair, positive in pairs.items() if positive} == {("1", "2"), ("1", "3"), ("2", "3"), ("4", "5")}
    assert {pair for pair, positive in pairs.items() if not positive} == {("3", "4"), ("6", "7")}
    parts = [qqp(tmp_path / "quora_duplicate_questions.tsv", seed).parts for seed in range(200)]
    together = {
        (one, other)
        for one in released.parts
        for other in released.parts
        if all(drawn[one] == drawn[other] for drawn in parts)
    }
    components = ({"1", "2", "3", "4", "5"}, {"6", "7"}, {"8"})
    assert together == {(one, other) for part in components for one in part for other in part}


@given(
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=40),
    st.lists(st.integers(0, 9), min_size=30, max_size=30),
    st.integers(0, 999),
)
def test_no_given_pair_and_no_text_is_separated(pairs: list[tuple[int, int]], words: list[int], seed: int) -> None:
    texts = [f"text {word if word < 3 else i + 10}" for i, word in enumerate(words)]
    parts = draw_parts(texts, pairs, np.random.default_rng(seed))
    assert set(parts) <= set(PARTS)
    assert all(parts[one] == parts[other] for one, other in pairs)
    assert all(parts[i] == parts[j] for i in range(30) for j in range(i) if texts[i] == texts[j])


def test_parts_have_the_papers_shares_and_follow_the_seed() -> None:
    texts = [f"text {i}" for i in range(20_000)]
    parts = draw_parts(texts, (), np.random.default_rng(0))
    shares = [parts.count(part) / len(parts) for part in PARTS]
    assert shares == pytest.approx([0.5, 0.25, 0.25], abs=0.015)
    assert parts == draw_parts(texts, (), np.random.default_rng(0)) != draw_parts(texts, (), np.random.default_rng(1))


@given(
    st.dictionaries(st.tuples(st.integers(0, 14), st.integers(0, 14)), st.integers(0, 1), max_size=30),
    st.integers(2, 15),
)
def test_closure_wins(pairs: dict[tuple[int, int], int], distinct: int) -> None:
    texts = [f"text {i % distinct}" for i in range(15)]
    kept, conflicts = without_conflicts(texts, pairs)
    assert len(kept) + conflicts == len(pairs)
    assert {pair for pair, label in kept.items() if label} == {pair for pair, label in pairs.items() if label}
    same = [(i, i % distinct) for i in range(15)]
    component = graph.components(15, same + [pair for pair, label in pairs.items() if label])
    assert all((component[i] == component[j]) == (label == 1) for (i, j), label in kept.items())


def test_conflicts_are_left_out_counted_and_reported(tmp_path: Path) -> None:
    pairs = [*WORKED, ("1", "3", 0), ("2", "1", 0)]  # implied positive; stated both ways
    released = qqp(write_quora(tmp_path / "q.tsv", pairs))
    assert released.conflicts == 1
    assert any("1 given negative" in note for note in released.notes)
    assert GivenPair("1", "2", 1) in released.gold
    assert not {("1", "3"), ("3", "1")} & {(pair.id1, pair.id2) for pair in released.gold}
    assert not any("conflict" in note for note in written(everything(released), tmp_path / "out").notes)


def test_questions_of_one_text_are_one_question(tmp_path: Path) -> None:
    texts = {"1": "Same  words?", "9": "Same words?"}
    released = qqp(write_quora(tmp_path / "q.tsv", [("1", "2", 1), ("9", "7", 1), ("2", "7", 0)], texts))
    assert len(set(released.parts.values())) == 1
    assert released.conflicts == 1  # 2 and 7 are both duplicates of the one text
    assert len(written(everything(released), tmp_path / "out").items) == 3


def test_quoted_spanning_broken_and_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "quora_duplicate_questions.tsv"
    path.write_text(
        QUORA_HEADER
        + '0\t1\t2\t"What is ""X""?"\tWhat is a 5" pipe?\t1\n'
        + "1\t3\t4\tbroken\n"
        + '2\t5\t6\t"A question\nof two lines?"\tOne line?\t0\n'
        + "3\t7\t8\t\tThe other is empty?\t0\n"
        + '4\t9\t10\t"Why?\tBecause?\t1\n'
        + "5\t11\t12\tlast"
    )
    rows, broken = read_quora(path)
    assert broken == 2
    assert [(row.question1, row.question2, row.label) for row in rows] == [
        ('What is "X"?', 'What is a 5" pipe?', "1"),
        ("A question of two lines?", "One line?", "0"),
        ("", "The other is empty?", "0"),
        ('"Why?', "Because?", "1"),
    ]
    cells, empty = qqp(path).notes
    assert "2 lines without six" in cells
    assert "1 pair with an empty" in empty


def test_a_folder_a_packed_file_and_commas_read_alike(tmp_path: Path) -> None:
    plain = write_quora(tmp_path / "quora_duplicate_questions.tsv", WORKED)
    expected = qqp(plain)
    packed = tmp_path / "packed.tsv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    commas = tmp_path / "train.csv"
    commas.write_text(plain.read_text().replace("\t", ","))
    assert qqp(tmp_path) == qqp(packed) == qqp(commas) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\n1\t2\n", "row 1: the columns are not id, qid1"),
        (QUORA_HEADER, "no row below it"),
        (QUORA_HEADER + "0\t1\t2\ta\tb\tyes\n", "the label is 'yes', not 0 or 1"),
        (b"id\xff\n", "byte 3 is not UTF-8"),
    ],
)
def test_files_that_are_not_quoras_are_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "q.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message) as refused:
        qqp(path)
    assert "\n" not in str(refused.value)


def test_glues_split_of_the_pairs_is_kept(tmp_path: Path) -> None:
    write_quora(tmp_path / "train.tsv", [("1", "2", 1), ("1", "3", 0), ("4", "5", 0)], {"5": ""})
    write_quora(tmp_path / "dev.tsv", [("2", "3", 0), ("6", "7", 1)])
    released = ADAPTERS["glue_qqp"](tmp_path, Options())
    assert released.labels == [GivenPair("1", "2", 1), GivenPair("1", "3", 0)]
    assert released.gold == [GivenPair("2", "3", 0), GivenPair("6", "7", 1)]
    corpus = written(released, tmp_path / "out", evaluated_part(released, None))
    measured = {name for item in corpus.items if item.split == Split.EVALUATION for name in item.ids}
    assert measured == {"2", "3", "6", "7"}
    assert (tmp_path / "out" / "labels.csv").read_text() == "id1,id2,label\n1,2,1\n1,3,0\n"
    assert any("1 row without six cells" in note for note in released.notes)


@pytest.mark.parametrize(
    ("name", "what"), [("qqp", "quora_duplicate"), ("glue_qqp", "no train.tsv"), ("wikiqa", "WikiQA-train.tsv")]
)
def test_an_empty_folder_is_refused(tmp_path: Path, name: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        ADAPTERS[name](tmp_path, Options())


def test_wikiqa_splits_the_left_and_keeps_all_sentences_right(tmp_path: Path) -> None:
    released = ADAPTERS["wikiqa"](write_wikiqa(tmp_path), Options(titles=Titles.NEVER))
    assert released.left[0] == Text("Q1", "who wrote it ?")
    assert released.right is not None
    assert [text for _, text in released.right] == [
        'The "novel" is by Ann .', "It is long .", 'Some say "very .', "In the north .", "It is old .",
    ]  # fmt: skip
    assert released.conflicts == 1  # the sentence of the dev question is right and wrong
    corpus = written(released, tmp_path / "out", "dev")
    assert [(item.ids[0], item.split) for item in corpus.items if item.side == Side.LEFT] == [
        ("Q1", Split.TRAIN), ("Q2", Split.TRAIN), ("Q3", Split.EVALUATION),
    ]  # fmt: skip
    assert {item.split for item in corpus.items if item.side == Side.RIGHT} == {Split.SHARED}


@pytest.mark.parametrize(
    ("titles", "missing", "first"),
    [
        (Titles.AUTO, False, 'Novel . The "novel" is by Ann .'),
        (Titles.AUTO, True, 'The "novel" is by Ann .'),
        (Titles.ALWAYS, True, 'Novel . The "novel" is by Ann .'),
        (Titles.NEVER, False, 'The "novel" is by Ann .'),
    ],
)
def test_titles_are_never_mixed_unless_asked_for(tmp_path: Path, titles: Titles, missing: bool, first: str) -> None:
    untitled = [(name, question, "", text, label) for name, question, _, text, label in WIKIQA["test"]]
    parts = {**WIKIQA, "test": untitled} if missing else WIKIQA
    released = ADAPTERS["wikiqa"](write_wikiqa(tmp_path, parts), Options(titles=titles))
    assert released.right is not None
    assert released.right[0].text == first
    assert released.right[-1].text == ("It is old ." if missing or titles == Titles.NEVER else "Town . It is old .")
    assert any("2 of 8 rows have no title" in note for note in released.notes) == missing


def test_a_text_of_two_parts_only_measures(tmp_path: Path) -> None:
    left = [Text("a", "one"), Text("b", "two"), Text("c", "one")]
    gold = [GivenPair("a", "p", 1), GivenPair("b", "p", 1)]
    released = Released("made", left, [Text("p", "passage")], gold, {"a": "train", "b": "train", "c": "test"})
    (note,) = write_released(released, "test", tmp_path)
    assert note.startswith("1 text is in two")
    corpus = read_split(
        tmp_path / "split.csv", load_corpus(tmp_path / "left.csv", tmp_path / "right.csv", tmp_path / "gold.csv")
    )
    assert [(item.ids, item.split) for item in corpus.items if item.side == Side.LEFT] == [
        (("a", "c"), Split.EVALUATION), (("b",), Split.TRAIN),
    ]  # fmt: skip
    figures = statistics(load_written(tmp_path, released), released)
    assert figures["train"] == {"positives": 1, "pairs": 1, "stated_negatives": 0}
    assert figures["test"] == {"positives": 1, "pairs": 1, "stated_negatives": 0}


def test_figures_are_of_the_closed_pairs_of_each_part(tmp_path: Path) -> None:
    released = everything(qqp(write_quora(tmp_path / "q.tsv", WORKED)))
    write_released(released, "test", tmp_path / "out")
    corpus = load_written(tmp_path / "out", released)
    assert statistics(corpus, released) == {"train": {"positives": 4, "pairs": 28, "stated_negatives": 2}}

    def encode(texts: list[str]) -> np.ndarray:
        return np.eye(len(texts), dtype=np.float32)

    # Every question has the other seven among its 100 neighbours.
    assert statistics(corpus, released, encode)["train"]["near_negatives"] == 28 - 4


def test_the_part_that_measures(tmp_path: Path) -> None:
    released = Released("made", [Text("a", "x"), Text("b", "y")], None, [], {"a": "train", "b": "dev"})
    assert evaluated_part(released, None) == evaluated_part(released, "dev") == "dev"
    with pytest.raises(InputError, match=r"no part 'test'.* dev"):
        evaluated_part(released, "test")
    with pytest.raises(InputError, match="it has train"):
        evaluated_part(everything(released), None)


def test_the_papers_table_1_is_consistent() -> None:
    parts = [printed("table1", "qqp", part) for part in PARTS]
    assert sum(part["positives"] for part in parts) == 228_548  # the closure of all duplicates
    assert sum(part["stated_negatives"] for part in parts) == 255_016  # of 255,027: the others are conflicts
    assert parts[0]["positives"] + parts[0]["stated_negatives"] == 257_421
    assert math.sqrt(2 * parts[0]["pairs"]) == pytest.approx(275_700, abs=50)  # questions
    assert printed("table1", "wikiqa", "test")["near_negatives"] < 100 * 633
    assert printed("table1", "amazon_google", "test") == {}


@pytest.mark.slow
def test_wikiqa_from_parquet_has_the_papers_figures(real_data: Path, tmp_path: Path) -> None:
    released = ADAPTERS["wikiqa"](real_data / "wikiqa", Options())
    write_released(released, "test", tmp_path)
    for part, found in statistics(load_written(tmp_path, released), released).items():
        paper = printed("table1", "wikiqa", part)
        assert found["positives"] == paper["positives"]
        assert found["pairs"] == pytest.approx(paper["pairs"], rel=0.03)  # the paper prints two digits
        assert paper["stated_negatives"] - 5 <= found["stated_negatives"] <= paper["stated_negatives"]


@pytest.mark.slow
def test_qqp_from_parquet_keeps_its_split_and_its_closure(real_data: Path, tmp_path: Path) -> None:
    released = ADAPTERS["qqp"](real_data / "qqp", Options())
    write_released(released, "dev", tmp_path)
    figures = statistics(load_written(tmp_path, released), released)
    assert sum(part["positives"] for part in figures.values()) == 157_077
    assert set(figures) == {"train", "dev"}
