"""The figures: relative improvement by depth (the paper's Figure 2), and the mixing rate (Figure 3)."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from allpairs.learner.pipelines.multiview.figures import Measured, best_of, main_variants, single_of
from allpairs.learner.pipelines.multiview.paper import DEPTH, RATE, TABLE1
from allpairs.learner.pipelines.multiview.ranking import improvement
from allpairs.learner.pipelines.multiview.variants import variants_of
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.charts import COLOURS, HEIGHT, Plot
from allpairs.learner.reports.means import mean_of
from allpairs.learner.reports.tables import grid, number, relative

PAPER = "paper"


def write_depths(report: Report, run: Run, measured: Sequence[Measured]) -> None:
    """Report Figure 2: the multi view's improvement over the single view by the number of candidates."""
    mains = main_variants(run)
    rows: list[dict[str, Any]] = []
    for test in measured:
        for variant in (test for test in mains if not test.single):
            for depth in sorted(set(run.config.depths)):
                single, multi = (test.at_depth(view, depth) for view in (single_of(mains, variant), variant))
                rows.append(
                    {
                        "line": _line(run, test.test.name, variant.backbone),
                        "depth": depth,
                        "single": mean_of(single).value,
                        "multi": mean_of(multi).value,
                        **gain_figures(multi, single),
                        "reach": test.reach(depth),
                    }
                )
    if not rows:
        return
    body = [
        [
            f"{row['line']}, first {row['depth']:,}",
            *(number(row[name], False) for name in ("reach", "single", "multi")),
            gain_row(row),
        ]
        for row in rows
    ]
    title = "Figure 2: MRR@10 by depth, mean of seeds, and the multi view's relative improvement"
    header = ["candidates", "right one included", "single view", "multi view", "improvement"]
    report.table("figure2", title, rows, grid(header, body))
    printed = [
        {"line": f"{PAPER}: T5-large, {name}", "depth": DEPTH, "improvement": value, "low": None, "high": None}
        for name, value in _printed_gains().items()
    ]
    words = "; ".join(f"{row['line']} {relative(row['improvement'])} at {row['depth']:,}" for row in rows)
    drawn = [{name: row[name] for name in ("line", "depth", "improvement", "low", "high")} for row in rows] + printed
    chart = _chart(drawn, "depth", "improvement", "Candidates (K)", "Improvement", logarithmic=True)
    report.figure("figure2", "Figure 2: improvement by depth", drawn, [(f"Improvement by depth: {words}.", chart)])


def gain_figures(multi: Sequence[float], single: Sequence[float]) -> dict[str, float | None]:
    """Return the mean relative improvement over seeds; None if a seed's single view scores 0."""
    gains = [improvement(*pair) for pair in zip(multi, single, strict=True)]
    defined = [gain for gain in gains if gain is not None]
    if len(defined) < len(gains):
        return dict.fromkeys(("improvement", "low", "high"))
    mean = mean_of(defined)
    return {"improvement": mean.value, "low": mean.low, "high": mean.high}


def gain_row(row: Mapping[str, Any]) -> str:
    """Return the improvement in per cent, with its interval if it has one."""
    interval = "" if row["low"] is None else f" ({relative(row['low'])} to {relative(row['high'])})"
    return relative(row["improvement"]) + interval


def _line(run: Run, test: str, backbone: str) -> str:
    return f"{test}, {backbone}" if run.config.sizes else test


def _printed_gains() -> dict[str, float | None]:
    """Return the paper's improvements of T5-large at 1,000 candidates, from its Table 1."""
    single, multi = sorted((line for line in TABLE1 if line.backbone == "T5-large"), key=lambda line: line.multi)
    return {"Dev": improvement(multi.dev, single.dev), "Dev-Rest": improvement(multi.rest, single.rest)}


def write_rates(report: Report, run: Run, test: Measured) -> None:
    """Report Figure 3: mean and interval of the seeds at every mixing rate, and the best seed as a cross."""
    config = run.config
    measure = run.config.measures[0]
    rows: list[dict[str, Any]] = []
    for variant in variants_of(config):
        if variant.first != config.first_view or variant.second not in (None, config.second_view):
            continue
        mean = test.mean(variant, measure)
        best = best_of(test.of(variant), measure)
        rows.append(
            {
                "line": variant.backbone,
                "rate": variant.rate,
                "mean": mean.value,
                "low": mean.low,
                "high": mean.high,
                "best": float(best.figures[measure].mean()),
            }
        )
    body = [
        [
            f"{row['line']}, rate {row['rate']:g}",
            *(number(row[name], False) for name in ("mean", "low", "high", "best")),
        ]
        for row in rows
    ]
    report.table(
        "figure3", f"Figure 3: {measure} by mixing rate", rows, grid(["", "mean", "low", "high", "best seed"], body)
    )
    words = "; ".join(f"{row['line']} {row['mean']:.3f} at {row['rate']:g}, best {row['best']:.3f}" for row in rows)
    crosses = [
        {
            "line": f"{PAPER}: {line.backbone}",
            "rate": RATE if line.multi else 0.0,
            "mean": None,
            "low": None,
            "high": None,
            "best": line.dev,
        }
        for line in TABLE1
        if line.backbone != "T5-3B"
    ]
    lines = list(dict.fromkeys(row["line"] for row in (*rows, *crosses)))  # both panels share a legend
    chart = _chart(rows, "rate", "mean", "Mixing rate (η)", measure, crosses="best", lines=lines)
    title = "Paper: best seed"
    printed_chart = _chart(crosses, "rate", "best", "Mixing rate (η)", title, lines=lines)
    report.figure(
        "figure3",
        f"Figure 3: {measure} by mixing rate",
        [*rows, *crosses],
        [
            (f"{measure} by mixing rate: {words}.", chart),
            ("The paper's best seeds: T5-base 0.384 and 0.385, T5-large 0.395 and 0.401.", printed_chart),
        ],
    )


def _chart(
    rows: Sequence[dict[str, Any]],
    x: str,
    y: str,
    across: str,
    up: str,
    crosses: str = "",
    logarithmic: bool = False,
    lines: Sequence[str] = (),
) -> Plot:
    """Return a chart of lines with points and intervals, and crosses. lines: every legend entry; default: the rows'."""
    data = pd.DataFrame(rows)
    names = list(lines) or list(dict.fromkeys(data["line"]))
    scale = alt.Scale(domain=names, range=[COLOURS[place % len(COLOURS)] for place in range(len(names))])
    colour = alt.Color("line:N", title=None, scale=scale, legend=alt.Legend(orient="bottom", columns=2))
    horizontal = alt.X(f"{x}:Q", title=across, scale=alt.Scale(type="log" if logarithmic else "linear"))
    base = alt.Chart(data).encode(x=horizontal, color=colour)
    span = alt.Scale(zero=False)
    layers: list[Any] = [
        base.mark_line(point=True).encode(y=alt.Y(f"{y}:Q", title=up, scale=span), tooltip=["line", x, y])
    ]
    if "low" in data and not data["low"].isna().all():
        layers.append(base.mark_rule().encode(y=alt.Y("low:Q", scale=span), y2="high:Q"))
    if crosses:
        marks = base.mark_point(shape="cross", angle=45, size=60, filled=True)
        layers.append(marks.encode(y=alt.Y(f"{crosses}:Q", scale=span)))
    return alt.layer(*layers).properties(height=HEIGHT)
