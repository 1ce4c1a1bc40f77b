"""Highlighting the words in which two texts differ."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.annotate.kit.text.diff import LONGEST, Mark, Segment, highlight, highlight_cells, likeness

WORDS = ["Do", "i", "?", " ", "\n", "東", "京", "कि", "👩\u200d👧", "e\u0301", "<b>", "3.50", "MX-510", "gb", "$", ","]
TEXTS = st.lists(st.sampled_from(WORDS)).map("".join) | st.text()


def marked(segments: list[Segment], *marks: Mark) -> list[str]:
    return [text for text, mark in segments if mark in (marks or tuple(Mark)) and mark != Mark.SAME]


def share(cells: list[list[Segment]]) -> float:
    lengths = [(len(text), mark != Mark.SAME) for segments in cells for text, mark in segments]
    return sum(n for n, is_marked in lengths if is_marked) / max(1, sum(n for n, _ in lengths))


@given(cells=st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_the_joined_runs_are_the_texts_with_at_most_half_marked(cells: list[tuple[str, str]]) -> None:
    sides = highlight_cells(cells)
    joined = [["".join(text for text, _ in segments) for segments in side] for side in sides]
    assert joined == [[cell[at] for cell in cells] for at in (0, 1)]
    assert max(map(share, sides)) <= 0.5


@given(words=st.lists(st.sampled_from(WORDS)), order=st.randoms())
def test_a_text_does_not_differ_in_capitals_or_order(words: list[str], order: object) -> None:
    text, other = " ".join(words), [word.upper() if word.isascii() else word for word in words]
    order.shuffle(other)  # type: ignore[attr-defined]
    assert not any(marked(segments) for segments in highlight(text, " ".join(other)))


@pytest.mark.parametrize(
    ("left", "right", "only_left", "only_right"),
    [
        ("How do I  reset it?", "how can I reset it?", ["do"], ["can"]),
        ("one two three four", "one four", ["two three"], []),
        ("four three two one", "one four", ["three two"], []),
        ("東京都に行く", "京都に行く", ["東"], []),
        ("यह मेरी किताब", "यह मेरी किताबें", ["किताब"], ["किताबें"]),
        ("a family 👨\u200d👩\u200d👧", "a family 👨\u200d👩\u200d👦", ["👨\u200d👩\u200d👧"], ["👨\u200d👩\u200d👦"]),
        ("an e-mail, in a notebook", "an email - in a note book", [], []),
        ("the café in the city", "the cafe in the city", [], []),
        ("who wrote the book, say", "who wrote what, say", ["the book"], ["what"]),
        ("see the words of the song", "see the words of a song", ["the"], ["a"]),  # the other has it only once
    ],
)  # fmt: skip
def test_words_that_only_one_text_has_are_marked(
    left: str, right: str, only_left: list[str], only_right: list[str]
) -> None:
    assert [marked(run) for run in highlight(left, right)] == [only_left, only_right]


@pytest.mark.parametrize(
    ("left", "right", "strong"),
    [
        ("Canon printer MX-510, 20 pages", "Canon printer MX-512, 20 pages", (["510"], ["512"])),
        ("a phone with 64 GB of memory", "a phone with 64 MB of memory", (["GB"], ["MB"])),
        ("the ticket costs $ 20 today", "the ticket costs € 20 today", (["$"], ["€"])),
        ("it costs 1,000.50 here", "it costs 1000.5 here", ([], [])),
        ("a laptop with 16GB and wifi", "a laptop with 16 gb and wifi", ([], [])),
        ("a phone with 1 2 slots", "a phone with 12 slots", (["1 2"], ["12"])),
        ("one of five", "a text that shares no word with it but the year 2004", ([], ["2004"])),
    ],
)
def test_numbers_codes_and_units_are_marked_strongly(
    left: str, right: str, strong: tuple[list[str], list[str]]
) -> None:
    assert tuple(marked(run, Mark.STRONG) for run in highlight(left, right)) == strong


def test_another_spelling_of_a_word_is_marked_weakly() -> None:
    left, right = highlight("which color does the new car have", "which colour does the new cat have")
    assert (marked(left, Mark.NEAR), marked(left, Mark.DIFFERS)) == (["color"], ["car"])
    assert (marked(right, Mark.NEAR), marked(right, Mark.DIFFERS)) == (["colour"], ["cat"])


def test_only_numbers_are_marked_where_more_than_half_differs() -> None:
    left, right = highlight("Room 12 is free on Monday", "On Monday we could not find anything to eat in hall 14")
    assert (marked(left), marked(right)) == (["12"], ["14"])


def test_the_values_of_a_record_are_compared_column_by_column() -> None:
    cells = [
        ("Pro camera, black", "Pro camera, silver"),
        ("499.00", "399"),
        ("Acme", ""),
        ("2004", "2004"),
        ("1.499,00 €", "1499.00"),
    ]
    left, right = highlight_cells(cells)
    assert [marked(segments) for segments in left] == [["black"], ["499.00"], [], [], []]
    assert [marked(segments) for segments in right] == [["silver"], ["399"], [], [], []]


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [("Anna Schmidt", "Bob Meier", "different"), ("Anna Schmidt", "anna  schmidt", "same"),
     ("Smith", "Smyth", "similar"),
     ("anna@x.com", "bob@x.com", "different"), ("499.00", "499", "same"), ("499", "399", "different"),
     ("21.04.2022", "2022-04-21", "same"), ("1.499,00 €", "1499.00", "same"), ("Acme", "Acme Corporation", "similar"),
     ("", "x", ""), ("n/a", "n/a", ""), ("ＫＩＴ－5", "KIT-5", "same"), ("😀", "🚗", "different"),
     ("MX-510", "MX-512", "different"),
     (f"2024-03-05 10:00 {'the door is open ' * 9}", f"2024-03-05 10:00 {'a car stood on a lawn ' * 9}", "different")],
)  # fmt: skip
def test_each_cell_says_how_alike_its_values_are(left: str, right: str, alike: str) -> None:
    assert likeness(left, right) == likeness(right, left) == alike


@given(TEXTS, TEXTS)
def test_likeness_is_symmetric_and_equal_values_never_differ(left: str, right: str) -> None:
    assert likeness(left, right) == likeness(right, left)
    assert likeness(left, left) in ("same", "")


def test_very_long_texts_are_compared_in_time() -> None:
    left, right = (f"word w{i} and " * 1_500 + side for i, side in ((1, "left"), (2, "right")))
    started = time.perf_counter()
    runs = highlight(left, right)
    assert time.perf_counter() - started < 1
    assert marked(runs[0])[-1] == "left" and marked(runs[1])[-1] == "right"


def test_what_is_longer_than_a_page_is_cut_and_the_rest_counted() -> None:
    shown = "".join(text for text, _ in highlight("x" * (LONGEST + 1234), "y")[0])
    assert shown == "x" * LONGEST + " … (1,234 more characters are not shown)"
