"""The results of a pipeline: tables, figures, and a report of both."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from allpairs.db.files.report import FIGURES, REPORT, TABLES
from allpairs.learner.reports.charts import COLOURS, HEIGHT, Plot, save_chart
from allpairs.learner.reports.tables import Rows, as_csv, grid, write_report_table


@dataclass
class Report:
    """Collect Markdown while tables and figures are written below the folder; `close` writes report.md."""

    folder: Path
    title: str
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in (TABLES, FIGURES):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def text(self, markdown: str) -> None:
        """Add this paragraph to the report."""
        self.parts.append(f"{markdown}\n")

    def table(self, name: str, title: str, rows: Rows, markdown: str) -> None:
        """Add the table to the report, and write it beside it as CSV and JSON."""
        whole = f"### {title}\n\n{markdown}"
        write_report_table(self.folder / TABLES / name, rows, title, whole)
        self.parts.append(whole)

    def counts(self, title: str, rows: Sequence[tuple[str, float]]) -> None:
        """Add a table of named counts."""
        table = [{"what": label, "n": n} for label, n in rows]
        body = [[label, f"{n:,.3g}" if isinstance(n, float) else f"{n:,}"] for label, n in rows]
        self.table("counts", title, table, grid(["", "n"], body))

    def figure(self, name: str, title: str, rows: Rows, panels: Sequence[tuple[str, Plot]]) -> None:
        """Add the figure to the report, and write its data, pictures and charts beside it.

        panels: a descriptive sentence and a chart each.
        """
        folder = self.folder / FIGURES
        (folder / f"{name}.csv").write_text(as_csv(rows), encoding="utf-8")
        charts: list[Mapping[str, Any]] = [{"description": words, "chart": chart.to_dict()} for words, chart in panels]
        (folder / f"{name}.json").write_text(json.dumps({"title": title, "panels": charts}), encoding="utf-8")
        save_chart(alt.hconcat(*(chart for _, chart in panels), title=title), folder / name)
        self.parts.append(f"### {title}\n\n![{panels[0][0]}]({FIGURES}/{name}.png)\n")

    def close(self) -> None:
        """Write the report."""
        (self.folder / REPORT).write_text("\n".join([f"# {self.title}\n", *self.parts]), encoding="utf-8")


def curve(rows: Rows, x: str, y: str, group: str, title: str) -> Plot:
    """Return a chart of lines with points, one for each value of `group`, with intervals where rows have `low`."""
    data = pd.DataFrame(rows)
    names = list(dict.fromkeys(data[group]))
    scale = alt.Scale(domain=names, range=list(COLOURS[: len(names)]))
    colour = alt.Color(f"{group}:N", title=None, scale=scale, legend=alt.Legend(orient="bottom", columns=2))
    base = alt.Chart(data).encode(x=alt.X(f"{x}:Q", title=x.capitalize()), color=colour)
    line = base.mark_line(point=True).encode(y=alt.Y(f"{y}:Q", title=title), tooltip=[group, x, y, "low", "high"])
    bars = [] if data["low"].isna().all() else [base.mark_rule().encode(y="low:Q", y2="high:Q")]
    return alt.layer(*bars, line).properties(height=HEIGHT)
