"""Tables as CSV, JSON and Markdown."""

from collections.abc import Sequence
from typing import Any

from allpairs.learner.experiment.comparison import Cost, CurvePoint
from allpairs.learner.experiment.paper import AP
from allpairs.learner.experiment.tables import Line, Table, is_count, measure_title
from allpairs.learner.reports.tables import grid, mean_cells, number, written


def table_rows(table: Table) -> list[dict[str, Any]]:
    """Return one dictionary for each line: our mean, its interval and the paper's figure of every measure."""
    return [
        {"dataset": line.dataset, "row": line.row, "seeds": line.seeds}
        | {key: value for measure in table.measures for key, value in _cells(line, measure).items()}
        | {"marks": " ".join(line.marks)}
        for line in table.lines
    ]


def _cells(line: Line, measure: str) -> dict[str, float | None]:
    low, high = line.sampled.get(measure, (None, None))
    sample = {f"{measure}_sample_low": low, f"{measure}_sample_high": high}
    return {**mean_cells(measure, line.means.get(measure)), **sample, f"{measure}_paper": line.paper.get(measure)}


def point_rows(points: Sequence[CurvePoint], measures: Sequence[str]) -> list[dict[str, Any]]:
    """Return one dictionary for each row and round."""
    return [
        {"dataset": point.dataset, "row": point.row, "round": point.round, "labels": point.labels, "seeds": point.seeds}
        | {key: value for name in measures for key, value in mean_cells(name, point.figures.get(name)).items()}
        for point in points
    ]


def as_markdown(table: Table) -> str:
    """Return the table with a part for each data set, without measures that have no values."""
    datasets = dict.fromkeys(line.dataset for line in table.lines)
    parts = [_part(table, [line for line in table.lines if line.dataset == name], name) for name in datasets]
    note = f"\n{table.note}\n" if table.note else ""
    return f"### {_number(table.name)}: {table.title}\n{note}\n" + "\n".join(parts)


def _number(name: str) -> str:
    return name.replace("table", "Table ")


def _part(table: Table, lines: Sequence[Line], dataset: str) -> str:
    printed = any(line.paper for line in lines)
    measures = [name for name in table.measures if any(name in line.means or name in line.paper for line in lines)]
    header = [dataset]
    for measure in measures:
        header += [measure_title(measure), "paper"] if printed else [measure_title(measure)]
    body = []
    for line in lines:
        cells = [line.row + (f" [{' '.join(line.marks)}]" if line.marks else "")]
        for measure in measures:
            cells.append(written(line.means.get(measure), is_count(measure)) + _interval(line.sampled.get(measure)))
            if printed:
                cells.append(number(line.paper.get(measure), is_count(measure)))
        body.append(cells)
    return grid(header, body)


def _interval(ends: tuple[float, float] | None) -> str:
    """Return the interval of a figure from a sample in brackets."""
    return "" if ends is None else f" ({number(ends[0], False)}–{number(ends[1], False)})"


def comparison_markdown(points: Sequence[CurvePoint], dataset: str) -> str:
    """Return AP of every row (lines) at every number of labels (columns) on one data set."""
    dataset_points = [point for point in points if point.dataset == dataset]
    spent = sorted({point.labels for point in dataset_points})
    rows = dict.fromkeys(point.row for point in dataset_points)
    aps = {(point.row, point.labels): point.figures.get(AP) for point in dataset_points}
    body = [[row, *(written(aps.get((row, labels)), False) for labels in spent)] for row in rows]
    return grid([f"AP on {dataset}", *(f"{labels:,} labels" for labels in spent)], body)


def costs_markdown(costs: Sequence[Cost], dataset: str) -> str:
    """Return the labels that every row (lines) needs for every AP (columns) on one data set."""
    dataset_costs = [cost for cost in costs if cost.dataset == dataset]
    targets = list(dict.fromkeys(cost.target for cost in dataset_costs))
    rows = dict.fromkeys(cost.row for cost in dataset_costs)
    cells = {(cost.row, cost.target): cost for cost in dataset_costs}
    body = [[row, *(_cost(cells[row, target]) for target in targets)] for row in rows]
    return grid([f"Labels on {dataset}", *(f"to AP {target:.3f}" for target in targets)], body)


def _cost(cost: Cost) -> str:
    if cost.labels is None:
        return "not reached"
    return f"{cost.labels:,}" + ("" if cost.share is None else f" (× {cost.share:.2f})")
