"""Tables 5 and 6: opinions, and the words that show them."""

from typing import Any

from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip import paper
from allpairs.learner.pipelines.quip.student import QUIP
from allpairs.learner.pipelines.quip.tables.cells import mean_figure, report_printed, with_error
from allpairs.learner.pipelines.quip.uses.sentiment import ANSWERS, CHOOSING, choosing_dataset
from allpairs.learner.pipelines.quip.uses.stage import figures_of
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.tables import cell, grid, number

RATIONALES = "rationales"


def report_sentiment(report: Report, run: Run) -> None:
    """Report Table 5, if sentiment was measured."""
    measured = [row for row in figures_of(run, "sentiment") if row["use"] != RATIONALES]
    if not measured:
        return
    chosen_on = choosing_dataset([row["dataset"] for row in measured])
    rows = []
    body = []
    for name, model, way in dict.fromkeys((row["dataset"], row["model"], row["use"]) for row in measured):
        prompts = [row for row in measured if (row["dataset"], row["model"], row["use"]) == (name, model, way)]
        choosing = [
            row["accuracy"] for row in measured if (row["dataset"], row["model"], row["use"]) == (chosen_on, model, way)
        ]
        best = max(prompts, key=lambda row: row["accuracy"])
        chosen = prompts[choosing.index(max(choosing))]
        row: dict[str, Any] = {
            "dataset": name,
            "model": model,
            "use": way,
            "texts": prompts[0]["texts"],
            "prompts": len(prompts),
            **mean_figure("accuracy", [row["accuracy"] for row in prompts]),
            **mean_figure("uncalibrated", [row["uncalibrated"] for row in prompts]),
            "paper": paper.OPINIONS.get(name, {}).get((model, way)),
            "uncalibrated_paper": paper.UNCALIBRATED.get(name, {}).get((model, way)),
            "best": best["accuracy"],
            "prompt": best["prompt"],
            "chosen": chosen["accuracy"],
            "chosen_prompt": chosen["prompt"],
            "chosen_paper": paper.CHOSEN.get(name) if (model, way) == (QUIP, ANSWERS) else None,
        }
        rows.append(row)
        body.append(
            [
                f"{name}, {model}, {way}",
                f"{row['texts']:,}",
                with_error(row, "accuracy"),
                number(row["paper"], False),
                with_error(row, "uncalibrated"),
                number(row["uncalibrated_paper"], False),
                number(row["best"], False),
                number(row["chosen"], False),
                number(row["chosen_paper"], False),
            ]
        )
    report.text(
        "Accuracy, averaged over prompts. The paper calibrates only its pre-trained encoder, so its other figures "
        "compare with ours without calibration. The best prompt was chosen on these same texts, so its accuracy is too "
        f"high; the last columns have the prompt that is best on {chosen_on} for every data set."
    )
    header = [
        "",
        "texts",
        "calibrated",
        "paper",
        "not calibrated",
        "paper",
        "best prompt",
        f"best on {chosen_on}",
        "paper",
    ]
    report.table("table5", "Table 5: zero-shot sentiment", rows, grid(header, body))
    _printed(report, {(row["dataset"], row["model"]) for row in rows})


def _printed(report: Report, measured: set[tuple[str, str]]) -> None:
    """Report the paper's figures of other data sets and models."""
    keys = dict.fromkeys(
        (name, *key) for part in (paper.OPINIONS, paper.UNCALIBRATED) for name in part for key in part[name]
    )
    printed: dict[tuple[str, str], dict[str, float | None]] = {
        (name, model if way == ANSWERS else f"{model}, {way}"): {
            "calibrated": paper.OPINIONS.get(name, {}).get((model, way)),
            "not calibrated": paper.UNCALIBRATED.get(name, {}).get((model, way)),
            f"best on {CHOOSING}": paper.CHOSEN.get(name) if (model, way) == (QUIP, ANSWERS) else None,
        }
        for name, model, way in keys
        if (name, model) not in measured
    }
    report_printed(report, "table5", "Table 5: zero-shot sentiment", printed, ())


def report_rationales(report: Report, run: Run) -> None:
    """Report Table 6: the pre-trained encoder's rationales."""
    reasons = [
        {"dataset": row["dataset"], "prompt": row["prompt"], **reason}
        for row in figures_of(run, "sentiment")
        if row["use"] == RATIONALES and row["model"] == QUIP
        for reason in row["rows"]
    ]
    if not reasons:
        return
    rows = [
        {
            **row,
            "scores": " ".join(f"{value:.3f}" for value in row["scores"]),
            "calibration": " ".join(f"{value:.3f}" for value in row["calibration"]),
        }
        for row in reasons
    ]
    body = [["good" if row["label"] else "bad", cell(row["rationale"]), cell(row["text"])] for row in rows]
    report.table("table6", "Table 6: rationales", rows, grid(["", "rationale", "text"], body, numbers=False))
