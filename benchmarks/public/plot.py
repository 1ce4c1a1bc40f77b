"""Plots of the comparison as SVG. They have no background: they stand on light and dark pages."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from allpairs.learner.reports.charts import COLOURS, VEGA_LITE
from benchmarks.public.catalog import OURS, PEERS
from benchmarks.public.run import Run
from benchmarks.public.summary import AP, Summary, mean_of
from benchmarks.scale.scale import WORDS

GREY = "#7d7d7d"  # is read on white and on black
SIZE = {"width": 560, "height": 300}
GROWING = ("encode", "search", "lists", "evaluate", "sample")  # stages whose work is over all texts, with the encoder


@dataclass(frozen=True)
class Plot:
    """A chart, and the figures that it shows."""

    chart: alt.LayerChart
    rows: Sequence[Mapping[str, Any]]

    @property
    def stamp(self) -> str:
        """Return the line of the file that names the figures."""
        return f"<!-- {hashlib.sha256(json.dumps(self.rows).encode()).hexdigest()} -->\n"


def rows(summary: Summary) -> list[dict[str, Any]]:
    """Return a row for each peer and budget: the mean, and its interval or, of few seeds, their range."""
    found = []
    for peer in summary.peers():
        for labels in summary.labels():
            values = list(summary.values(peer, labels, AP).values())
            mean = summary.mean(peer, labels, AP)
            if mean:
                low = min(values) if mean.low is None else mean.low
                high = max(values) if mean.high is None else mean.high
                title = PEERS[peer].title
                found.append({"peer": title, "labels": labels, "ap": mean.value, "low": low, "high": high})
    return found


def of_labels(summary: Summary) -> Plot:
    """Return average precision against labels; a peer with one budget is a dashed line."""
    found = rows(summary)
    titles = list(dict.fromkeys(row["peer"] for row in found))
    single = {title for title in titles if sum(row["peer"] == title for row in found) == 1}
    curves = alt.Data(values=[row for row in found if row["peer"] not in single])
    bounds = alt.Data(values=[row for row in found if row["peer"] in single])
    scale = alt.Scale(domain=titles, range=list(COLOURS[: len(titles)]))
    legend = alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3)
    colour = alt.Color("peer:N", title=None, scale=scale, legend=legend)
    x = alt.X("labels:Q", title="labels", axis=alt.Axis(format=",d", grid=False))
    y = alt.Y("ap:Q", title="average precision over all pairs", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(curves)
    chart = alt.layer(
        base.mark_area(opacity=0.2).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_line(point=True).encode(x=x, y=y, color=colour),
        alt.Chart(bounds).mark_rule(strokeDash=[5, 4], strokeWidth=2).encode(y=y, color=colour),
    ).properties(**SIZE)
    return Plot(chart, found)


def of_versions(history: Sequence[Run], data: str, budgets: Sequence[int] = (64, 1_000)) -> Plot:
    """Return ours by version and date: the mean over the seeds of that date, of a seed the newest run."""
    values: dict[tuple[str, int], dict[int, float]] = {}
    for run in history:
        for labels in budgets:
            if (run["data"], run["peer"]) == (data, OURS) and str(labels) in run[AP]:
                key = f"{run['versions'][OURS]}, {run['date']}", labels
                values.setdefault(key, {})[run["seed"]] = run[AP][str(labels)]
    found = [
        {"version": version, "labels": f"{labels:,} labels", "ap": mean_of(list(of.values())).value, "seeds": len(of)}
        for (version, labels), of in values.items()
    ]
    for row in found:
        row["words"] = f"{row['ap']:.3f} [{row['seeds']}]"
    base = alt.Chart(alt.Data(values=found)).encode(
        x=alt.X("version:N", title="version, date", sort=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("ap:Q", title="average precision", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("labels:N", title=None, sort=None, scale=alt.Scale(range=list(COLOURS[: len(budgets)]))),
    )
    chart = alt.layer(
        base.mark_line(), base.mark_point(filled=True, opacity=1, size=60), base.mark_text(dx=36).encode(text="words:N")
    )
    return Plot(chart.properties(width=SIZE["width"], height=260), found)


def of_growth(measured: Sequence[Mapping[str, Any]]) -> Plot:
    """Return seconds of a core by number of texts, both by powers of ten, a line for each stage over all texts."""
    found = [
        {"stage": WORDS[row["stage"]], "texts": row["n"], "seconds": row["seconds"]}
        for row in measured
        if row["stage"] in GROWING
    ]
    base = alt.Chart(alt.Data(values=found)).encode(
        x=alt.X("texts:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", grid=False, tickCount=5)),
        y=alt.Y("seconds:Q", title="seconds of a core", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=5)),
        color=alt.Color("stage:N", title=None, sort=None, scale=alt.Scale(range=list(COLOURS))),
    )
    return Plot(alt.layer(base.mark_line(), base.mark_point(filled=True, opacity=1, size=40)).properties(**SIZE), found)


def save(plot: Plot, path: Path) -> None:
    """Write the plot as SVG, and in its first line which figures it shows."""
    axis = {
        "labelColor": GREY,
        "titleColor": GREY,
        "domainColor": GREY,
        "tickColor": GREY,
        "gridColor": GREY,
        "gridOpacity": 0.25,
        "labelFontSize": 12,
        "titleFontSize": 12,
    }
    chart = plot.chart.configure(background="transparent").configure_view(stroke=None)
    chart = chart.configure_axis(**axis).configure_legend(labelColor=GREY, labelFontSize=12, labelLimit=300)
    path.write_text(plot.stamp + vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=VEGA_LITE) + "\n", "utf-8")
