"""Text columns: joined and taken apart again, and those of two lists side by side."""

from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.corpus.fields import Aligned, aligned, joined, joined_values


@given(st.lists(st.text(alphabet="a .é🎈\n"), min_size=1, max_size=5))
def test_values_come_back_from_the_joined_text(values: list[str]) -> None:
    text, lengths = joined(values)
    assert joined_values(text, lengths) == [value.strip() for value in values]
    assert text == " . ".join(value.strip() for value in values if value.strip())


def test_one_column_has_no_lengths() -> None:
    assert joined([" a . b "]) == ("a . b", ())
    assert joined_values("a . b", None) == ["a . b"]


@given(st.text(), st.lists(st.integers(0, 9)))
def test_lengths_that_do_not_fit_the_text_are_no_error(text: str, lengths: list[int]) -> None:
    assert len(joined_values(text, lengths)) == max(1, len(lengths))


def rows(left: list[str], right: list[str]) -> list[tuple[str, str | None, str | None]]:
    def named(names: list[str], place: int | None) -> str | None:
        return None if place is None else names[place]

    return [(name, named(left, one), named(right, other)) for name, one, other in aligned(left, right)]


def test_columns_of_one_name_stand_together_in_the_left_order() -> None:
    assert rows(["Title", "list_price", "Maker"], ["maker", "title", "List Price"]) == [
        ("Title", "Title", "title"),
        ("list_price", "list_price", "List Price"),
        ("Maker", "Maker", "maker"),
    ]


def test_first_columns_stand_side_by_side_whatever_their_names() -> None:
    assert rows(["title", "price"], ["name", "price", "year"]) == [
        ("title / name", "title", "name"),
        ("price", "price", "price"),
        ("year", None, "year"),
    ]


def test_columns_without_a_common_name_stand_together_in_order() -> None:
    assert rows(["a", "b"], ["c", "d"]) == [("a / c", "a", "c"), ("b / d", "b", "d")]


def test_other_columns_come_last_with_nothing_beside_them() -> None:
    assert rows(["isbn", "title"], ["title", "year", "pages"]) == [
        ("title", "title", "title"),
        ("isbn", "isbn", None),
        ("year", None, "year"),
        ("pages", None, "pages"),
    ]
    assert rows(["title", "brand"], ["title", "price"]) == [
        ("title", "title", "title"),
        ("brand", "brand", None),
        ("price", None, "price"),
    ]


def test_columns_that_do_not_belong_together_are_not_aligned() -> None:
    assert aligned(["text"], ["title", "body"]) == aligned([], []) == aligned([], ["a"]) == []


def test_a_name_given_twice_is_aligned_once_each() -> None:
    assert aligned(["a", "A "], ["a", "a"]) == [Aligned("a", 0, 0), Aligned("A ", 1, 1)]
