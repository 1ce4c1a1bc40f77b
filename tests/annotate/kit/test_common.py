"""Axes span what is drawn on them, and no more."""

import pandas as pd
import pytest

from allpairs.annotate.features.quality.ui.round_charts import histogram_chart
from allpairs.annotate.kit.charts import labels_axis, shares


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        (0.643, 0.669, (0.6, 0.7)),
        (0.66, 0.68, (0.6, 0.7)),  # a tenth at least: a small difference looks small
        (0.3, 0.61, (0.3, 0.65)),
        (0.0, 0.0, (0.0, 0.1)),
        (0.99, 1.0, (0.9, 1.0)),
        (-0.1, 1.2, (0.0, 1.0)),
    ],
)
def test_an_axis_of_shares_ends_near_its_data(low: float, high: float, ends: tuple[float, float]) -> None:
    assert shares(low, high) == ends


@pytest.mark.parametrize(("first", "last", "domain"), [(0, 0, [0, 10]), (10, 200, [0, 200]), (80, 200, [80, 200])])
def test_an_axis_of_labels_begins_at_zero_only_near_it(first: int, last: int, domain: list[int]) -> None:
    assert labels_axis(first, last)["scale"].domain == domain


@pytest.mark.parametrize(("threshold", "drawn"), [(None, [0.2, 0.4]), (0.7, [0.2, 0.4, 0.6])])
def test_a_histogram_has_no_empty_ends_but_its_threshold(threshold: float | None, drawn: list[float]) -> None:
    table = pd.DataFrame({"score_from": [0.0, 0.2, 0.4, 0.6, 0.8], "score_to": [0.2, 0.4, 0.6, 0.8, 1.0],
                          "pairs": [0, 5, 2, 0, 0]})  # fmt: skip
    (rows, *_) = histogram_chart(table, threshold).to_dict()["datasets"].values()
    assert [row["score"] for row in rows] == drawn
