"""The results of a pipeline: tables, figures, and a report of both."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import altair as alt

from learner.experiment.figures import Plot, save_chart
from learner.experiment.writing import Rows, as_csv, write_table

TABLES, FIGURES, REPORT = "tables", "figures", "report.md"


@dataclass
class Report:
    """Collects Markdown while tables and figures are written below the folder; `close` writes report.md."""

    folder: Path
    title: str
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in (TABLES, FIGURES):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def text(self, markdown: str) -> None:
        """Nothing; the report goes on with this paragraph."""
        self.parts.append(f"{markdown}\n")

    def table(self, name: str, title: str, rows: Rows, markdown: str) -> None:
        """Nothing; the table is in the report, and beside it as CSV and JSON."""
        whole = f"### {title}\n\n{markdown}"
        write_table(self.folder / TABLES / name, rows, title, whole)
        self.parts.append(whole)

    def figure(self, name: str, title: str, rows: Rows, panels: Sequence[tuple[str, Plot]]) -> None:
        """Nothing; the figure is in the report, and beside it as data, pictures and charts for pages.

        panels: what each shows, in a sentence, and its chart.
        """
        folder = self.folder / FIGURES
        (folder / f"{name}.csv").write_text(as_csv(rows))
        shown: list[Mapping[str, Any]] = [{"description": words, "chart": chart.to_dict()} for words, chart in panels]
        (folder / f"{name}.json").write_text(json.dumps({"title": title, "panels": shown}))
        save_chart(alt.hconcat(*(chart for _, chart in panels), title=title), folder / name)
        self.parts.append(f"### {title}\n\n![{panels[0][0]}]({FIGURES}/{name}.png)\n")

    def close(self) -> None:
        """Nothing; the report is written."""
        (self.folder / REPORT).write_text("\n".join([f"# {self.title}\n", *self.parts]))
