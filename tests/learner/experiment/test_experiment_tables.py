"""Tables and figures of an experiment against numbers computed by hand."""

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.data.dataset import make_dataset
from allpairs.learner.experiment.comparison import costs_of, points_of
from allpairs.learner.experiment.conditions import MARKS, conditions_markdown, conditions_of
from allpairs.learner.experiment.figures import curve_figures, curve_panel, curve_rows, describe, draw
from allpairs.learner.experiment.paper import AP, PAPER, PRECISION, printed
from allpairs.learner.experiment.results import Record, Results, near_of
from allpairs.learner.experiment.spec import Experiment, make_experiment
from allpairs.learner.experiment.tables import Table, paper_tables
from allpairs.learner.experiment.writing import as_markdown, comparison_markdown, costs_markdown, table_rows
from allpairs.learner.reports.means import Mean, mean_of
from allpairs.learner.reports.tables import as_csv

ROWS: list[dict[str, Any]] = [
    {"name": "ours", "strategy": "uncertainty"},
    {"name": "seeded", "strategy": "uncertainty-stated"},
    {"name": "static", "strategy": "static-retrieval"},
    {"name": "again", "strategy": "uncertainty", "settings": {"warm_start": True}},
    {"name": "matched", "strategy": "stratified-match"},
    {"name": "told", "strategy": "stated"},
    {"name": "reader", "kind": "concat", "labels": "told", "backbone": "bert-base-uncased"},
]


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    (tmp_path / "x.csv").write_text("id,text\n1,a\n")
    files = {"left": "x.csv", "gold": "x.csv", "paper": "wikiqa"}
    return make_experiment({"name": "x", "rows": ROWS, "seeds": [0, 1, 2], "datasets": {"d": files}}, tmp_path)


def record(row: str, seed: int, number: int, ap: float, positives: int = 5, **more: float) -> Record:
    labels = 10 * number
    figures = {AP: ap, PRECISION: 2 * ap, "positives": positives, "share_positive": positives / labels, **more}
    return Record("d", row, seed, number, labels, figures)


@pytest.fixture
def results(experiment: Experiment) -> Results:
    """Return two rounds of every row: three seeds of "ours", one of the others."""
    last = {"seeded": 0.36, "static": 0.2, "again": 0.5, "matched": 0.25, "told": 0.1}
    records = [record("ours", seed, 1, ap) for seed, ap in enumerate((0.1, 0.2, 0.15))]
    records += [record("ours", seed, 2, ap, 6 + seed) for seed, ap in enumerate((0.3, 0.4, 0.35))]
    records += [record(row, 0, 1, 0.05) for row in last] + [record(row, 0, 2, ap) for row, ap in last.items()]
    records += [record("reader", 0, 1, 0.03, stated_accuracy=0.8, question_map=0.7)]
    return Results(experiment, records)


DATASET = make_dataset(
    ["a", "b", "c", "d", "e"], ["left"] * 5, ["train"] * 3 + ["evaluation"] * 2, True, np.array([[0, 1], [3, 4]]),
    [(0, 1, True), (0, 2, False), (1, 2, False), (3, 4, True)],
)  # fmt: skip


@pytest.fixture
def tables(results: Results) -> dict[str, Table]:
    return {table.name: table for table in paper_tables(results, {"d": DATASET})}


def test_a_mean_has_students_interval() -> None:
    # 1, 2, 3: standard error 1/√3, and t of 2 degrees at 97.5 % is 4.302653.
    assert mean_of([1, 2, 3]) == Mean(2, pytest.approx(2 - 2.484138, abs=1e-5), pytest.approx(2 + 2.484138, abs=1e-5))
    assert mean_of([0.4]) == Mean(0.4)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(0.1, 10))
def test_an_interval_holds_its_mean_and_scales_with_the_values(values: list[float], factor: float) -> None:
    found, scaled = mean_of(values), mean_of([factor * value for value in values])
    assert found.low is not None and found.high is not None and scaled.low is not None
    assert found.low <= found.value + 1e-12 and found.value <= found.high + 1e-12
    assert scaled.low == pytest.approx(factor * found.low, abs=1e-9)


def test_table_1_counts_the_pairs_of_each_part(tables: dict[str, Table]) -> None:
    train, test = tables["table1"].lines
    counts = {name: mean.value for name, mean in train.means.items()}
    assert (train.row, counts) == ("train", {"positives": 1, "pairs": 3, "stated_negatives": 2})
    assert {name: mean.value for name, mean in test.means.items()} == {
        "positives": 1,
        "pairs": 1,
        "stated_negatives": 0,
    }
    assert (train.paper["positives"], test.paper["positives"]) == (1040, 293)


def test_table_3_takes_of_each_strategy_the_first_row_at_its_end(tables: dict[str, Table]) -> None:
    lines = tables["table3"].lines
    assert [line.row for line in lines] == ["told", "static", "ours"]  # in the paper's order, without the second one
    ours = lines[-1]
    assert (ours.seeds, ours.means[AP].value, ours.means[PRECISION].value) == (
        3,
        pytest.approx(0.35),
        pytest.approx(0.7),
    )
    assert ours.means[AP].low == pytest.approx(0.35 - 4.302653 * 0.05 / 3**0.5, abs=1e-6)
    assert ours.paper == {PRECISION: 0.324, AP: 0.201}
    assert lines[0].means[AP].low is None


def test_table_4_counts_the_positives_at_the_end(tables: dict[str, Table]) -> None:
    found = {line.row: (line.means["positives"].value, line.paper.get("positives")) for line in tables["table4"].lines}
    assert found == {"told": (5, None), "static": (5, 169), "ours": (7, 742)}


def test_tables_2_5_and_6_have_the_rows_there_are(tables: dict[str, Table]) -> None:
    (backbone,) = tables["table2"].lines
    assert (backbone.row, backbone.means["question_map"].value, backbone.paper["question_map"]) == (
        "reader",
        0.7,
        0.799,
    )
    assert [(line.row, line.paper[AP]) for line in tables["table5"].lines] == [("matched", 0.085)]
    (both,) = tables["table6"].lines
    assert (both.row, both.means[f"cosine_{AP}"].value, both.means[f"concat_{AP}"].value) == ("told", 0.1, 0.03)
    assert not both.paper  # the paper's is of QQP alone


def test_a_table_without_rows_is_left_out(experiment: Experiment) -> None:
    results = Results(experiment, [record("static", 0, 1, 0.2)])
    assert [table.name for table in paper_tables(results, {"d": DATASET})] == ["table1", "table3", "table4"]


def test_a_table_is_written_with_the_papers_figures_beside_ours(tables: dict[str, Table]) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(table_rows(tables["table3"])))))
    assert (rows[2]["row"], rows[2]["seeds"], rows[2][f"{AP}_paper"]) == ("ours", "3", "0.201")
    assert float(rows[2][f"{AP}_low"]) == pytest.approx(0.2258, abs=1e-4)
    assert rows[0][f"{AP}_low"] == ""
    text = as_markdown(tables["table3"]).splitlines()
    assert text[0] == "### Table 3: Strategies"
    assert text[2] == "| d | P@R20 | paper | AP | paper |"
    assert text[-1] == "| ours [E L P] | 0.700 ± 0.248 | 0.324 | 0.350 ± 0.124 | 0.201 |"
    assert "| told | 5 | – |" in as_markdown(tables["table4"])


def test_rows_are_compared_at_equal_labels(results: Results) -> None:
    lines = comparison_markdown(points_of(results), "d").splitlines()
    assert lines[0] == "| AP on d | 10 labels | 20 labels |"
    assert lines[2] == "| ours | 0.150 ± 0.124 | 0.350 ± 0.124 |"
    assert lines[-1] == "| reader | 0.030 | – |"


def test_the_labels_to_reach_an_ap_are_the_first_that_do(results: Results) -> None:
    costs = {cost.row: cost for cost in costs_of(results, points_of(results))}
    assert costs["ours"].target == pytest.approx(0.35)
    assert {row: (cost.labels, cost.share) for row, cost in costs.items() if cost.labels} == {
        "ours": (20, 1.0), "seeded": (20, 1.0), "again": (20, 1.0),
    }  # fmt: skip
    at = results.experiment.model_copy(update={"reach": [0.04, 0.2], "baseline": "static"})
    costs_at = costs_of(Results(at, results.records), points_of(results))
    assert [(c.labels, c.share) for c in costs_at if c.row == "ours"] == [(10, 1.0), (20, 1.0)]
    assert "| told | 10 (× 1.00) | not reached |" in costs_markdown(costs_at, "d")


def test_figures_hold_their_rows_and_leave_out_what_is_missing(results: Results) -> None:
    figures = {figure.name: figure for figure in curve_figures(results, points_of(results))}
    rows = {name: list(dict.fromkeys(point.row for point in figure.points)) for name, figure in figures.items()}
    assert rows["figure3"] == ["ours", "seeded", "static"]
    assert rows["figure4"] == ["ours", "static"]
    assert rows["curves"] == ["ours", "seeded", "static", "again", "matched", "told"]
    first = curve_rows(figures["figure4"])[0]
    assert (first["labels"], first[AP], first["share_positive"]) == (10, pytest.approx(0.15), 0.5)
    assert describe(figures["figure4"], AP).endswith(", d: ours 0.350 at 20; static 0.200 at 20.")
    without = Results(results.experiment, [r for r in results.records if r.row != "seeded"])
    assert [figure.name for figure in curve_figures(without, points_of(without))] == ["figure4", "curves"]


def test_a_figure_is_drawn_as_png_and_svg(results: Results, tmp_path: Path) -> None:
    figure = curve_figures(results, points_of(results))[0]
    draw(figure, tmp_path)
    assert (tmp_path / "figure3-d.png").read_bytes().startswith(b"\x89PNG")
    words = "".join(ElementTree.parse(tmp_path / "figure3-d.svg").getroot().itertext())
    assert all(word in words for word in ("ours", "seeded", "static", "Average precision", "Labels spent"))
    assert "0.35" not in json.dumps(curve_panel(figure, AP).to_dict()["layer"])  # the numbers are data, not drawing


def test_the_papers_figures_agree_with_each_other() -> None:
    parts = PAPER["table1"]["qqp"]
    assert sum(part["positives"] for part in parts.values()) == 228_548  # pairs after the closure
    assert parts["train"]["positives"] + parts["train"]["stated_negatives"] == 257_421
    for strategy, both in PAPER["table6"]["qqp"].items():
        table = "table5" if strategy == "stratified-match" else "table3"
        assert {name.removeprefix("cosine_"): value for name, value in both.items() if name.startswith("cosine_")} == (
            printed(table, "qqp", strategy)
        )
    assert printed("table3", None, "random") == printed("table9", "qqp", "random") == {}


def test_conditions_that_differ_from_the_papers_are_marked(experiment: Experiment) -> None:
    told = Record("d", "told", 0, 1, 20_360, {AP: 0.1}, pairs=17_000_000, known=293)
    reader = Record("d", "reader", 0, 1, 20_360, {AP: 0.03}, pairs=17_000_000, known=293, method="near-random",
                    sampled={AP: (0.01, 0.05)})  # fmt: skip
    ours = Record("d", "ours", 0, 4, 16_640, {AP: 0.2}, pairs=16_582_068, known=293)
    short = Record("d", "static", 0, 1, 512, {AP: 0.1}, pairs=17_000_000, known=290)
    results = Results(experiment, [told, reader, ours, short])
    found = {line.row: line for line in conditions_of(results)}
    assert found["told"].marks == ("E",)  # all-MiniLM-L6-v2 in place of BERT-base
    assert found["reader"].marks == () and found["reader"].method == "near-random under all-MiniLM-L6-v2"
    assert found["ours"].marks == ("E", "P") and found["static"].marks == ("E", "L")
    assert (found["ours"].hubness, found["ours"].titles, found["ours"].seeds) == (0.25, None, 1)
    text = conditions_markdown(list(found.values()))
    assert all(f"{mark}: {what}." in text for mark, what in MARKS.items())
    (line,) = [
        line for table in paper_tables(results, {"d": DATASET}) if table.name == "table2" for line in table.lines
    ]
    assert (line.marks, line.sampled) == ((), {AP: (0.01, 0.05)})
    assert "0.030 (0.010–0.050)" in as_markdown(Table("table2", "x", (AP,), [line]))


def test_whether_there_are_titles_is_read_beside_the_files(experiment: Experiment, tmp_path: Path) -> None:
    (tmp_path / "stats.json").write_text(json.dumps({"titles": True}))
    (line,) = conditions_of(Results(experiment, [record("ours", 0, 1, 0.1)]))
    assert line.titles is True


def test_near_negatives_are_those_of_the_part_that_was_measured(tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    base.write_text(json.dumps({"near_negatives": 7}))
    assert near_of(base, "d", "dev") == {("d", "dev"): 7} and near_of(base, "d", "test") == {("d", "test"): 7}
    base.write_text(json.dumps({"near_negatives": 7, "development": {"near_negatives": 5}}))
    assert near_of(base, "d", "test") == {("d", "test"): 7, ("d", "dev"): 5}
    assert near_of(tmp_path / "none.json", "d", "test") == {}
