"""Results that the worker wrote as files: tables, figures, a report; of experiments and pipelines alike."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.db.files.artifacts import held


@dataclass(frozen=True)
class TableFile:
    """A table as Markdown and as CSV."""

    name: str
    markdown: str
    csv: str


@dataclass(frozen=True)
class Panel:
    """A chart (Vega-Lite) and a sentence that describes it."""

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
    """Return the tables in the folder, ordered by name; none before there are results."""
    with held(folder):
        paths = sorted(folder.glob("*.md"))
        return [
            TableFile(path.stem, path.read_text(encoding="utf-8"), path.with_suffix(".csv").read_text(encoding="utf-8"))
            for path in paths
        ]


def read_rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of one table of the folder; none if it is not there."""
    path = folder / f"{name}.json"
    with held(folder):
        return list(json.loads(path.read_text(encoding="utf-8"))["rows"]) if path.exists() else []


def read_figures(folder: Path) -> list[FigureFile]:
    """Return the figures in the folder, ordered by name; none before there are results."""
    with held(folder):
        return [_figure(path) for path in sorted(folder.glob("*.json"))]


def _figure(path: Path) -> FigureFile:
    stored = json.loads(path.read_text(encoding="utf-8"))
    panels = [Panel(panel["description"], panel["chart"]) for panel in stored["panels"]]
    return FigureFile(path.stem, stored["title"], panels, path.with_suffix(".csv").read_text(encoding="utf-8"))


def read_report(path: Path) -> str:
    """Return the whole report as Markdown; empty before there is one."""
    with held(path):
        return path.read_text(encoding="utf-8") if path.exists() else ""
