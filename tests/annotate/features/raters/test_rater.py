"""What a machine rater is worth: worked numbers."""

import json

import pytest

from allpairs.annotate.features.raters.worth import COLUMNS, FEWEST, quality_rows, worth_of, worth_sentences
from allpairs.db.domain import AnswerKind, Verdict
from allpairs.db.estimate import Estimate
from allpairs.db.rating import Judged

YES, NO, ABSTAIN = Verdict
P, N = AnswerKind.POSITIVE, AnswerKind.NEGATIVE


def judged(*parts: tuple[int, Verdict, bool, float | None], score: float | None = None) -> list[Judged]:
    """Return so many pairs of each kind: the verdict, whether people call it a match, and p."""
    rows = [part for part in parts for _ in range(part[0])]
    return [Judged((0, at), verdict, p, match, score) for at, (_, verdict, match, p) in enumerate(rows)]


def shown(found: Estimate | None) -> tuple[float, float, float, int]:
    assert found is not None
    return (*(round(value, 3) for value in (found.value, found.low, found.high)), found.labels)


def test_sensitivity_and_specificity_are_among_what_it_decided() -> None:
    found = worth_of(
        judged((8, YES, True, None), (1, NO, True, None), (1, ABSTAIN, True, None), (7, NO, False, None),
               (2, YES, False, None), (1, ABSTAIN, False, None)), {}, [],
    )  # fmt: skip
    one = found.quality
    assert one.pairs == 20
    assert shown(one.sensitivity) == (0.889, 0.565, 0.980, 9)
    assert shown(one.specificity) == (0.778, 0.453, 0.937, 9)
    assert shown(one.accuracy) == (0.833, 0.608, 0.942, 18)
    assert shown(one.abstains) == (0.1, 0.028, 0.301, 20)
    assert (
        found.calibration_error is None
        and found.calibration == []
        and found.bands == []
        and found.alternative_annotator is None
    )


def test_calibration_is_by_tenths_of_p() -> None:
    rows = judged((8, YES, True, 0.92), (2, YES, False, 0.92), (1, NO, True, 0.25), (9, NO, False, 0.25),
                  (5, YES, True, None), (1, YES, True, 1.0))  # fmt: skip
    found = worth_of(rows, {}, [])
    table = found.calibration
    assert [(row.p_from, row.pairs) for row in table] == [(0.2, 10), (0.9, 11)]
    assert [row.share for row in table] == pytest.approx([0.1, 9 / 11])
    assert [row.p for row in table] == pytest.approx([0.25, (9.2 + 1) / 11])
    assert found.calibration_error == pytest.approx((10 * 0.15 + 11 * (10.2 - 9) / 11) / 21)


def test_bands_are_thirds_of_the_matchers_score() -> None:
    rows = [Judged((0, at), YES if at >= 20 else NO, None, at >= 10, at / 30) for at in range(FEWEST)]
    found = worth_of([*rows, Judged((0, 99), YES, None, False, None)], {}, []).bands
    assert [(band.quality.pairs, round(band.low * 30), round(band.high * 30)) for band in found] == [
        (10, 0, 9), (10, 10, 19), (10, 20, 29),
    ]  # fmt: skip
    assert [shown(band.quality.accuracy)[0] for band in found] == [1.0, 0.0, 1.0]
    assert worth_of(rows[1:], {}, []).bands == []


def test_agreement_with_people_stands_beside_that_among_people() -> None:
    votes = [(1, 2, "ann", P), (1, 2, "bob", P), (1, 2, "cem", N), (1, 3, "ann", N), (1, 3, "bob", N),
             (1, 4, "ann", P), (1, 4, "bob", AnswerKind.UNSURE), (1, 5, "ann", P), (1, 5, "bob", P)]  # fmt: skip
    found = worth_of([], {(1, 2): YES, (1, 3): NO, (1, 4): YES, (1, 9): YES}, votes).together
    assert found is not None and found.pairs == 2
    assert found.people.value == pytest.approx((1 / 3 + 1) / 2) and found.rater.value == pytest.approx((2 / 3 + 1) / 2)
    abstaining = worth_of([], {(1, 2): ABSTAIN, (1, 3): NO}, votes).together
    assert abstaining is not None and abstaining.rater.value == pytest.approx(0.5)


def test_it_is_told_in_words_and_as_json() -> None:
    votes = [(1, at, who, P) for at in range(40) for who in ("ann", "bob", "cem")]
    rows = [Judged((1, at), YES, 0.9, True, 0.5) for at in range(40)]
    found = worth_of(rows, {(1, at): YES for at in range(40)}, votes)
    table = quality_rows(found)
    assert len(table) == 4 and all(len(row) == len(COLUMNS) for row in table)
    assert table[0][2].startswith("1.00 (0.91–1.00)") and table[0][3] == "–"
    assert "0.10" in worth_sentences(found)[0] and "It passes" in worth_sentences(found)[-1]
    assert json.loads(found.model_dump_json())["alternative_annotator"]["passes"] is True
    nothing = worth_of([], {}, [])
    assert "Not enough people" in worth_sentences(nothing)[-1] and len(quality_rows(nothing)) == 1
