"""The tables of the uses, each beside the paper's."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from allpairs.learner.metrics.standard_error import standard_error
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip import paper
from allpairs.learner.pipelines.quip.student import QUIP, models_of
from allpairs.learner.pipelines.quip.uses.entities import QUESTIONS, STANDARD
from allpairs.learner.pipelines.quip.uses.paraphrases import FROZEN, TUNED
from allpairs.learner.pipelines.quip.uses.rows import Rows
from allpairs.learner.pipelines.quip.uses.stage import figures_of
from allpairs.learner.pipelines.report import Report, curve
from allpairs.learner.reports.charts import COLOURS
from allpairs.learner.reports.tables import cell, grid, number

RATIONALES = "rationales"


def report_reading(report: Report, run: Run) -> None:
    """Report Table 1, if reading was measured."""
    found = figures_of(run, "reading")
    if not found:
        return
    rows, body = [], []
    for row in found:
        printed = dict(zip(("exact_match", "token_f1"), paper.READING.get(row["model"], (None, None)), strict=True))
        rows.append({**row, **{f"{name}_paper": value for name, value in printed.items()}})
        cells = [f"{row[name]:.3f} [{_bound(row, name, 'low')}, {_bound(row, name, 'high')}]" for name in printed]
        body.append([row["model"], f"{row['questions']:,}", *_beside(cells, list(printed.values()))])
    left_out = found[0].get("left_out", 0)
    report.text(
        "Intervals over questions, 95%: Wilson's for exact match, the bootstrap's for F1. The paper: SQuAD 1.1's "
        "development questions." + (f" {left_out:,} questions without an answer are left out." if left_out else "")
    )
    header = ["", "questions", "exact match", "paper", "F1", "paper"]
    report.table("table1", "Table 1: reading", rows, grid(header, body))


def report_paraphrases(report: Report, run: Run) -> None:
    """Report Tables 2 and 3, if paraphrases were measured."""
    found = figures_of(run, "paraphrases")
    ranked = [row for row in found if row["use"] == "ranking"]
    if not ranked:
        return
    rows = [{key: value for key, value in row.items() if key != "by_layer"}
            | {"by_layer": " ".join(f"{value:.3f}" for value in row["by_layer"]),
               "paper": paper.RANKING.get(row["dataset"], {}).get(row["model"])} for row in ranked]  # fmt: skip
    body = [[f"{row['dataset']}, {row['model']}", str(row["layer"]),
             f"{row['auroc']:.3f} [{number(row['low'], False)}, {number(row['high'], False)}]",
             number(row["paper"], False), f"{row['pooled']:.3f}", row["by_layer"]] for row in rows]  # fmt: skip
    report.text(
        "AUROC of BERTScore F; the interval is the bootstrap's over pairs, 95%. Mean vectors: AUROC of the cosine of "
        "both texts' mean vectors, which is what a project's encoder compares."
    )
    header = ["", "layer", "AUROC", "paper", "mean vectors", "layer by layer"]
    report.table("table2", "Table 2: ranking paraphrases", rows, grid(header, body))
    _layers(report, ranked)
    printed = {(name, model, way): values[at] for name, models in paper.CLASSIFYING.items()
               for model, values in models.items() for at, way in enumerate((FROZEN, TUNED))}  # fmt: skip
    _by_seed(report, "table3", "Table 3: few-shot paraphrase classification", found, (FROZEN, TUNED), printed)


def _layers(report: Report, ranked: Rows) -> None:
    """Report the AUROC of every layer as curves, a panel for each data set.

    The figure shows as many models as there are colours; the table has all.
    """
    shown = list(dict.fromkeys(row["model"] for row in ranked))[: len(COLOURS)]
    points = [
        {"dataset": row["dataset"], "model": row["model"], "layer": layer, "auroc": value, "low": None, "high": None}
        for row in ranked if row["model"] in shown for layer, value in enumerate(row["by_layer"], 1)
    ]  # fmt: skip
    panels = []
    for name in dict.fromkeys(point["dataset"] for point in points):
        mine = [point for point in points if point["dataset"] == name]
        best = max(mine, key=lambda point: point["auroc"])
        words = (
            f"{name}: AUROC of BERTScore by layer; best {best['auroc']:.3f}, {best['model']}, layer {best['layer']}."
        )
        panels.append((words, curve(mine, "layer", "auroc", "model", f"AUROC on {name}")))
    report.figure("layers", "AUROC of BERTScore by layer", points, panels)


def report_entities(report: Report, run: Run) -> None:
    """Report Table 4, if entities were measured."""
    printed = {(name, model, way): values[at] for name, models in paper.TAGGING.items()
               for model, values in models.items() for at, way in enumerate((STANDARD, QUESTIONS))}  # fmt: skip
    found = figures_of(run, "entities")
    _by_seed(report, "table4", "Table 4: few-shot entity tagging", found, (STANDARD, QUESTIONS), printed)


def report_sentiment(report: Report, run: Run) -> None:
    """Report Table 5, if sentiment was measured."""
    found = [row for row in figures_of(run, "sentiment") if row["use"] != RATIONALES]
    if not found:
        return
    rows, body = [], []
    for name, model, way in dict.fromkeys((row["dataset"], row["model"], row["use"]) for row in found):
        mine = [row for row in found if (row["dataset"], row["model"], row["use"]) == (name, model, way)]
        best = max(mine, key=lambda row: row["accuracy"])
        row: dict[str, Any] = {
            "dataset": name, "model": model, "use": way, "texts": mine[0]["texts"], "prompts": len(mine),
            **_mean("accuracy", [one["accuracy"] for one in mine]),
            **_mean("uncalibrated", [one["uncalibrated"] for one in mine]),
            "paper": paper.OPINIONS.get(name, {}).get((model, way)),
            "uncalibrated_paper": paper.UNCALIBRATED.get(name, {}).get((model, way)),
            "best": best["accuracy"], "prompt": best["prompt"],
        }  # fmt: skip
        rows.append(row)
        body.append([f"{name}, {model}, {way}", f"{row['texts']:,}", _shown(row, "accuracy"),
                     number(row["paper"], False), _shown(row, "uncalibrated"),
                     number(row["uncalibrated_paper"], False), number(row["best"], False)])  # fmt: skip
    report.text(
        "Accuracy, averaged over prompts. The paper calibrates only its pre-trained encoder, so its other figures "
        "compare with ours without calibration. The best prompt was chosen on these same texts, so its accuracy is too "
        "high."
    )
    header = ["", "texts", "calibrated", "paper", "not calibrated", "paper", "best prompt"]
    report.table("table5", "Table 5: zero-shot sentiment", rows, grid(header, body))


def report_rationales(report: Report, run: Run) -> None:
    """Report Table 6: the pre-trained encoder's rationales."""
    found = [{"dataset": row["dataset"], "prompt": row["prompt"], **reason}
             for row in figures_of(run, "sentiment") if row["use"] == RATIONALES and row["model"] == QUIP
             for reason in row["rows"]]  # fmt: skip
    if not found:
        return
    rows = [{**row, "scores": " ".join(f"{value:.3f}" for value in row["scores"]),
             "calibration": " ".join(f"{value:.3f}" for value in row["calibration"])} for row in found]  # fmt: skip
    body = [["good" if row["label"] else "bad", cell(row["rationale"]), cell(row["text"])] for row in rows]
    report.table("table6", "Table 6: rationales", rows, grid(["", "rationale", "text"], body, numbers=False))


def report_stability(report: Report, run: Run) -> None:
    """Report Table 8, if one of its variants was trained."""
    trained = {model.name for model in models_of(run)}
    models = [name for name in paper.STABILITY if name in trained]
    if len(models) < 2:
        return
    parts = (
        ("reading", "token_f1", None), ("paraphrases", "auroc", "ranking"), ("entities", "f1", QUESTIONS),
    )  # fmt: skip
    rows, body = [], []
    for model in models:
        row: dict[str, Any] = {"model": model}
        cells = [model]
        for (use, measure, way), printed in zip(parts, paper.STABILITY[model], strict=True):
            mine = [one for one in figures_of(run, use) if one["model"] == model and way in (None, one.get("use"))]
            value = fmean(one[measure] for one in mine) if mine else None
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


def _by_seed(
    report: Report, name: str, title: str, found: Rows, ways: Sequence[str],
    printed: Mapping[tuple[str, str, str], float | None],
) -> None:  # fmt: skip
    """Report the mean F1 over seeds of each data set and model, one column for each way."""
    some = [row for row in found if row["use"] in ways]
    shown = [way for way in ways if any(row["use"] == way for row in some)]
    if not shown:
        return
    rows, body = [], []
    for dataset, model in dict.fromkeys((row["dataset"], row["model"]) for row in some):
        row: dict[str, Any] = {"dataset": dataset, "model": model}
        cells = []
        for way in shown:
            values = [one["f1"] for one in some if (one["dataset"], one["model"], one["use"]) == (dataset, model, way)]
            row |= _mean(way, values) | {
                f"{way}_seeds": len(values),
                f"{way}_paper": printed.get((dataset, model, way)),
            }
            cells += [_shown(row, way), number(row[f"{way}_paper"], False)]
        rows.append(row)
        body.append([f"{dataset}, {model}", *cells])
    report.table(name, title, rows, grid(["F1", *(one for way in shown for one in (way, "paper"))], body))


def _mean(name: str, values: Sequence[float]) -> dict[str, float | None]:
    return {name: fmean(values) if values else None, f"{name}_error": standard_error(values)}


def _shown(row: dict[str, Any], name: str) -> str:
    error = row[f"{name}_error"]
    return number(row[name], False) + ("" if error is None else f" ± {number(error, False)}")


def _beside(cells: Sequence[str], printed: Sequence[float | None]) -> list[str]:
    return [one for pair in zip(cells, (number(value, False) for value in printed), strict=True) for one in pair]


def _bound(row: dict[str, Any], name: str, side: str) -> str:
    return number(row[f"{name}_{side}"], False)
