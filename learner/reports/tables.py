"""Tables as CSV, JSON and Markdown."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from db.corpus.formula import guarded
from learner.reports.means import Mean

NONE = "–"
Rows = Sequence[Mapping[str, Any]]


def mean_cells(measure: str, mean: Mean | None) -> dict[str, float | None]:
    """The measure's value and interval under their names."""
    value, low, high = (mean.value, mean.low, mean.high) if mean else (None, None, None)
    return {measure: value, f"{measure}_low": low, f"{measure}_high": high}


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
