"""What the models read of records, and the columns that are compared."""

from allpairs.db.corpus.fields import joined
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import FieldKind, Side
from allpairs.learner.data.fields import Field, RecordTexts, joined_fields

TITLE, PRICE = FieldKind.TEXT, FieldKind.PRICE


def records(*rows: tuple[Side, tuple[str, ...]], columns: TextColumns) -> RecordTexts:
    texts, lengths = zip(*(joined(values) for _, values in rows), strict=True)
    return RecordTexts(texts, lengths, [side for side, _ in rows], columns)


def test_prices_are_compared_but_not_read() -> None:
    columns = TextColumns({Side.LEFT: ("title", "price"), Side.RIGHT: ("price", "title", "note")},
                          {Side.LEFT: (TITLE, PRICE), Side.RIGHT: (PRICE, TITLE, TITLE)})  # fmt: skip
    both = records(
        (Side.LEFT, ("camera", "9.99")), (Side.LEFT, ("lens", "")), (Side.LEFT, ("", "5")),
        (Side.RIGHT, ("12", "a camera", "new")), columns=columns,
    )  # fmt: skip
    assert both.read() == ["camera", "lens", "5", "a camera . new"]  # never nothing at all
    assert both.fields() == (
        Field("title", TITLE, ["camera", "lens", "", "a camera"]), Field("price", PRICE, ["9.99", "", "5", "12"]),
    )  # fmt: skip


def test_texts_without_columns_are_read_whole() -> None:
    plain = RecordTexts(["a . 5"], [None], [Side.LEFT], TextColumns({Side.LEFT: ("title", "price")}))
    assert plain.read() == ["a . 5"] and plain.fields() == ()


def test_the_columns_of_two_lists_are_joined_by_name() -> None:
    one, other = [Field("title", TITLE, ["a", "b"])], [Field("price", PRICE, ["5"])]
    assert joined_fields(one, other, (2, 1)) == (
        Field("title", TITLE, ["a", "b", ""]), Field("price", PRICE, ["", "", "5"]),
    )  # fmt: skip
