"""Two records compared column by column."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.db.domain import FieldKind
from allpairs.learner.data.fields import Field
from allpairs.learner.second_stage.field_features import MEASURES, FieldFeatures, field_features
from tests.helpers.machine import examples


def compared(kind: FieldKind, left: str, right: str) -> list[float]:
    """Return the features of two values of a column of this kind."""
    found = FieldFeatures([Field("it", kind, [left, right])], {"it": kind}).values(np.array([0]), np.array([1]))
    assert found.shape == (1, len(MEASURES[kind])) and found.dtype == np.float32
    return [float(value) for value in found[0]]


@pytest.mark.parametrize("kind", FieldKind)
def test_a_missing_value_says_nothing_and_order_does_not_count(kind: FieldKind) -> None:
    typical = {
        "date": ("2024-01-05", "2024-01-09"),
        "code": ("x-1", "x-2"),
        "address": ("High St 1", "1 Elm Rd"),
        "email": ("a@x.org", "b@x.org"),
    }
    one, other = typical.get(kind, ("12", "13 km"))
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


@pytest.mark.parametrize(
    ("kind", "left", "right", "figures"),
    [
        ("email", "J.Doe+shop@Gmail.com", "jdoe@googlemail.com", [1, 1]),
        ("email", "jdoe@web.de", "jdoe@gmx.de", [1, 0]),
        ("phone", "+49 (0)30 123-4567", "030/1234567", [1]),
        ("phone", "0033 1 23 45 67 89", "01.23.45.67.89", [1]),
        ("phone", "1-212-555-1234", "(212) 555 1234 ext. 5", [1]),
        ("phone", "1234567", "030 1234567", [1]),
        ("phone", "030 123456 x1", "030 123456 x2", [0.9]),
        ("phone", "030 1234567", "030 1234568", [8 / 9]),
        ("phone", "0", "00", [0.5]),
        ("address", "Hauptstr. 12a", "Hauptstraße 12 a", [1, 1]),
        ("address", "12, r. de la Paix", "Rue de la Paix 12", [1, 1]),
        ("address", "5th Avenue 7", "5th Ave 8", [1, 0.5]),
        ("address", "1 St. John Street", "1 Saint John St", [1, 1]),
        ("organisation", "Müller & Söhne GmbH & Co. KG", "Muller und Söhne", [1]),
        ("organisation", "AG", "A.G.", [1]),
        ("organisation", "S.A.R.L. Dupont", "Dupont s a r l", [1]),
        ("organisation", "Acme, Inc.", "ACME Ltd", [1]),
    ],
)
def test_spellings_of_contacts_are_the_same(kind: str, left: str, right: str, figures: list[float]) -> None:
    assert compared(FieldKind(kind), left, right) == pytest.approx(figures)


CONTACTS = (FieldKind.ADDRESS, FieldKind.EMAIL, FieldKind.ORGANISATION, FieldKind.PHONE)
PARTS = st.sampled_from(["Haupt", "str.", "12a", "@", "gmail.com", "+49", "030", "x7", " ", "GmbH", "Rue", "é", "."])
VALUES = st.one_of(st.text(max_size=12), st.lists(PARTS, max_size=6).map("".join))


@given(st.sampled_from(CONTACTS), VALUES, VALUES)
@settings(max_examples=examples(300))
def test_any_contacts_compare_from_0_to_1(kind: FieldKind, left: str, right: str) -> None:
    figures = np.array([compared(kind, left, right), compared(kind, right, left), compared(kind, left, left)])
    np.testing.assert_array_equal(figures[0], figures[1])
    assert np.all(np.isnan(figures) | ((figures >= 0) & (figures <= 1)))
    assert np.all(np.isnan(figures[2]) | (figures[2] == 1))


def test_a_column_that_the_dataset_lacks_is_missing() -> None:
    kinds = {"title": FieldKind.TEXT, "price": FieldKind.PRICE}
    found = FieldFeatures([Field("title", FieldKind.TEXT, ["a lamp", "a lamp"])], kinds)
    values = found.values(np.array([0]), np.array([1]))
    assert list(field_features(kinds)) == ["title: alike", "price: apart", "agreement"]
    assert values[0, 0] == 1 and np.isnan(values[0, 1])
    assert FieldFeatures([], {}).values(np.array([0, 1]), np.array([1, 0])).shape == (2, 0)
