"""Tables 1 and 7: reading, and reading by data set."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip import paper
from allpairs.learner.pipelines.quip.tables.cells import report_printed
from allpairs.learner.pipelines.quip.uses.rows import Rows
from allpairs.learner.pipelines.quip.uses.stage import figures_of
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.tables import grid, number

FIGURES = ("exact_match", "exact_match_paper", "token_f1", "token_f1_paper")


def report_reading(report: Report, run: Run) -> None:
    """Report Table 1, if reading was measured, and Table 7, if there are several data sets."""
    everything = figures_of(run, "reading")
    measured = [row for row in everything if "dataset" not in row]
    if not measured:
        return
    rows = []
    body = []
    for row in measured:
        printed = dict(zip(("exact_match", "token_f1"), paper.READING.get(row["model"], (None, None)), strict=True))
        rows.append({**row, **{f"{name}_paper": value for name, value in printed.items()}})
        cells = [f"{row[name]:.3f} [{_bound(row, name, 'low')}, {_bound(row, name, 'high')}]" for name in printed]
        body.append([row["model"], f"{row['questions']:,}", *_beside(cells, list(printed.values()))])
    left_out = measured[0].get("left_out", 0)
    report.text(
        "Intervals over questions, 95%: Wilson's for exact match, the bootstrap's for F1. The paper: SQuAD 1.1's "
        "development questions." + (f" {left_out:,} questions without an answer are left out." if left_out else "")
    )
    header = ["", "questions", "exact match", "paper", "F1", "paper"]
    report.table("table1", "Table 1: reading", rows, grid(header, body))
    paper_rows: dict[tuple[str, str], dict[str, float | None]] = {
        (paper.SQUAD, model): {"exact match": values[0], "F1": values[1]} for model, values in paper.READING.items()
    }
    report_printed(report, "table1", "Table 1: reading", paper_rows, {(paper.SQUAD, row["model"]) for row in rows})
    _by_dataset(report, [row for row in everything if "dataset" in row])


def _by_dataset(report: Report, measured: Rows) -> None:
    """Report Table 7: every data set by itself, and the means of those that the paper's generator learned or not."""
    if not measured:
        return
    rows: list[dict[str, Any]] = []
    for model in dict.fromkeys(row["model"] for row in measured):
        model_rows = [_beside_paper(row) for row in measured if row["model"] == model]
        rows += model_rows
        for words, names in (("in-domain mean", paper.IN_DOMAIN), ("out-of-domain mean", paper.OUT_OF_DOMAIN)):
            group = [row for row in model_rows if _papers_name(row["dataset"]) in names]
            if len(group) > 1:
                questions = sum(row["questions"] for row in group)
                rows.append({"model": model, "dataset": words, "questions": questions, **_means(group)})
    body = [
        [f"{row['dataset']}, {row['model']}", f"{row['questions']:,}", *(number(row[name], False) for name in FIGURES)]
        for row in rows
    ]
    report.text(
        "A data set is the paper's if its name begins with the paper's. In-domain are those that the paper's generator "
        "and teacher learned from. Means, the paper's too, are over the data sets that are here."
    )
    header = ["", "questions", "exact match", "paper", "F1", "paper"]
    table_rows = [{name: row[name] for name in ("dataset", "model", "questions", *FIGURES)} for row in rows]
    report.table("table7", "Table 7: reading by data set", table_rows, grid(header, body))
    paper_rows: dict[tuple[str, str], dict[str, float | None]] = {
        (name, model): {"exact match": values[0], "F1": values[1]}
        for model, sets in paper.READING_BY_DATASET.items()
        for name, values in sets.items()
    }
    models = {(_papers_name(row["dataset"]), row["model"]) for row in measured}
    report_printed(report, "table7", "Table 7: reading by data set", paper_rows, models)


def _beside_paper(row: dict[str, Any]) -> dict[str, Any]:
    sets = paper.READING_BY_DATASET.get(row["model"], {})
    exact, f1 = sets.get(_papers_name(row["dataset"]), (None, None))
    return {**row, "exact_match_paper": exact, "token_f1_paper": f1}


def _papers_name(name: str) -> str:
    """Return the paper's name of a data set, "" if it has none; MRQA's own may be longer (NaturalQuestionsShort)."""
    known = (*paper.IN_DOMAIN, *paper.OUT_OF_DOMAIN)
    return next((known_name for known_name in known if name.lower().startswith(known_name.lower())), "")


def _means(rows: Rows) -> dict[str, float | None]:
    """Return the mean of each figure; None where a data set lacks it."""
    columns = {name: [row[name] for row in rows] for name in FIGURES}
    return {name: None if None in values else fmean(values) for name, values in columns.items()}


def _beside(cells: Sequence[str], printed: Sequence[float | None]) -> list[str]:
    return [text for pair in zip(cells, (number(value, False) for value in printed), strict=True) for text in pair]


def _bound(row: dict[str, Any], name: str, side: str) -> str:
    return number(row[f"{name}_{side}"], False)
