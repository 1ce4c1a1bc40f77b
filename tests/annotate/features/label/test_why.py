"""Why a pair was chosen, as people see it."""

from streamlit.testing.v1 import AppTest


def drawn(scores: list[tuple[int, float, float | None]]) -> None:
    from datetime import UTC, datetime

    from allpairs.annotate.features.label.pair_reason import Reasons, RoundScore
    from allpairs.annotate.features.label.ui.why import why
    from allpairs.db.domain import Purpose

    at = datetime(2026, 11, 27, tzinfo=UTC)
    found = [RoundScore(*each) for each in scores]
    why(Reasons("a", "b", Purpose.TRAIN, "uncertainty", 2, 3, 60, at, 1, (), found))


def test_scores_of_several_rounds_are_drawn_and_told() -> None:
    page = AppTest.from_function(drawn, args=([(0, 0.61, None), (1, 0.72, 0.4)],), default_timeout=30).run()
    assert not page.exception
    (plot,) = page.get("arrow_vega_lite_chart") or page.get("vega_lite_chart")
    assert "0.610" in plot.proto.alt and "0.720" in plot.proto.alt


def test_one_score_is_told_alone() -> None:
    page = AppTest.from_function(drawn, args=([(0, 0.61, None)],), default_timeout=30).run()
    assert not page.exception
    assert not (page.get("arrow_vega_lite_chart") or page.get("vega_lite_chart"))
    assert any("0.610" in each.value for each in page.markdown)
