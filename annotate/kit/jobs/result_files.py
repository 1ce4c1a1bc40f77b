"""Results that the worker wrote as files: tables, figures, a report; of experiments and pipelines alike."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.db.files.artifacts import held
from allpairs.db.files.report import FIGURES, REPORT, TABLES


@dataclass(frozen=True)
class TableFile:
    """A table as Markdown and as CSV."""

    name: str
    markdown: str
    csv: bytes


@dataclass(frozen=True)
class Panel:
    """A chart (Vega-Lite) and a sentence that describes it."""

    description: str
    chart: dict[str, Any]


@dataclass(frozen=True)
class FigureFile:
    """A figure: its panels."""

    name: str
    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class ResultFiles:
    """All that a job wrote: tables and figures, ordered by name, and the whole report as Markdown."""

    tables: Sequence[TableFile]
    figures: Sequence[FigureFile]
    report: str


def read_results(folder: Path) -> ResultFiles:
    """Return the results in the folder; empty before there are any.

    An object store is asked for these files alone: models may lie beside them.
    """
    with held(folder / TABLES) as tables, held(folder / FIGURES) as figures, held(folder / REPORT) as report:
        return ResultFiles(
            [_table(path) for path in sorted(tables.glob("*.md"))],
            [_figure(path) for path in sorted(figures.glob("*.json"))],
            report.read_text(encoding="utf-8") if report.exists() else "",
        )


def read_rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of one table of the results in the folder; none if it is not there."""
    path = folder / TABLES / f"{name}.json"
    with held(path):
        return list(json.loads(path.read_text(encoding="utf-8"))["rows"]) if path.exists() else []


def _table(path: Path) -> TableFile:
    return TableFile(path.stem, path.read_text(encoding="utf-8"), path.with_suffix(".csv").read_bytes())


def _figure(path: Path) -> FigureFile:
    stored = json.loads(path.read_text(encoding="utf-8"))
    panels = [Panel(panel["description"], panel["chart"]) for panel in stored["panels"]]
    return FigureFile(path.stem, stored["title"], panels)
