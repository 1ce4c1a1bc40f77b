"""What the values of a column are: numbers and dates as people write them, and the guess from name and values."""

from dataclasses import replace
from datetime import date
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus.field_kinds import guess_kind, note_on_values
from allpairs.db.corpus.field_values import ColumnFormat, day_of, number_of, reading_of
from allpairs.db.corpus.text_columns import TextColumn, TextColumns
from allpairs.db.domain import FieldKind, Side
from allpairs.learner.light.groups.newest import order_by

ADDRESS, CODE, DATE, EMAIL, NAME, NUMBER, ORGANISATION, PHONE, PRICE, TEXT = sorted(FieldKind)


@pytest.mark.parametrize(
    ("value", "number"),
    [("49.99", 49.99), ("$ 1,299.00", 1299), ("1.299,00 €", 1299), ("1 299,5 €", 1299.5), ("1,299", 1299),
     ("1.299", 1.299), ("3,5", 3.5), ("-7", -7), ("19.99 USD", 19.99), ("1.299.000", 1_299_000), ("1.2.3", None),
     ("3 to 5", None), ("none", None), ("", None), ("(5.00)", -5), ("($1,234.50)", -1234.5), ("(1999)", 1999),
     ("-$5.00", -5), ("€-6", -6), ("7.00-", -7), ("CHF 14.-", 14), ("5k", 5000), ("5 kg", 5), ("$3M", 3e6), ("3 m", 3),
     ("EUR 2.5 Mio", 2.5e6), ("1.5bn USD", 1.5e9)],
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


@pytest.mark.parametrize(
    ("value", "day"),
    [("03-Jan-20", date(2020, 1, 3)), ("4 Feb 71", date(1971, 2, 4)), ("March 2021", date(2021, 3, 1))],
)
def test_dates_with_short_years_or_without_days_are_read(value: str, day: date) -> None:
    assert day_of(value) == day.toordinal()
    assert guess_kind("seen", [value]) == DATE


def test_a_currency_alone_is_a_missing_price() -> None:
    assert guess_kind("price", ["$ -", "$5.00"]) == PRICE


@pytest.mark.parametrize("value", ["2007", "200711", "12.5", "20071341", "x100", ""])
def test_what_is_no_date(value: str) -> None:
    assert day_of(value) is None


@pytest.mark.parametrize(
    ("values", "numbers"),
    [(["1.499,00 €", "1.499 €", "n/a"], [1499, 1499, None]), (["1.499", "0.5", "12"], [1.499, 0.5, 12]),
     ([",89", "1.250"], [0.89, 1250]), (["1.499 €", "899 €", "2.099 €"], [1499, 899, 2099]),
     (["1,499", "2,50"], [1.499, 2.5]), (["1’499.00", "7.5"], [1499, 7.5]),
     (["−5", "1e-05", "10-20"], [-5, 1e-05, None]),
     (["EUR 256.00", "253,66 €", "1.499", "1.234.567,8"], [256, 253.66, 1499, 1234567.8])],
)  # fmt: skip
def test_a_column_has_one_decimal_sign(values: list[str], numbers: list[float | None]) -> None:
    assert [number_of(value, reading_of(values)) for value in values] == numbers


@pytest.mark.parametrize(
    ("values", "days"),
    [(["04/25/2024", "05/04/2024"], ["2024-04-25", "2024-05-04"]),
     (["25.4.24", "5.4.24"], ["2024-04-25", "2024-04-05"]),
     (["04/25/2024", "04/26/2024", "27/04/2024", "05/04/2024"],
      ["2024-04-25", "2024-04-26", "2024-04-27", "2024-05-04"]),
     (["3/5/2024", "4/5/2024"], ["2024-05-03", "2024-05-04"]), (["5 mars 2024", "tbd"], ["2024-03-05", None]),
     (["5. März 2024", "2024年3月5日", "March 5th, 2024"], ["2024-03-05"] * 3)],
)  # fmt: skip
def test_a_column_has_one_order_of_day_and_month(values: list[str], days: list[str | None]) -> None:
    found = [day_of(value, reading_of(values)) for value in values]
    assert [day and date.fromordinal(day).isoformat() for day in found] == days


WRITTEN = st.sampled_from(
    ["1.499", "1,499", "2,50", "1.5", "$ 9", "3/5/2024", "13/5/2024", "5/13/2024", "n/a", "x", ""]
)


@given(st.lists(WRITTEN, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_rows_never_changes_a_reading(values: list[str], random: Random) -> None:
    mixed = random.sample(values, len(values))
    for kind in (None, PRICE, DATE):
        assert reading_of(values, kind) == reading_of(mixed, kind)
    assert guess_kind("column", values) == guess_kind("column", mixed)
    ranks = [dict(zip(some, order_by("column", some).rank.tolist(), strict=True)) for some in (values, mixed)]
    assert str(sorted(ranks[0].items())) == str(sorted(ranks[1].items()))  # NaN differs from itself
    assert note_on_values(DATE, lambda: values) == note_on_values(DATE, lambda: mixed)


def test_values_that_cannot_be_read_are_counted() -> None:
    assert note_on_values(PRICE, lambda: ["on request", "", "1.50", "n/a"]).startswith("2 values")
    assert "day first" in note_on_values(DATE, lambda: ["3/5/2024"])
    assert not note_on_values(DATE, lambda: ["13/5/2024", "3/5/2024"])
    assert not note_on_values(NAME, lambda: ["n/a"])


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [("price", ["49.99", "", "1,299"], PRICE), ("listed at", ["$5", "$12.50"], PRICE), ("pages", ["120", "96"], NUMBER),
     ("year", ["1999", "2004"], NUMBER), ("date_of_birth", ["19151111", "19390212"], DATE),
     ("phone", ["0301234567", "555 1234"], PHONE), ("part", ["x100-b", "ff7"], CODE),
     ("maker", ["apple", "adobe systems"], NAME), ("title", ["a book about very small dogs"], TEXT),
     ("price", ["on request", "ask us"], NAME), ("empty", ["", " "], TEXT)],
)  # fmt: skip
def test_kinds_are_guessed(name: str, values: list[str], kind: FieldKind) -> None:
    assert guess_kind(name, values) == kind


# Of each kind: values of three languages, and what their columns are called in English, German and French.
COLUMNS = {
    EMAIL: (["a.meier@web.de", "j.dupont@orange.fr", ""], "E-Mail, email address, mail, courriel, Adresse e-mail"),
    PHONE: (
        ["+49 30 1234567", "01 23 45 67 89", "(212) 555-1234 ext. 5", "0171/2345678"],
        "Tel., phone, Handy, Mobiltelefon, Téléphone, Tél. portable, Telefax, N° de téléphone, workPhone",
    ),
    ADDRESS: (
        ["Hauptstr. 12", "Am Markt 3", "12 rue de la Paix", "5 High Street"],
        "Straße, STRASSE, Straße und Hausnummer, rue, street, mailing_address, Adresse, Anschrift, companyAddress",
    ),
    ORGANISATION: (
        ["Müller & Söhne GmbH", "Acme Inc.", "Dupont S.A.R.L.", "Weber AG"],
        "Firma, Firmenname, société, company, Company Name, Raison sociale, Organisation, organization",
    ),
    CODE: (
        ["10115", "75001", "1010", "0815"],
        "PLZ, Postleitzahl, code postal, zip code, Kundennummer, Kunden-Nr., id",
    ),
    DATE: (["13.04.1981", "1975-02-03", "3 mars 1990"], "Geburtsdatum, date de naissance, birth date, created"),
    PRICE: (["12", "1.499,00", "3"], "Preis, prix, Prix unitaire, price, Kaufpreis, montant, Kosten"),
    NAME: (["Anna Meier", "Jean Dupont", "Ann-Marie"], "Name, Vorname, nom, prénom, surname, Ort, ville, city"),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_names_say_what_columns_are_in_three_languages(kind: FieldKind) -> None:
    values, names = COLUMNS[kind]
    assert {name: guess_kind(name, values) for name in names.split(", ")} == dict.fromkeys(names.split(", "), kind)


@pytest.mark.parametrize("kind", [kind for kind in COLUMNS if kind not in (CODE, PRICE)])
def test_values_say_what_columns_are_where_names_do_not(kind: FieldKind) -> None:
    values, names = COLUMNS[kind]
    assert guess_kind("Feld 7", values) == kind
    strange = guess_kind(names.split(", ")[0], ["true", "false"])
    assert strange in (ADDRESS, NAME, ORGANISATION)  # no e-mail, phone or date; names for whatever has words


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("Adresse", ["a@b.de", "c@d.fr"], EMAIL),
        ("address", ["https://x.org/a", "http://y.org"], NAME),
        ("Straße", ["12", "13"], NUMBER),
        ("company size", ["50", "100"], NUMBER),
        ("phone", ["iPhone 12", "Galaxy"], NAME),
        ("ref", ["1 234,50", "12"], NUMBER),
        ("x", ["0815", "0123456"], NUMBER),
        ("Total HT", ["12,50", "3"], PRICE),
        ("number of rooms", ["3", "4"], NUMBER),
        ("confirmed", ["yes", "no"], NAME),
    ],
)
def test_values_contradict_names(name: str, values: list[str], kind: FieldKind) -> None:
    assert guess_kind(name, values) == kind


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=4))
def test_any_column_has_a_kind(name: str, values: list[str]) -> None:
    assert guess_kind(name, values) in FieldKind
    assert guess_kind(name, ["\u0301", "´"]) in FieldKind


def test_columns_of_two_lists_join_by_name_and_survive_a_file() -> None:
    columns = TextColumns(
        {Side.LEFT: ("title", "price"), Side.RIGHT: ("Price", "name")},
        {Side.LEFT: (TEXT, PRICE), Side.RIGHT: (PRICE, NAME)},
    )
    assert columns.columns == (TextColumn("price", 1, 0, PRICE), TextColumn("title", 0, None, TEXT),
                               TextColumn("name", None, 1, NAME))  # fmt: skip
    assert TextColumns.read(columns.as_dict()) == columns
    written = replace(columns, readings={side: (ColumnFormat(","), ColumnFormat(day_first=False)) for side in Side})
    assert TextColumns.read(written.as_dict()) == written and written.reading(Side.RIGHT, 0) == ColumnFormat(",")
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
