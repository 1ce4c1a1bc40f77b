"""The use of mined pairs as table and curves (Joshi et al. 2022, Tables 1 and 2, Figures 3 and 4)."""

import json
from typing import Any

from allpairs.learner.metrics.text import METRICS, ROUGES
from allpairs.learner.pipelines.mining.downstream.stage import FIGURES
from allpairs.learner.pipelines.mining.paper import DOWNSTREAM, NOTES
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.report import Report, curve
from allpairs.learner.reports.means import mean_of
from allpairs.learner.reports.tables import grid, mean_cells, number, written

TITLE = "A model trained on the pairs"
TITLES = {
    "recall_at_1": "Recall at 1",
    "recall_at_10": "Recall at 10",
    "mrr": "MRR",
    **{name: METRICS[name] for name in ("exact_match", "token_f1")},
    **{name: f"{name} {METRICS['rouge']}" for name in ROUGES},
}
WORDS = "Means over seeds, ± half of Student's 95% interval (none for one seed), on the test pairs."


def report_downstream(report: Report, run: Run) -> None:
    """Report table and curves, if anything was measured."""
    figures = [json.loads(line) for line in (run.of("downstream") / FIGURES).read_text(encoding="utf-8").splitlines()]
    if not figures:
        return
    printed = DOWNSTREAM.get(run.config.kind, {})
    measures = [name for name in figures[0] if name in TITLES]
    rows = []
    body = []
    for method, amount in dict.fromkeys((row["method"], row["amount"]) for row in figures):
        runs = [row for row in figures if (row["method"], row["amount"]) == (method, amount)]
        row: dict[str, Any] = {"method": method, "added": amount, "seeds": len(runs)}
        cells = [method, f"{amount:,}"]
        for name in measures:
            mean = mean_of([row[name] for row in runs])
            row |= mean_cells(name, mean)
            cells.append(written(mean, False))
            if printed:
                row[f"{name}_paper"] = printed.get((method, amount), {}).get(name)
                cells.append(number(row[f"{name}_paper"], False))
        rows.append(row)
        body.append(cells)
    header = ["", "pairs added"]
    for name in measures:
        header += [TITLES[name], "paper"] if printed else [TITLES[name]]
    report.text(" ".join([WORDS, NOTES.get(run.config.kind, "")]).strip())
    report.table("downstream", TITLE, rows, grid(header, body))
    _curves(report, rows, measures[-1])


def _curves(report: Report, rows: list[dict[str, Any]], measure: str) -> None:
    """Report the measure by the number of pairs added. Every method's curve starts at the seed alone."""
    words = "; ".join(f"{row['method']} + {row['added']:,}: {row[measure]:.3f}" for row in rows)
    names = {measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
    points = [
        {key: row[key] for key in ("method", "added")} | {new: row[old] for old, new in names.items()} for row in rows
    ]
    methods = dict.fromkeys(row["method"] for row in rows if row["added"])
    seed_only = [point for point in points if not point["added"]]
    points = [
        point
        for method in methods
        for point in [
            *({**point, "method": method} for point in seed_only),
            *(point for point in points if point["method"] == method),
        ]
    ] or seed_only
    chart = curve(points, "added", "value", "method", TITLES[measure])
    report.figure("downstream", TITLE, points, [(f"{TITLES[measure]} by pairs added. {words}.", chart)])
