"""Table 8: variants of QuIP that change little."""

from statistics import fmean
from typing import Any

from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip import paper
from allpairs.learner.pipelines.quip.student import models_of
from allpairs.learner.pipelines.quip.uses.entities import QUESTIONS
from allpairs.learner.pipelines.quip.uses.stage import figures_of
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.tables import grid, number


def report_stability(report: Report, run: Run) -> None:
    """Report Table 8, if one of its variants was trained."""
    trained = {model.name for model in models_of(run)}
    models = [name for name in paper.STABILITY if name in trained]
    if len(models) < 2:
        return
    parts = (
        ("reading", "token_f1", None),
        ("paraphrases", "auroc", "ranking"),
        ("entities", "f1", QUESTIONS),
    )
    rows = []
    body = []
    for model in models:
        row: dict[str, Any] = {"model": model}
        cells = [model]
        for (use, measure, way), printed in zip(parts, paper.STABILITY[model], strict=True):
            figures = [row for row in figures_of(run, use) if row["model"] == model and row.get("use") == way]
            figures = [row for row in figures if use != "reading" or "dataset" not in row]  # of all questions
            value = fmean(row[measure] for row in figures) if figures else None
            row |= {use: value, f"{use}_paper": printed}
            cells += [number(value, False), number(printed, False)]
        rows.append(row)
        body.append(cells)
    report.text(
        f"Concatenated passages: the passages of one step, {run.config.student.batch_size} with all their questions "
        "(the paper: about 9)."
    )
    header = ["", "reading F1", "paper", "paraphrases AUROC", "paper", "entities F1", "paper"]
    report.table("table8", "Table 8: variants of QuIP", rows, grid(header, body))
