"""Highlighting the words in which two texts differ."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.annotate.text.diff import LONGEST, MOST_WORDS, Segment, highlight

TEXTS = st.lists(
    st.sampled_from(["how", "Do", "i", "?", " ", "\n", "東", "京", "कि", "👩\u200d👧", "e\u0301", "<b>"])
).map("".join)


def marked(segments: list[Segment]) -> list[str]:
    return [text for text, differs in segments if differs]


@given(left=TEXTS | st.text(), right=TEXTS | st.text())
def test_the_runs_joined_are_the_texts(left: str, right: str) -> None:
    assert tuple("".join(text for text, _ in run) for run in highlight(left, right)) == (left, right)


@given(text=TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert not any(marked(run) for run in highlight(text, text.upper() if text.isascii() else text))


@pytest.mark.parametrize(
    ("left", "right", "only_left", "only_right"),
    [
        ("How do I  reset it?", "how can I reset it?", ["do"], ["can"]),
        ("one two three four", "one four", ["two three"], []),
        ("", "new", [], ["new"]),
        ("東京都に行く", "京都に行く", ["東"], []),
        ("किताब यह", "किताबें यह", ["किताब"], ["किताबें"]),
        ("a 👨\u200d👩\u200d👧", "a 👨\u200d👩\u200d👦", ["👨\u200d👩\u200d👧"], ["👨\u200d👩\u200d👦"]),
    ],
)
def test_words_that_only_one_text_has_are_marked(
    left: str, right: str, only_left: list[str], only_right: list[str]
) -> None:
    assert [marked(run) for run in highlight(left, right)] == [only_left, only_right]


def test_very_long_texts_are_compared_by_their_words_in_time() -> None:
    left = " ".join(f"w{i % 7}" for i in range(MOST_WORDS)) + " left"
    right = " ".join(f"w{i % 5}" for i in range(MOST_WORDS)) + " right"
    started = time.perf_counter()
    runs = highlight(left, right)
    assert time.perf_counter() - started < 1
    assert set(" ".join(marked(runs[0])).split()) == {"w5", "w6", "left"}
    assert marked(runs[1]) == ["right"]


def test_what_is_longer_than_a_page_is_cut_and_the_rest_counted() -> None:
    shown = "".join(text for text, _ in highlight("x" * (LONGEST + 1234), "y")[0])
    assert shown == "x" * LONGEST + " … (1,234 more characters are not shown)"
