"""Tables as CSV, JSON and Markdown."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from db.corpus.formula import guarded
from learner.experiment.comparison import Cost, Point
from learner.experiment.paper import AP
from learner.experiment.results import Mean
from learner.experiment.tables import Line, Table, is_count, title_of

NONE = "–"
Rows = Sequence[Mapping[str, Any]]


def table_rows(table: Table) -> list[dict[str, Any]]:
    """One dictionary for each line: our mean, its interval and the paper's figure of every measure."""
    return [
        {"dataset": line.dataset, "row": line.row, "seeds": line.seeds}
        | {key: value for measure in table.measures for key, value in _cells(line, measure).items()}
        for line in table.lines
    ]


def _cells(line: Line, measure: str) -> dict[str, float | None]:
    return {**mean_cells(measure, line.ours.get(measure)), f"{measure}_paper": line.paper.get(measure)}


def mean_cells(measure: str, mean: Mean | None) -> dict[str, float | None]:
    """The measure's value and interval under their names."""
    value, low, high = (mean.value, mean.low, mean.high) if mean else (None, None, None)
    return {measure: value, f"{measure}_low": low, f"{measure}_high": high}


def point_rows(points: Sequence[Point], measures: Sequence[str]) -> list[dict[str, Any]]:
    """One dictionary for each row and round."""
    return [
        {"dataset": point.dataset, "row": point.row, "round": point.round, "labels": point.labels, "seeds": point.seeds}
        | {key: value for name in measures for key, value in mean_cells(name, point.figures.get(name)).items()}
        for point in points
    ]


def as_csv(rows: Rows) -> str:
    """The rows under the names of the first; no cell is a formula."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: guarded(cell) for name, cell in row.items()} for row in rows)
    return text.getvalue()


def write_table(path: Path, rows: Rows, title: str, markdown: str) -> None:
    """Nothing; the table lies beside the path's name as CSV, JSON and Markdown."""
    path.with_suffix(".csv").write_text(as_csv(rows))
    path.with_suffix(".json").write_text(json.dumps({"title": title, "rows": rows}, indent=1))
    path.with_suffix(".md").write_text(markdown)


def as_markdown(table: Table) -> str:
    """The table with a part for each data set; measures that nothing is known of are left out."""
    datasets = dict.fromkeys(line.dataset for line in table.lines)
    parts = [_part(table, [line for line in table.lines if line.dataset == name], name) for name in datasets]
    note = f"\n{table.note}\n" if table.note else ""
    return f"### {_number(table.name)}: {table.title}\n{note}\n" + "\n".join(parts)


def _number(name: str) -> str:
    return name.replace("table", "Table ")


def _part(table: Table, lines: Sequence[Line], dataset: str) -> str:
    printed = any(line.paper for line in lines)
    measures = [name for name in table.measures if any(name in line.ours or name in line.paper for line in lines)]
    header = [dataset]
    for measure in measures:
        header += [title_of(measure), "paper"] if printed else [title_of(measure)]
    body = []
    for line in lines:
        cells = [line.row]
        for measure in measures:
            cells.append(written(line.ours.get(measure), is_count(measure)))
            if printed:
                cells.append(number(line.paper.get(measure), is_count(measure)))
        body.append(cells)
    return grid(header, body)


def comparison_markdown(points: Sequence[Point], dataset: str) -> str:
    """AP of every row (lines) at every number of labels (columns) on one data set."""
    mine = [point for point in points if point.dataset == dataset]
    spent = sorted({point.labels for point in mine})
    rows = dict.fromkeys(point.row for point in mine)
    at = {(point.row, point.labels): point.figures.get(AP) for point in mine}
    body = [[row, *(written(at.get((row, labels)), False) for labels in spent)] for row in rows]
    return grid([f"AP on {dataset}", *(f"{labels:,} labels" for labels in spent)], body)


def costs_markdown(costs: Sequence[Cost], dataset: str) -> str:
    """The labels that every row (lines) pays for every AP (columns) on one data set."""
    mine = [cost for cost in costs if cost.dataset == dataset]
    targets = list(dict.fromkeys(cost.target for cost in mine))
    rows = dict.fromkeys(cost.row for cost in mine)
    at = {(cost.row, cost.target): cost for cost in mine}
    body = [[row, *(_cost(at[row, target]) for target in targets)] for row in rows]
    return grid([f"Labels on {dataset}", *(f"to AP {target:.3f}" for target in targets)], body)


def _cost(cost: Cost) -> str:
    if cost.labels is None:
        return "not reached"
    return f"{cost.labels:,}" + ("" if cost.share is None else f" (× {cost.share:.2f})")


def grid(header: Sequence[str], body: Sequence[Sequence[str]], numbers: bool = True) -> str:
    """A Markdown table whose columns but the first stand on the right where they are numbers."""
    rule = ["---", *["---:" if numbers else "---"] * (len(header) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rule, *body))


def written(mean: Mean | None, count: bool) -> str:
    """The mean with half of its interval's width, where it has one."""
    if mean is None:
        return NONE
    half = "" if mean.low is None else f" ± {number(mean.value - mean.low, count)}"
    return number(mean.value, count) + half


def number(value: float | None, count: bool) -> str:
    """The number as tables have it: counts whole, shares to three digits."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if count else f"{value:.3f}"


def relative(value: float | None) -> str:
    """The change in per cent, with its sign."""
    return NONE if value is None else f"{value:+.1%}"


def cell(text: str, longest: int | None = None) -> str:
    """The text, or so many characters of its beginning, such that a Markdown table holds it."""
    short = text if longest is None or len(text) <= longest else f"{text[:longest]} …"
    return " ".join(short.split()).replace("\\", "\\\\").replace("|", "\\|") or NONE
