"""Figures in words: their intervals, their method, and what more labels would bring."""

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from allpairs.annotate.features.quality.method_in_words import explain, meaning
from allpairs.annotate.features.quality.more_labels import gained, width
from allpairs.annotate.features.quality.rounds import MonitorReport, read_report
from allpairs.annotate.features.quality.stopping import AdvicePlace, StopVerdict, advice, may_stop
from allpairs.annotate.kit.text.measures import (
    MeasureChange,
    change,
    counted,
    estimate,
    in_figures,
    interval,
    measure_change_in_words,
    method_in_words,
)
from allpairs.db.estimate import Estimate
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Evaluation
from tests.helpers.figures.measured import make_audited_project, make_measured_project


def audited(engine: Engine, **parts: Any) -> MonitorReport:
    return read_report(engine, make_audited_project(engine, **parts))


def change_evaluation(engine: Engine, report: MonitorReport, **estimates: dict[str, Any]) -> None:
    """Replace these figures of the newest round."""
    with writing(engine) as session:
        row = session.get_one(Evaluation, report.measured[-1][1].matcher_id)
        row.estimates = row.estimates | estimates


# --- figures


def test_a_value_that_is_no_number_is_no_estimate() -> None:
    stored = {"value": math.nan, "low": math.nan, "high": math.nan, "method": "exact"}
    assert estimate(Evaluation(estimates={"average_precision": stored}), "average_precision") is None
    assert estimate(Evaluation(estimates={}), "average_precision") is None


@pytest.mark.parametrize(
    ("half_width", "words"),
    [
        (0.0, r"Exact over all 200,600 pairs of evaluation items, 600 positives\."),
        (0.03, r"95% interval 0\.\d{3} to 0\.\d{3}, false positives estimated from .* over all 200,600 pairs .*"),
    ],
)
def test_a_figure_comes_with_its_interval_and_method(engine: Engine, half_width: float, words: str) -> None:
    _, evaluation = read_report(engine, make_measured_project(engine, rounds=1, half_width=half_width)).measured[0]
    found = estimate(evaluation, "average_precision")
    assert found is not None
    assert re.fullmatch(words, method_in_words("average_precision", found, evaluation))


def test_the_figures_of_an_audit_are_over_all_pairs(engine: Engine) -> None:
    _, evaluation = audited(engine).measured[-1]
    found = estimate(evaluation, "average_precision")
    assert found is not None
    said = method_in_words("average_precision", found, evaluation)
    assert "0.520 to 0.680, from 200 audit labels, over all 4,498,500" in said


def test_numbers_of_pairs_are_whole() -> None:
    assert in_figures("positives", 1234.5) == "1,234" and in_figures("precision", 0.12345) == "0.123"
    assert interval("positives", Estimate(5, 1.0, 2345.0, "audit")) == "1 to 2,345"
    assert interval("recall", Estimate(0.5, 0.5, 0.5, "exact")) == "exact"
    assert counted(1, "pair") == "1 pair" and counted(1000, "pair") == "1,000 pairs"


def test_the_change_of_an_audit_is_the_stored_one(engine: Engine) -> None:
    measured = audited(engine).measured
    found = change(measured, "average_precision")
    assert found is not None and (found.since, found.clear) == (3, False)
    said = measure_change_in_words(found)
    assert "95% interval −0.010 to +0.050" in said and "may be chance" in said
    gained = change(measured, "precision_at_recall_20")
    assert gained is not None and gained.clear and "may be chance" not in measure_change_in_words(gained)
    assert change(measured, "recall") is None and change(measured[:1], "average_precision") is None


@pytest.mark.parametrize(("half_width", "clear"), [(0.0, True), (0.03, False)])
def test_only_an_exact_difference_is_certain_without_an_interval(
    engine: Engine, half_width: float, clear: bool
) -> None:
    report = read_report(engine, make_measured_project(engine, half_width=half_width))
    found = change(report.measured, "average_precision")
    assert found is not None and found.value > 0 and (found.since, found.clear) == (3, clear)
    assert measure_change_in_words(found) == ""


@given(low=st.floats(-1, 1), width=st.floats(0, 1))
def test_a_change_is_clear_when_its_interval_leaves_out_zero(low: float, width: float) -> None:
    found = MeasureChange(low + width / 2, 1, True, low, low + width)
    assert found.clear == (not low <= 0 <= low + width)


# --- how the figures came about


def test_exact_figures_are_explained_with_their_numbers(engine: Engine) -> None:
    first, known = explain(read_report(engine, make_measured_project(engine)))
    assert "All 200,600 pairs" in first
    assert "600 pairs" in known and "counts as a negative" in known


def test_sampled_figures_say_what_was_scored(engine: Engine) -> None:
    report = read_report(engine, make_measured_project(engine, half_width=0.03))
    assert "Some of the negatives" in explain(report)[0] and "nearest neighbours" in explain(report)[0]
    stored = Estimate(0.7, 0.6, 0.8, "stratified", 20_000).as_dict()
    change_evaluation(engine, report, average_precision=stored)
    report = read_report(engine, report.measured[-1][0].project_id)
    assert "20,000 negatives were scored" in explain(report)[0] and "strata" in explain(report)[0]


def test_an_audit_is_explained_with_its_numbers(engine: Engine) -> None:
    text = "\n".join(explain(audited(engine)))
    for words in (
        "all 4,498,500 pairs",
        "strata of known size, 11 in all",
        "labelled 200: 56 are positives",
        "7.1 pairs in the stratum “pairs 1 to 128” and 221,648",
        "Below the highest 65,536 pairs lie 4,432,964 more",
        "20 of them are labelled, 0 positive",
        "never train a model",
        "7 of the positives represent more than 50 pairs each",
    ):
        assert words in text, words


def test_positives_that_stand_for_few_pairs_need_no_double_check(engine: Engine) -> None:
    report = audited(engine)
    evaluation = report.measured[-1][1]
    light = [stratum | {"sampled": stratum["size"] // 40} for stratum in evaluation.audit["strata"]]
    assert "double-check" not in "\n".join(explain(audited(engine, name="Light", strata=light)))


def test_what_is_not_measured_is_not_explained(engine: Engine) -> None:
    assert explain(audited(engine, needed=5)) == []


def test_it_is_said_what_the_figures_mean(engine: Engine) -> None:
    ranking, threshold = meaning(read_report(engine, make_measured_project(engine)).measured[-1][1])
    assert "random order 0.003" in ranking
    assert "50% threshold, 62% of the accepted pairs" in threshold
    assert "% to " in meaning(audited(engine, name="Audited").measured[-1][1])[1]
    assert len(meaning(read_report(engine, make_measured_project(engine, "New", rounds=1)).measured[0][1])) == 1


# --- what more labels bring


def test_gold_tells_the_gain_exactly(engine: Engine) -> None:
    report = read_report(engine, make_measured_project(engine))
    course = r"Average precision rose by 0\.108 per hundred labels over the last 3 rounds, from 0\.447 to 0\.753\."
    assert re.fullmatch(course, gained(report)) and not width(report)


def test_an_audit_tells_what_would_halve_its_interval(engine: Engine) -> None:
    report = audited(engine)
    assert "0.056 per hundred labels" in gained(report) and "may be chance" not in gained(report)
    assert "0.160 wide" in width(report) and "About 480 more audit labels" in width(report)


def with_ap(engine: Engine, value: float, low: float, high: float) -> MonitorReport:
    """Return an audited project whose newest round has this average precision."""
    report = audited(engine)
    change_evaluation(engine, report, average_precision=Estimate(value, low, high, "audit", 9).as_dict())
    return read_report(engine, report.measured[-1][0].project_id)


def test_a_gain_within_the_interval_may_be_chance(engine: Engine) -> None:
    gain = gained(with_ap(engine, 0.46, 0.4, 0.5))
    assert "(±0.050)" in gain and "may be chance" in gain


def test_no_number_of_labels_is_promised_where_none_is_known(engine: Engine) -> None:
    said = width(audited(engine, halve=None, below=0.5))
    assert "0.160 wide" in said


@pytest.mark.parametrize(("below", "where"), [(0.9, "below"), (0.1, "among")])
def test_it_is_said_where_the_interval_comes_from(engine: Engine, below: float, where: str) -> None:
    said = width(audited(engine, below=below))
    assert f"{where} the highest 65,536" in said and "480 more audit labels would halve it" in said


def test_a_single_round_has_gained_nothing_yet(engine: Engine) -> None:
    assert not gained(read_report(engine, make_measured_project(engine, rounds=1)))


# --- whether labelling may stop, and what comes next


REACHED = {"target": 0.8, "precision_low": 0.8399, "reached": True}


def test_gold_tells_exactly_whether_the_target_is_reached(engine: Engine) -> None:
    verdict = may_stop(read_report(engine, make_measured_project(engine)))
    said = "Precision at the threshold is 0.616 over all pairs: the target of 0.8 is not reached."
    assert verdict == StopVerdict(False, said)


def test_reached_is_announced_by_the_confidence_sequence_alone(engine: Engine) -> None:
    verdict = may_stop(audited(engine, reached=REACHED))
    assert verdict.reached and "Precision at the threshold is at least 0.8" in verdict.sentence
    assert verdict.sentence.endswith("is 0.83.")
    verdict = may_stop(audited(engine, name="Uncertain"))
    assert verdict.reached is False and verdict.sentence.endswith("is 0.69.")


def test_nothing_is_announced_without_a_threshold_or_by_a_sample(engine: Engine) -> None:
    for report in (
        audited(engine, reached=None),
        read_report(engine, make_measured_project(engine, "Sampled", half_width=0.01)),
        read_report(engine, make_measured_project(engine, "Untrained", rounds=1)),
    ):
        assert may_stop(report).reached is None


def test_labelling_on_is_the_advice_until_figures_say_otherwise(engine: Engine) -> None:
    untrained = read_report(engine, make_measured_project(engine, "Untrained", rounds=1))
    rising = read_report(engine, make_measured_project(engine, "Rising"))
    assert advice(untrained) is advice(rising) is None
    wide = advice(with_ap(engine, 0.46, 0.4, 0.5))
    assert wide is not None and wide.place == AdvicePlace.AUDIT


def test_where_labels_bring_nothing_more_the_mistakes_come_next(engine: Engine) -> None:
    report = read_report(engine, make_measured_project(engine))
    before = estimate(report.measured[-4][1], "average_precision")
    assert before is not None
    change_evaluation(engine, report, average_precision=before.as_dict())
    flat = advice(read_report(engine, report.measured[-1][0].project_id))
    assert flat is not None and flat.place == AdvicePlace.EXPLORE
