"""Cells of the tables of uses, and tables of what the paper alone measured."""

import math
from collections.abc import Container, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from allpairs.learner.pipelines.quip.uses.rows import Rows
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.tables import grid, number

Printed = Mapping[tuple[str, str], Mapping[str, float | None]]  # by data set and model: figures by column


def report_printed(
    report: Report, name: str, title: str, printed: Printed, measured: Container[tuple[str, str]]
) -> None:
    """Report what the paper prints about other data sets and models than those that were measured here."""
    rows: list[dict[str, Any]] = [
        {"dataset": dataset, "model": model, **figures}
        for (dataset, model), figures in printed.items()
        if (dataset, model) not in measured
    ]
    if not rows:
        return
    columns = list(rows[0])[2:]
    body = [
        [
            f"{row['dataset']}, {row['model']}",
            *(number(row[column], isinstance(row[column], int)) for column in columns),
        ]
        for row in rows
    ]
    report.table(f"{name}-paper", f"{title}: the paper only", rows, grid(["", *columns], body))


def report_f1(
    report: Report,
    name: str,
    title: str,
    figures: Rows,
    ways: Sequence[str],
    printed: Mapping[tuple[str, str, str], float | None],
) -> None:
    """Report the mean F1 over seeds of each data set and model, one column for each way; then the paper's others."""
    chosen = [row for row in figures if row["use"] in ways]
    present = [way for way in ways if any(row["use"] == way for row in chosen)]
    if not present:
        return
    rows = []
    body = []
    for dataset, model in dict.fromkeys((row["dataset"], row["model"]) for row in chosen):
        row: dict[str, Any] = {"dataset": dataset, "model": model}
        cells = []
        for way in present:
            values = [
                row["f1"] for row in chosen if (row["dataset"], row["model"], row["use"]) == (dataset, model, way)
            ]
            row |= mean_figure(way, values) | {
                f"{way}_seeds": len(values),
                f"{way}_paper": printed.get((dataset, model, way)),
            }
            cells += [with_error(row, way), number(row[f"{way}_paper"], False)]
        rows.append(row)
        body.append([f"{dataset}, {model}", *cells])
    report.table(name, title, rows, grid(["F1", *(column for way in present for column in (way, "paper"))], body))
    figures_of_paper = {
        (dataset, model): {way: printed.get((dataset, model, way)) for way in ways} for dataset, model, _ in printed
    }
    report_printed(report, name, title, figures_of_paper, {(row["dataset"], row["model"]) for row in rows})


def mean_figure(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Return the mean of the values, and its standard error, as cells of these names."""
    return {name: fmean(values) if values else None, f"{name}_error": standard_error(values)}


def with_error(row: dict[str, Any], name: str) -> str:
    """Return the mean with its standard error in words."""
    error = row[f"{name}_error"]
    return number(row[name], False) + ("" if error is None else f" ± {number(error, False)}")


def standard_error(values: Sequence[float]) -> float | None:
    """Return the standard error of the mean, with n − 1 in the variance; None for one value."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
