"""Two records compared column by column."""

import numpy as np
import pytest

from allpairs.db.domain import FieldKind
from allpairs.learner.data.fields import Field
from allpairs.learner.second_stage.field_features import MEASURES, FieldFeatures, field_features


def compared(kind: FieldKind, left: str, right: str) -> list[float]:
    """Return the features of two values of a column of this kind."""
    found = FieldFeatures([Field("it", kind, [left, right])], {"it": kind}).values(np.array([0]), np.array([1]))
    assert found.shape == (1, len(MEASURES[kind])) and found.dtype == np.float32
    return [float(value) for value in found[0]]


@pytest.mark.parametrize("kind", FieldKind)
def test_a_missing_value_says_nothing_and_order_does_not_count(kind: FieldKind) -> None:
    one, other = {"date": ("2024-01-05", "2024-01-09"), "code": ("x-1", "x-2")}.get(kind, ("12", "13 km"))
    assert np.isnan(compared(kind, one, "")).all() and np.isnan(compared(kind, "", "")).all()
    assert not np.isnan(compared(kind, one, other)).any()
    assert compared(kind, one, other) == compared(kind, other, one)


def test_what_each_kind_compares() -> None:
    assert compared(FieldKind.NAME, "Acme", "ACME  Inc.") == [1]
    assert compared(FieldKind.TEXT, "red lamp", "dark sofa")[0] < 0.6
    assert compared(FieldKind.CODE, "X-100", "x100") == [1] and compared(FieldKind.CODE, "X-100", "x200") == [0]
    assert compared(FieldKind.NUMBER, "12", "12.0") == [1, 0]
    assert compared(FieldKind.NUMBER, "10", "20") == [0, pytest.approx(np.log(2))]
    assert compared(FieldKind.NUMBER, "-10", "10") == compared(FieldKind.NUMBER, "0", "3") == [0, 2]
    assert compared(FieldKind.PRICE, "$10", "10,00 €") == [0] and compared(FieldKind.PRICE, "1", "1,000") == [2]
    assert compared(FieldKind.DATE, "2024-01-05", "8.1.2024") == [pytest.approx(np.log(4))]
    assert np.isnan(compared(FieldKind.PRICE, "on request", "5")).all()


def test_a_column_that_the_dataset_lacks_is_missing() -> None:
    kinds = {"title": FieldKind.TEXT, "price": FieldKind.PRICE}
    found = FieldFeatures([Field("title", FieldKind.TEXT, ["a lamp", "a lamp"])], kinds)
    values = found.values(np.array([0]), np.array([1]))
    assert list(field_features(kinds)) == ["title: alike", "price: apart"]
    assert values[0, 0] == 1 and np.isnan(values[0, 1])
    assert FieldFeatures([], {}).values(np.array([0, 1]), np.array([1, 0])).shape == (2, 0)
