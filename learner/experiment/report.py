"""Everything that an experiment writes: tables/, figures/ and report.md."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from allpairs.db.files.report import ENCODERS, FIGURES, REPORT, TABLES
from allpairs.learner.experiment.cell import load_split_corpus
from allpairs.learner.experiment.comparison import SHARE, Cost, CurvePoint, costs_of, points_of
from allpairs.learner.experiment.conditions import conditions_markdown, conditions_of
from allpairs.learner.experiment.encoder_table import encoder_figures, encoder_markdown
from allpairs.learner.experiment.figures import PANELS, Figure, curve_figures, curve_rows, describe, draw, page_panel
from allpairs.learner.experiment.paper import AP, PRECISION
from allpairs.learner.experiment.results import Results, read_cell_results
from allpairs.learner.experiment.spec import Experiment
from allpairs.learner.experiment.tables import paper_tables
from allpairs.learner.experiment.writing import as_markdown, comparison_markdown, costs_markdown, point_rows, table_rows
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.reports.tables import as_csv, write_report_table

CONDITIONS = "conditions"
READING_HINT = (
    "Means over seeds; ± is half of the 95% interval over seeds (Student's t); one seed has none. “Paper” is the "
    "figure in Mussmann, Jia and Liang (2020); letters in square brackets say which conditions differ from the "
    "paper's (Conditions, below). Round brackets hold the 95% interval of a figure from a sample. Rates are fractions "
    "of 1. P@R20: precision where 20% of the positives are found."
)


def write_report(experiment: Experiment, out: Path) -> bool:
    """Write tables/, figures/ and report.md from the finished cells to `out`; return whether there are results."""
    results = read_cell_results(experiment, out)
    if not results.records:
        return False
    for folder in (TABLES, FIGURES):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    if experiment.compares_encoders:
        parts = [_write_encoders(experiment, out)]
        (out / REPORT).write_text("\n".join([f"# {experiment.name}\n", *parts]), encoding="utf-8")
        return True
    points = points_of(results)
    developed = points_of(results, development=True)
    costs = costs_of(results, developed)
    figures = curve_figures(results, developed)
    parts = [
        *_write_tables(results, out / TABLES),
        _write_conditions(results, out / TABLES),
        *_write_comparison(results, points, costs, out / TABLES),
    ]
    parts += [_write_figure(figure, out / FIGURES) for figure in figures]
    (out / REPORT).write_text("\n".join([f"# {experiment.name}\n", f"{READING_HINT}\n", *parts]), encoding="utf-8")
    return True


def _write_encoders(experiment: Experiment, out: Path) -> str:
    """Write the comparison of encoders; return it as Markdown."""
    lines = encoder_figures(experiment, out)
    text = encoder_markdown(lines)
    write_report_table(out / TABLES / ENCODERS, [line.as_row() for line in lines], "Encoders", text)
    return text


def _write_tables(results: Results, folder: Path) -> list[str]:
    """Write the paper's tables; return them as Markdown."""
    experiment = results.experiment
    datasets = {}
    developments = {}
    for name in results.datasets:
        files = experiment.datasets[name]
        datasets[name] = dataset_of(load_split_corpus(files))
        if files.development:
            developments[name] = dataset_of(load_split_corpus(files, True))
    sections = []
    for table in paper_tables(results, datasets, developments):
        text = as_markdown(table)
        title = f"{table.name.replace('table', 'Table ')}: {table.title}"
        write_report_table(folder / table.name, table_rows(table), title, text)
        sections.append(text)
    return sections


def _write_conditions(results: Results, folder: Path) -> str:
    """Write what each row was measured with; return it as Markdown."""
    lines = conditions_of(results)
    text = conditions_markdown(lines)
    write_report_table(folder / CONDITIONS, [line.as_row() for line in lines], "Conditions", text)
    return text


def _write_comparison(results: Results, points: Sequence[CurvePoint], costs: Sequence[Cost], folder: Path) -> list[str]:
    """Write the comparison of all rows; return it as Markdown."""
    comparison = "### All rows\n\n" + "\n".join(comparison_markdown(points, name) for name in results.datasets)
    paid = "### Labels to reach an AP, on the development set where there is one\n\n" + "\n".join(
        costs_markdown(costs, name) for name in results.datasets
    )
    rows = point_rows(points, (AP, PRECISION, "positives", SHARE))
    write_report_table(folder / "comparison", rows, "All rows", comparison)
    write_report_table(folder / "labels", [asdict(cost) for cost in costs], "Labels to reach an AP", paid)
    return [comparison, paid]


def _write_figure(figure: Figure, folder: Path) -> str:
    """Write the figure's data, panels for pages and pictures; return the figure as Markdown."""
    (folder / f"{figure.stem}.csv").write_text(as_csv(curve_rows(figure)), encoding="utf-8")
    panels: list[dict[str, Any]] = [
        {"description": describe(figure, measure), "chart": page_panel(figure, measure)} for measure in PANELS
    ]
    content = {"title": _heading(figure), "panels": panels}
    (folder / f"{figure.stem}.json").write_text(json.dumps(content), encoding="utf-8")
    draw(figure, folder)
    return f"### {_heading(figure)}\n\n![{describe(figure, AP)}]({FIGURES}/{figure.stem}.png)\n"


def _heading(figure: Figure) -> str:
    number = figure.name.replace("figure", "Figure ")
    return f"{number if number != figure.name else 'Curves'}: {figure.title}, {figure.dataset}"
