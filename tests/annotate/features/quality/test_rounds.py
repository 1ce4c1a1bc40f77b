"""What the monitor reads from the rows, draws and says."""

import math
import re
import tomllib

import altair as alt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select, update

from allpairs.annotate.features.quality.round_tables import (
    audit_strata,
    batches_table,
    curves_table,
    estimates_table,
    histogram_table,
)
from allpairs.annotate.features.quality.rounds import MonitorReport, card, read_report, threshold, why_unmeasured
from allpairs.annotate.features.quality.ui import round_charts as charts
from allpairs.annotate.features.quality.ui import strata as strata_chart
from allpairs.annotate.kit import charts as palette
from allpairs.db.domain import AnswerKind, Purpose, Split
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Round, StoredModel, Task, TextChange
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import (
    POSITIVES,
    SIZES,
    add_gold,
    answer_on,
    make_audited_project,
    make_measured_project,
)
from tests.helpers.machine import ROOT, examples

P, N, U, R, S = (AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE, AnswerKind.RETRACT, AnswerKind.SKIP)


@pytest.fixture
def report(engine: Engine) -> MonitorReport:
    make_project(engine, ["another", "project"], name="Other")
    return read_report(engine, make_measured_project(engine, half_width=0.03))


@pytest.fixture
def audited(engine: Engine) -> MonitorReport:
    return read_report(engine, make_audited_project(engine, "Audited"))


def test_there_is_an_estimate_for_each_round_and_measure(report: MonitorReport) -> None:
    table = estimates_table(report)
    main = table[table["measure"].isin(["Average precision", "Precision at 20% recall"])]
    assert list(main["round"]) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert list(main["labels"][::2]) == [0, 40, 100, 190, 325]
    assert (table["low"] <= table["value"]).all() and (table["value"] <= table["high"]).all()
    assert set(main["method"]) == {"near-random"}
    assert "F1 at the threshold" not in set(table[table["round"] == 0]["measure"])  # no threshold before training
    average = table[table["measure"] == "Average precision"]["value"]
    assert list(average) == [e.estimates["average_precision"]["value"] for _, e in report.measured]


def test_rounds_measured_on_earlier_texts_are_known(engine: Engine) -> None:
    project_id = make_measured_project(engine, rounds=3)
    changes = {3: 2, 4: 0}  # texts for evaluation by change: the last one is of training texts alone
    with writing(engine) as session:
        session.add_all(
            TextChange(project_id=project_id, number=number, who="", source="x.csv", added=2, changed=0, withdrawn=0,
                       measuring=measuring) for number, measuring in changes.items()
        )  # fmt: skip
    assert read_report(engine, project_id).before_texts_changed is None  # no round has been measured since
    with writing(engine) as session:
        session.execute(update(StoredModel).where(StoredModel.number == 2).values(details={"texts": 3}))
    assert read_report(engine, project_id).before_texts_changed == 1
    with writing(engine) as session:
        session.execute(update(StoredModel).values(details={"texts": 3}))
    assert read_report(engine, project_id).before_texts_changed is None


def test_batches_count_what_people_answered(report: MonitorReport) -> None:
    table = batches_table(report)
    assert list(table["size"]) == list(table["answered"]) == list(SIZES)
    assert list(table["positives"]) == list(POSITIVES)
    assert list(table["unsure"]) == [2, 2, 2, 2]
    assert table["share_positive"][0] == pytest.approx(9 / 38)  # unsure answers are in neither part


@pytest.mark.parametrize(
    ("acts", "counted"),
    [
        ([("ada", P), ("ada", N)], {N: 1}),  # corrected
        ([("ada", P), ("ada", R)], {}),  # undone
        ([("ada", P), ("bob", N)], {N: 1}),  # two annotators, one pair
        ([("ada", S)], {}),
        ([("ada", U)], {U: 1}),
    ],
)
def test_a_pair_counts_once_with_its_last_label(
    engine: Engine, acts: list[tuple[str, AnswerKind]], counted: dict[AnswerKind, int]
) -> None:
    project_id = make_project(engine, ["a", "b", "c"])
    round_id = make_round(engine, project_id, 1, reserve=1)
    for position in (0, 1):  # the reserve counts like the batch
        with writing(engine) as session:
            task = session.scalars(select(Task).where(Task.round_id == round_id, Task.position == position)).one()
            session.add_all(answer_on(task, kind, who, act) for act, (who, kind) in enumerate(acts))
    answers = read_report(engine, project_id).answers.get(round_id, {})
    assert answers == {kind: 2 * count for kind, count in counted.items()}


def test_audit_tasks_and_imported_labels_belong_to_no_batch(engine: Engine) -> None:
    project_id = make_project(engine, ["a", "b", "c"])
    round_id = make_round(engine, project_id, 2)
    with writing(engine) as session:
        audit, plain = session.scalars(select(Task).where(Task.round_id == round_id)).all()
        audit.purpose = Purpose.AUDIT
        session.add(answer_on(audit, P))
        session.add(Answer(project_id=project_id, left_id=plain.left_id, right_id=plain.right_id, annotator="file",
                           answer=P, key="imported"))  # fmt: skip
    table = batches_table(read_report(engine, project_id))
    assert list(table["answered"]) == [0] and table["share_positive"].isna().all()


def test_curves_are_those_of_the_chosen_rounds(report: MonitorReport) -> None:
    table = curves_table(report, [0, 3])
    assert set(table["round"]) == {0, 3}
    for _, curve in table.groupby("round"):
        assert curve["recall"].is_monotonic_increasing and curve["score"].is_monotonic_decreasing
        assert (curve["low"] <= curve["precision"]).all() and (curve["precision"] <= curve["high"]).all()
    assert curves_table(report, []).empty


def test_an_exact_curve_has_an_empty_band(engine: Engine) -> None:
    table = curves_table(read_report(engine, make_measured_project(engine, rounds=1)), [0])
    assert len(table) and table["low"].isna().all() and table["high"].isna().all()


def test_without_gold_the_histogram_holds_every_pair(audited: MonitorReport) -> None:
    evaluation = audited.measured[-1][1]
    table = histogram_table(evaluation)
    assert list(table.columns) == ["score_from", "score_to", "pairs"]
    assert table["pairs"].sum() == pytest.approx(evaluation.pairs, rel=1e-5)


def test_the_strata_are_listed_from_the_highest_down(audited: MonitorReport) -> None:
    _, evaluation = audited.measured[-1]
    table = audit_strata(evaluation)
    assert table["size"].sum() == evaluation.pairs
    assert table["score_from"].is_monotonic_decreasing and list(table["top"]) == [True] * 10 + [False]
    assert (table["weight"] * table["sampled"] - table["size"]).abs().max() < 1e-6
    assert (table["share_low"] <= table["share"]).all() and (table["share"] <= table["share_high"]).all()


def test_too_few_audit_labels_are_an_audit_without_figures(engine: Engine) -> None:
    report = read_report(engine, make_audited_project(engine, rounds=1, needed=38))
    assert report.measured == [] and report.audited is not None and report.audited.audit["needed"] == 38


def test_the_open_audit_batchs_pairs_are_counted(engine: Engine) -> None:
    project_id = make_project(engine, ["a", "b", "c", "d"])
    make_round(engine, project_id, 2)
    assert read_report(engine, project_id).audit_batch == 0
    with writing(engine) as session:
        session.scalars(select(Round)).one().number = None
    assert read_report(engine, project_id).audit_batch == 2


def test_the_histogram_holds_every_pair(report: MonitorReport) -> None:
    evaluation = report.measured[-1][1]
    table = histogram_table(evaluation)
    drawn = table["negatives"].sum() + table["positives"].sum()
    assert drawn + evaluation.histogram["below"] == evaluation.pairs
    assert list(table["score_to"][:-1]) == list(table["score_from"][1:])


@given(w=st.floats(0.1, 50), b=st.floats(-60, 60))
def test_the_probability_at_the_threshold_is_one_half(w: float, b: float) -> None:
    at = threshold(StoredModel(number=1, w=w, b=b))
    assert at is not None
    assert 1 / (1 + math.exp(-(w * at + b))) == pytest.approx(0.5)


@pytest.mark.parametrize(("w", "b"), [(None, None), (0.0, 1.0)])
def test_a_matcher_without_slope_has_no_threshold(w: float | None, b: float | None) -> None:
    assert threshold(StoredModel(number=0, w=w, b=b)) is None


@pytest.mark.parametrize(
    ("evaluation", "split", "reason"),
    [
        (0, None, "no evaluation items"),
        (4, None, "no known pairs"),
        (4, Split.TRAIN, "None of the 2 known positives"),
        (4, Split.EVALUATION, ""),
    ],
)
def test_what_is_missing_for_a_measurement_is_said(
    engine: Engine, evaluation: int, split: Split | None, reason: str
) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(10)], evaluation=evaluation)
    if split:
        add_gold(engine, project_id, 2, split)
    said = why_unmeasured(read_report(engine, project_id))
    assert reason in said and bool(said) == bool(reason)


def test_the_card_names_what_made_the_matcher(report: MonitorReport) -> None:
    facts = dict(card(report.matchers[2][0]))
    assert facts["Base encoder"] == "all-MiniLM-L6-v2"
    assert (facts["Labels"], facts["w"], facts["b"], facts["Seed"]) == ("100", "16", "-10", "7")
    assert facts["Threshold (score where p = ½)"] == "0.625"
    assert facts["Seconds: train"] == "14.2"
    assert facts["Lexical similarity (weights; cosine 1)"] == "ngrams 0.42, words 0.10"
    assert facts["Hubness correction (weight)"] == "0.25"
    assert dict(card(report.matchers[0][0]))["w"] == "–"


# --- plots


def marks(chart: charts.Plot) -> list[str]:
    with alt.data_transformers.disable_max_rows():
        layers = chart.to_dict()["layer"]
    return [layer["mark"]["type"] for layer in layers]


def test_an_exact_estimate_has_no_band(engine: Engine, report: MonitorReport) -> None:
    for table in (estimates_table(report), estimates_table(read_report(engine, make_measured_project(engine, "E", 2)))):
        chart = charts.estimate_chart(table[table["measure"] == "Average precision"])
        assert marks(chart) == ["area", "rule", "line", "point"]
        assert chart.to_dict()["layer"][0]["transform"] == [{"filter": "datum.high > datum.low"}]


def test_every_round_has_a_curve_of_its_own_look(report: MonitorReport) -> None:
    spec = charts.curve_chart(curves_table(report, [0, 2, 4])).to_dict()["layer"][0]["encoding"]
    assert spec["color"]["scale"]["domain"] == ["Before training", "Round 2", "Round 4"]
    assert len(set(spec["color"]["scale"]["range"])) == 3
    assert spec["strokeDash"]["scale"]["range"] == [[5, 4], [1, 0], [1, 0]]


def test_one_round_alone_can_be_drawn(report: MonitorReport) -> None:
    assert marks(charts.curve_chart(curves_table(report, [4]))) == ["area", "line", "point"]


def test_the_bands_of_many_curves_would_hide_one_another(report: MonitorReport) -> None:
    assert marks(charts.curve_chart(curves_table(report, [0, 4]))) == ["area", "line", "point"]
    assert marks(charts.curve_chart(curves_table(report, [0, 2, 4]))) == ["line", "point"]


def test_all_pairs_are_one_row_of_bars(audited: MonitorReport) -> None:
    table = histogram_table(audited.measured[-1][1])
    chart = charts.histogram_chart(table, 0.6)
    assert marks(chart) == ["bar", "bar", "rule", "text"]
    assert f"{table['pairs'].sum():,} pairs" in charts.describe_histogram(table, None)


def test_strata_below_the_highest_pairs_have_their_own_colour(audited: MonitorReport) -> None:
    table = audit_strata(audited.measured[-1][1])
    chart = strata_chart.strata_chart(table)
    assert marks(chart) == ["rule", "point"]
    (rows,) = chart.to_dict()["datasets"].values()
    assert [row["stratum"] for row in rows if not row["top"]] == [list(table["stratum"])[-1]]
    assert {row["kind"] for row in rows if not row["top"]} == {strata_chart.BELOW}
    assert chart.to_dict()["layer"][0]["encoding"]["y"]["sort"] == list(table["stratum"])
    assert "11 strata: 0.92" in strata_chart.describe_strata(table)


@settings(max_examples=examples(20))
@given(shares=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_no_share_breaks_the_logarithm_of_the_strata(shares: list[float]) -> None:
    strata = [
        {"stratum": str(i), "size": 9, "sampled": 3, "positives": 0, "share": share, "share_low": share / 2,
         "share_high": min(1.0, share * 2), "top": True}
        for i, share in enumerate(shares)
    ]  # fmt: skip
    chart = strata_chart.strata_chart(pd.DataFrame(strata)).to_dict()
    low, high = chart["layer"][0]["encoding"]["x"]["scale"]["domain"]
    (rows,) = chart["datasets"].values()
    assert 0 < low < high <= 1
    assert all(low <= row["share_low"] <= row["share"] <= 1 for row in rows)


@pytest.mark.parametrize(("at", "extra"), [(0.6, ["rule", "text"]), (2.0, []), (None, [])])
def test_the_threshold_is_drawn_where_there_are_scores(
    report: MonitorReport, at: float | None, extra: list[str]
) -> None:
    table = histogram_table(report.measured[-1][1])
    assert marks(charts.histogram_chart(table, at)) == ["bar", "area", "bar", *extra]


def test_empty_bins_do_not_break_the_logarithm() -> None:
    table = pd.DataFrame({"score_from": [0.0, 0.5], "score_to": [0.5, 1.0], "negatives": [0, 5], "positives": [0, 0]})
    values = charts.histogram_chart(table, None).to_dict()["datasets"].values()
    assert all(row.get("height", 1) > 0 for rows in values for row in rows)


def test_each_plot_is_described(report: MonitorReport) -> None:
    table = estimates_table(report)
    average = charts.describe_estimates(table[table["measure"] == "Average precision"])
    course = r"Average precision over all pairs, by labels spent: 0\.\d+ at 0 labels, 0\.\d+ at 325 labels"
    course += r" \(95% interval 0\.\d+ to 0\.\d+\)\."
    assert re.fullmatch(course, average)
    curves = charts.describe_curves(curves_table(report, [4, 0]))
    band = r" \(95% interval 0\.\d{3} to 0\.\d{3}\)"
    assert re.search(rf"Before training 0\.\d\d{band}, Round 4 0\.\d\d{band}\.$", curves)
    batches = charts.describe_batches(batches_table(report))
    assert "batch 1: 9 of 40" in batches
    described = charts.describe_histogram(histogram_table(report.measured[-1][1]), 0.5)
    assert described.startswith("Score histogram: 600 positives and") and described.endswith("one half at 0.500.")


SINGLE = (palette.POSITIVE, palette.NEGATIVE, palette.NEUTRAL, palette.MATCHER, palette.EARLIER)


def luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark", "paper"])
def test_every_colour_can_be_seen_in_both_themes_and_on_paper(theme: str) -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    background = 1.0 if theme == "paper" else luminance(config["theme"][theme]["backgroundColor"])
    names = [f"Round {i}" for i in range(12)]
    for colour in (*SINGLE, *charts.round_colours(names).to_dict()["range"]):
        dark, light = sorted((background, luminance(colour)))
        assert (light + 0.05) / (dark + 0.05) >= 3, (theme, colour)


# Machado, Oliveira and Fernandes 2009, severity 1: how linear RGB looks to whom a kind of cone is missing
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def seen(colour: str, vision: str) -> np.ndarray:
    """Return the colour in CIELAB as seen with this vision."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    rgb = np.clip(np.array(VISIONS[vision]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    x, y, z = np.cbrt(xyz / np.array([0.9505, 1.0, 1.089]))  # none of the colours is nearly black
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(
    ("one", "other"), [(palette.POSITIVE, palette.NEGATIVE), (palette.EARLIER, palette.MATCHER),
                       (palette.POSITIVE, palette.NEUTRAL), (palette.NEGATIVE, palette.NEUTRAL)]
)  # fmt: skip
def test_colours_that_carry_meaning_differ_for_every_vision(one: str, other: str, vision: str) -> None:
    assert np.linalg.norm(seen(one, vision) - seen(other, vision)) > 25


def test_one_colour_has_one_meaning() -> None:
    assert len(set(SINGLE)) == len(SINGLE)
    assert set(palette.KINDS.values()) | set(palette.ANSWERS.values()) <= set(SINGLE)
    assert (palette.between(0), palette.between(1)) == (palette.EARLIER, palette.MATCHER)


def test_a_batch_without_answers_is_in_the_table(engine: Engine) -> None:
    project_id = make_project(engine, ["a", "b", "c"])
    make_round(engine, project_id, 2, strategy="most-similar")
    with reading(engine) as session:
        assert session.scalars(select(Round.number)).all() == [1]
    row = batches_table(read_report(engine, project_id)).iloc[0]
    assert (row["strategy"], row["size"], row["answered"]) == ("most-similar", 2, 0)
