"""Tables as CSV, JSON and Markdown."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from allpairs.db.corpus.csv_writer import csv_text
from allpairs.learner.reports.means import Mean

NONE = "–"
Rows = Sequence[Mapping[str, Any]]


def mean_cells(measure: str, mean: Mean | None) -> dict[str, float | None]:
    """Return the measure's value and interval under their names."""
    value, low, high = (mean.value, mean.low, mean.high) if mean else (None, None, None)
    return {measure: value, f"{measure}_low": low, f"{measure}_high": high}


def as_csv(rows: Rows) -> str:
    """Return the rows as CSV with the column names of the first row; no cell can be a formula."""
    columns = list(rows[0])
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows))


def write_report_table(path: Path, rows: Rows, title: str, markdown: str) -> None:
    """Write the table as CSV, JSON and Markdown; path: without extension."""
    path.with_suffix(".csv").write_text(as_csv(rows), encoding="utf-8")
    path.with_suffix(".json").write_text(json.dumps({"title": title, "rows": rows}, indent=1), encoding="utf-8")
    path.with_suffix(".md").write_text(markdown, encoding="utf-8")


def grid(header: Sequence[str], body: Sequence[Sequence[str]], numbers: bool = True) -> str:
    """Return a Markdown table; columns of numbers, all but the first, are aligned to the right."""
    rule = ["---", *["---:" if numbers else "---"] * (len(header) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rule, *body))


def written(mean: Mean | None, count: bool) -> str:
    """Return the mean with half of its interval's width, if it has one."""
    if mean is None:
        return NONE
    half = "" if mean.low is None else f" ± {number(mean.value - mean.low, count)}"
    return number(mean.value, count) + half


def number(value: float | None, count: bool) -> str:
    """Format the number for tables: counts as integers, shares with three digits."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if count else f"{value:.3f}"


def relative(value: float | None) -> str:
    """Return the change in per cent, with its sign."""
    return NONE if value is None else f"{value:+.1%}"


def cell(text: str, longest: int | None = None) -> str:
    """Escape the text for a Markdown table; longest: truncate it to this many characters."""
    short = text if longest is None or len(text) <= longest else f"{text[:longest]} …"
    return " ".join(short.split()).replace("\\", "\\\\").replace("|", "\\|") or NONE
