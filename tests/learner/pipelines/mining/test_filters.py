"""Filters of proposed pairs: each reason, their order, dates, and unreadable dates."""

from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus.files import read_rows
from allpairs.db.errors import InputError
from allpairs.learner.light.catalog.mining import Filters
from allpairs.learner.pipelines.mining.filters import (
    DropReason,
    KnownSeeds,
    drop_reasons,
    period,
    read_date,
    reasons_of_answers,
    within,
)

NO_SEEDS = KnownSeeds([])
LONG = "One came first. Two came then! Was three the last? It was."


def reason(x: str, y: str, seeds: KnownSeeds = NO_SEEDS, **config: Any) -> DropReason | None:
    return drop_reasons([(x, y)], Filters(**config), seeds)[0]


@pytest.mark.parametrize(
    ("x", "y", "symmetric", "expected"),
    [
        ("a  b", "c", False, DropReason.SEED),
        ("a b\n", "c", False, DropReason.SEED),
        ("ﬁne", "print", False, DropReason.SEED),
        ("c", "a b", False, None),
        ("c", "a b", True, DropReason.SEED),
        ("A b", "c", False, None),
        ("a", "b c", False, None),
    ],
)
def test_seed_pairs(x: str, y: str, symmetric: bool, expected: DropReason | None) -> None:
    seeds = KnownSeeds([("a b", "c"), ("fine", "print")], symmetric)
    assert reason(x, y, seeds) == expected
    assert reason(x, y, seeds, drop_seeds=False) is None


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("It rained in  Oslo\ntoday.", "RAINED in oslo", DropReason.VERBATIM),
        ("rained in oslo", "It rained in Oslo today.", DropReason.VERBATIM),
        ("same", "Same", DropReason.VERBATIM),
        ("It rained in Oslo.", "It rained Oslo", None),
    ],
)
def test_one_text_within_the_other(x: str, y: str, expected: DropReason | None) -> None:
    assert reason(x, y, drop_verbatim=True) == expected
    assert reason(x, y) is None


texts = st.text("aBß .\n\t", max_size=9)


@given(texts, texts, texts)
def test_whatever_a_text_is_cut_from_holds_it(before: str, part: str, after: str) -> None:
    assert within(part, f"{before} {part} {after}")


def test_too_few_sentences_of_the_first_text() -> None:
    assert reason(LONG, "y", least_sentences=4) is None
    assert reason(LONG, "y", least_sentences=5) == DropReason.SENTENCES
    assert reason("x", LONG, least_sentences=2) == DropReason.SENTENCES


def test_too_few_words_of_either_text() -> None:
    assert reason("a b c", "d e", shortest=2) is None
    assert reason("a b c", "d e", shortest=3) == reason("d e", "a b c", shortest=3) == DropReason.SHORT


@pytest.mark.parametrize(
    ("unit", "one", "other", "kept"),
    [
        ("day", "2024-01-31", "2024-01-31", True),
        ("day", "2024-01-31", "2024-01-30", False),
        ("day", "2024-01-31", "2023-01-31", False),
        ("month", "2024-01-31", "2024-01-01", True),
        ("month", "2024-01-31", "2024-02-01", False),
        ("month", "2024-01-31", "2023-01-31", False),
        ("year", "2024-01-31", "2024-12-01", True),
        ("year", "2024-01-01", "2023-12-31", False),
    ],
)
def test_dates(unit: Any, one: str, other: str, kept: bool) -> None:
    path = Path("x.csv")
    assert (period(one, unit, path) == period(f"{other}T10:00", unit, path)) is kept


def test_the_first_reason_counts() -> None:
    """Take a pair that all filters drop, and remove the filters one by one from the first on."""
    seeds = KnownSeeds([("a", "a")])
    config: dict[str, Any] = {"drop_seeds": True, "drop_verbatim": True, "least_sentences": 2, "shortest": 2}
    off = {"drop_seeds": False, "drop_verbatim": False, "least_sentences": 0, "shortest": 0}
    found = []
    for name in (*config, None):
        found += drop_reasons([("a", "a")], Filters(**config), seeds)
        if name is not None:
            config[name] = off[name]
    assert found == [reason for reason in DropReason if reason != DropReason.ANSWER] + [None]


def test_every_pair_gets_its_own_reason() -> None:
    pairs = list(product(["a b", "a"], ["c d", "c"]))
    assert drop_reasons(iter(pairs), Filters(shortest=2), KnownSeeds([("a", "c")])) == [
        None, DropReason.SHORT, DropReason.SHORT, DropReason.SEED,
    ]  # fmt: skip
    assert drop_reasons([], Filters(), NO_SEEDS) == []


def test_answers_within_their_questions() -> None:
    asked = [("Who founded  Apple inc?", "apple Inc"), ("Who founded Apple?", "Steve Jobs")]
    assert reasons_of_answers(asked) == [DropReason.ANSWER, None]


@pytest.mark.parametrize(
    "value",
    ["2024-01-31", " 2024-01-31 ", "2024-01-31T23:59:59Z", "2024-01-31 00:00:00", "2024-01-31T23:59:59.123456+05:30"],
)
def test_dates_of_cells(value: str) -> None:
    assert read_date(value, Path("x.csv"), 2) == date(2024, 1, 31)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("31.1.2024", "'31.1.2024' is not a date"),
        ("2024-02-30", "'2024-02-30' is not a date"),
        ("2024", "'2024' is not a date"),
        (" ", "the date is empty"),
    ],
)
def test_a_cell_that_is_no_date(value: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"id,day\n1,2024-01-31\n2,{value}\n")
    with pytest.raises(InputError) as raised:
        [read_date(row.values[1], path, row.number, "day") for row in read_rows(path, ["id", "day"])]
    assert str(raised.value).startswith(f"x.csv, row 3, column 'day': {what}")
