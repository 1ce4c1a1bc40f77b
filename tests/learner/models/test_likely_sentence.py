"""Passages: their sentences, and the one most likely to answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.models.likely_sentence import is_passage, likely_sentences, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One", ["One"]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("He said “no.” She left… early", ["He said “no.”", "She left…", "early"]),
        ("Version 3.11 is out. So", ["Version 3.11 is out.", "So"]),
        ("A title\nand its text.", ["A title", "and its text."]),
        ("今日は晴れ。明日は雨？", ["今日は晴れ。", "明日は雨？"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(alphabet="ab .!?\n。\u201d", max_size=200))
def test_sentences_cover_all_but_white_space(text: str) -> None:
    spans = sentences(text)
    places = [place for start, end in spans for place in range(start, end)]
    assert places == sorted(set(places))
    assert all(text[place].isspace() for place in set(range(len(text))) - set(places))
    assert all(text[start:end].strip() for start, end in spans)


def test_a_passage_is_long_and_has_sentences() -> None:
    assert is_passage("A sentence of some length stands here. " * 10)
    assert not is_passage("word " * 100)
    assert not is_passage("One. Two. Three.")


class Counting:
    """An encoder whose vectors count four letters."""

    def encode(self, texts: list[str], progress: object) -> np.ndarray:
        counts = np.array([[text.count(letter) + 1e-6 for letter in "abcd"] for text in texts])
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def test_the_most_similar_sentence_of_each_passage() -> None:
    passages = ["aaa. bbb. ccc.", "ddd. abc. bbb!"]
    spans = likely_sentences(Counting(), ["b", "b"], passages)  # type: ignore[arg-type]
    assert [text[start:end] for text, (start, end) in zip(passages, spans, strict=True)] == ["bbb.", "bbb!"]
