"""What the values of a column are: numbers and dates as people write them, and the guess from name and values."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus.field_kinds import guess_kind
from allpairs.db.corpus.field_values import day_of, number_of
from allpairs.db.corpus.text_columns import TextColumn, TextColumns
from allpairs.db.domain import FieldKind, Side

CODE, DATE, NAME, NUMBER, PRICE, TEXT = (
    FieldKind.CODE, FieldKind.DATE, FieldKind.NAME, FieldKind.NUMBER, FieldKind.PRICE, FieldKind.TEXT,
)  # fmt: skip


@pytest.mark.parametrize(
    ("value", "number"),
    [("49.99", 49.99), ("$ 1,299.00", 1299), ("1.299,00 €", 1299), ("1 299,5 €", 1299.5), ("1,299", 1299),
     ("1.299", 1.299), ("3,5", 3.5), ("-7", -7), ("19.99 USD", 19.99), ("1.299.000", 1_299_000), ("1.2.3", None),
     ("3 to 5", None), ("none", None), ("", None)],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(value: str, number: float | None) -> None:
    assert number_of(value) == (None if number is None else pytest.approx(number))


@given(st.floats(-1e9, 1e9).map(lambda value: round(value, 2)))
def test_any_amount_is_read_in_both_notations(value: float) -> None:
    english = f"{value:,.2f}"
    assert number_of(english) == number_of(english.translate(str.maketrans(",.", ".,"))) == value


@given(st.dates(date(1000, 1, 1)), st.sampled_from(["%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%B %d, %Y", "%Y-%m-%dT12:30"]))
def test_any_date_is_read(day: date, form: str) -> None:
    written = day.strftime(form).replace(day.strftime("%Y"), f"{day.year:04}", 1)
    assert day_of(written) == day.toordinal()


@pytest.mark.parametrize("value", ["2007", "200711", "12.5", "20071341", "x100", ""])
def test_what_is_no_date(value: str) -> None:
    assert day_of(value) is None


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [("price", ["49.99", "", "1,299"], PRICE), ("listed at", ["$5", "$12.50"], PRICE), ("pages", ["120", "96"], NUMBER),
     ("year", ["1999", "2004"], NUMBER), ("date_of_birth", ["19151111", "19390212"], DATE),
     ("phone", ["0301234567", "555 1234"], CODE), ("part", ["x100-b", "ff7"], CODE),
     ("maker", ["apple", "adobe systems"], NAME), ("title", ["a book about very small dogs"], TEXT),
     ("price", ["on request", "ask us"], NAME), ("empty", ["", " "], TEXT)],
)  # fmt: skip
def test_kinds_are_guessed(name: str, values: list[str], kind: FieldKind) -> None:
    assert guess_kind(name, values) == kind


def test_columns_of_two_lists_belong_together_by_name_and_survive_their_file() -> None:
    columns = TextColumns(
        {Side.LEFT: ("title", "price"), Side.RIGHT: ("Price", "name")},
        {Side.LEFT: (TEXT, PRICE), Side.RIGHT: (PRICE, NAME)},
    )
    assert columns.columns == (TextColumn("price", 1, 0, PRICE), TextColumn("title", 0, None, TEXT),
                               TextColumn("name", None, 1, NAME))  # fmt: skip
    assert TextColumns.read(columns.as_dict()) == columns
    assert TextColumns.read({"left": ["title", "price"]}) == TextColumns({Side.LEFT: ("title", "price")})
    assert TextColumns.read({"left": ["title", "price"]}).columns == ()  # type: ignore[union-attr]
    strangers = TextColumns(
        {Side.LEFT: ("a",), Side.RIGHT: ("b", "c")}, {Side.LEFT: (TEXT,), Side.RIGHT: (PRICE, NAME)}
    )
    assert strangers.columns == (TextColumn("a", 0, None, TEXT), TextColumn("b", None, 0, PRICE),
                                 TextColumn("c", None, 1, NAME))  # fmt: skip
    clash = TextColumns(
        {Side.LEFT: ("a", "b"), Side.RIGHT: ("a", "b")}, {Side.LEFT: (CODE, NAME), Side.RIGHT: (NUMBER, NAME)}
    )
    assert [column.kind for column in clash.columns] == [TEXT, NAME]


def test_a_model_takes_columns_for_what_they_were_in_training() -> None:
    trained = TextColumns({Side.LEFT: ("title", "size")}, {Side.LEFT: (TEXT, CODE)})
    other = TextColumns({Side.LEFT: ("size", "new")}, {Side.LEFT: (NUMBER, DATE)})
    assert other.of_model(trained).kinds == {Side.LEFT: [CODE, DATE]}
    assert other.of_model(None).columns == other.of_model(TextColumns({Side.LEFT: ("size",)})).columns == ()
