"""Results that the worker left as files: tables, figures, a report. Of experiments and of pipelines alike."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.files.artifacts import held


@dataclass(frozen=True)
class TableFile:
    """A table as Markdown, and the same numbers as CSV."""

    name: str
    markdown: str
    csv: str


@dataclass(frozen=True)
class Panel:
    """A chart (Vega-Lite), and what it shows in a sentence."""

    description: str
    chart: dict[str, Any]


@dataclass(frozen=True)
class FigureFile:
    """A figure: its panels, and its numbers as CSV."""

    name: str
    title: str
    panels: Sequence[Panel]
    csv: str


def read_tables(folder: Path) -> list[TableFile]:
    """The tables in the folder in the order of their names; none before there are results."""
    with held(folder):
        paths = sorted(folder.glob("*.md"))
        return [TableFile(path.stem, path.read_text(), path.with_suffix(".csv").read_text()) for path in paths]


def read_figures(folder: Path) -> list[FigureFile]:
    """The figures in the folder in the order of their names; none before there are results."""
    with held(folder):
        return [_figure(path) for path in sorted(folder.glob("*.json"))]


def _figure(path: Path) -> FigureFile:
    stored = json.loads(path.read_text())
    panels = [Panel(panel["description"], panel["chart"]) for panel in stored["panels"]]
    return FigureFile(path.stem, stored["title"], panels, path.with_suffix(".csv").read_text())


def read_report(path: Path) -> str:
    """The whole report as Markdown; empty before there is one."""
    with held(path):
        return path.read_text() if path.exists() else ""
