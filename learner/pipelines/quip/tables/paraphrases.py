"""Tables 2 and 3: paraphrases ranked, and classified from few."""

from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip import paper
from allpairs.learner.pipelines.quip.tables.cells import report_f1, report_printed
from allpairs.learner.pipelines.quip.uses.paraphrases import FROZEN, TUNED
from allpairs.learner.pipelines.quip.uses.rows import Rows
from allpairs.learner.pipelines.quip.uses.stage import figures_of
from allpairs.learner.pipelines.report import Report, curve
from allpairs.learner.reports.charts import COLOURS
from allpairs.learner.reports.tables import grid, number


def report_paraphrases(report: Report, run: Run) -> None:
    """Report Tables 2 and 3, if paraphrases were measured."""
    figures = figures_of(run, "paraphrases")
    ranked = [row for row in figures if row["use"] == "ranking"]
    if not ranked:
        return
    rows = [
        {key: value for key, value in row.items() if key != "by_layer"}
        | {
            "by_layer": " ".join(f"{value:.3f}" for value in row["by_layer"]),
            "paper": paper.RANKING.get(row["dataset"], {}).get(row["model"]),
        }
        for row in ranked
    ]
    body = [
        [
            f"{row['dataset']}, {row['model']}",
            str(row["layer"]),
            f"{row['auroc']:.3f} [{number(row['low'], False)}, {number(row['high'], False)}]",
            number(row["paper"], False),
            f"{row['pooled']:.3f}",
            row["by_layer"],
        ]
        for row in rows
    ]
    report.text(
        "AUROC of BERTScore F; the interval is the bootstrap's over pairs, 95%. Mean vectors: AUROC of the cosine of "
        "both texts' mean vectors, which is what a project's encoder compares."
    )
    header = ["", "layer", "AUROC", "paper", "mean vectors", "layer by layer"]
    report.table("table2", "Table 2: ranking paraphrases", rows, grid(header, body))
    _printed(report, {(row["dataset"], row["model"]) for row in rows})
    _layers(report, ranked)
    printed = {
        (name, model, way): values[column]
        for name, models in paper.CLASSIFYING.items()
        for model, values in models.items()
        for column, way in enumerate((FROZEN, TUNED))
    }
    report_f1(report, "table3", "Table 3: few-shot paraphrase classification", figures, (FROZEN, TUNED), printed)


def _printed(report: Report, measured: set[tuple[str, str]]) -> None:
    """Report the paper's other figures of Table 2, the correlation that chose its layers first."""
    chosen: dict[tuple[str, str], dict[str, float | None]] = {
        ("WMT16", model): {"Pearson's r": r, "layer": layer, "AUROC": None}
        for model, (r, layer) in paper.LAYERS.items()
    }
    ranked: dict[tuple[str, str], dict[str, float | None]] = {
        (name, model): {"Pearson's r": None, "layer": None, "AUROC": value}
        for name, models in paper.RANKING.items()
        for model, value in models.items()
    }
    report_printed(report, "table2", "Table 2: ranking paraphrases", chosen | ranked, measured)


def _layers(report: Report, ranked: Rows) -> None:
    """Report the AUROC of every layer as curves, a panel for each data set.

    The figure shows as many models as there are colours; the table has all.
    """
    models = list(dict.fromkeys(row["model"] for row in ranked))[: len(COLOURS)]
    points = [
        {"dataset": row["dataset"], "model": row["model"], "layer": layer, "auroc": value, "low": None, "high": None}
        for row in ranked
        if row["model"] in models
        for layer, value in enumerate(row["by_layer"], 1)
    ]
    panels = []
    for name in dict.fromkeys(point["dataset"] for point in points):
        dataset_points = [point for point in points if point["dataset"] == name]
        best = max(dataset_points, key=lambda point: point["auroc"])
        words = (
            f"{name}: AUROC of BERTScore by layer; best {best['auroc']:.3f}, {best['model']}, layer {best['layer']}."
        )
        panels.append((words, curve(dataset_points, "layer", "auroc", "model", f"AUROC on {name}")))
    report.figure("layers", "AUROC of BERTScore by layer", points, panels)
