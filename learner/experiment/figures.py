"""Learning curves: Figures 3 and 4 of Mussmann, Jia and Liang (2020), and one of all rows, as Vega-Lite."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from allpairs.learner.experiment.comparison import SHARE, CurvePoint
from allpairs.learner.experiment.paper import AP
from allpairs.learner.experiment.results import Results
from allpairs.learner.experiment.writing import point_rows
from allpairs.learner.reports.charts import COLOURS, HEIGHT, Plot, save_chart

PANELS = {AP: ("Average precision", ".2f"), SHARE: ("Share of positive labels", ".3~%")}
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
WIDTH = 380
# of the vertical axis above and below the curves: share of their span, and at least
ROOM = 0.2
LEAST_ROOM = 0.02
LEGEND_ROW = 24  # pixels that two rows take in the legend of a page, below the plot and its axis

# The strategies of each figure; the first two are required.
STRATEGIES = {
    "figure3": ("Seed sets", ("uncertainty", "uncertainty-stated", "static-retrieval")),
    "figure4": ("Uncertainty sampling and as much static retrieval", ("uncertainty", "static-retrieval")),
}


@dataclass(frozen=True)
class Figure:
    """The curves of some rows on one data set."""

    name: str
    title: str
    dataset: str
    points: Sequence[CurvePoint]

    @property
    def stem(self) -> str:
        """The name of its files, without the extension."""
        return f"{self.name}-{self.dataset}".replace(" ", "-")


def curve_figures(results: Results, points: Sequence[CurvePoint]) -> list[Figure]:
    """Return Figures 3 and 4 for every data set that has their strategies, and the curves of all simulated rows."""
    figures = []
    for dataset in results.datasets:
        simulated = [row for row in results.rows(dataset) if row.kind == "cosine"]
        first = {row.strategy: row.name for row in reversed(simulated)}
        suffix = " (development set)" if results.experiment.datasets[dataset].development else ""
        for name, (title, strategies) in STRATEGIES.items():
            if all(strategy in first for strategy in strategies[:2]):
                rows = [first[strategy] for strategy in strategies if strategy in first]
                figures.append(Figure(name, title + suffix, dataset, _of(points, dataset, rows)))
        rows = [row.name for row in simulated]
        figures.append(Figure("curves", f"All rows{suffix}", dataset, _of(points, dataset, rows)))
    return figures


def _of(points: Sequence[CurvePoint], dataset: str, rows: Sequence[str]) -> list[CurvePoint]:
    return [point for row in rows for point in points if (point.dataset, point.row) == (dataset, row)]


def curve_rows(figure: Figure) -> list[dict[str, Any]]:
    """Return one dictionary for each point of the figure: the contents of its CSV file and of the chart."""
    return point_rows(figure.points, list(PANELS))


def curve_panel(figure: Figure, measure: str) -> Plot:
    """Plot one measure against the labels spent: a line with points for each row, its interval over seeds as a band."""
    (title, form), data = PANELS[measure], pd.DataFrame(curve_rows(figure))
    base = alt.Chart(data).encode(x=_spent(figure), color=_colour(figure))
    scale = alt.Scale(domain=_around(data[measure]), nice=False, zero=False)
    y = alt.Y(f"{measure}:Q", title=title, axis=alt.Axis(format=form, tickCount=6), scale=scale)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(y=y, shape=_shape(figure), tooltip=_hover(measure))
    lines = base.mark_line(strokeWidth=2).encode(y=y)
    if data[f"{measure}_low"].isna().all():
        return alt.layer(lines, points).properties(height=HEIGHT)
    low = alt.Y(f"{measure}_low:Q", title=title, scale=scale)
    band = base.mark_area(opacity=0.14, clip=True).encode(y=low, y2=f"{measure}_high:Q")
    return alt.layer(band, lines, points).properties(height=HEIGHT)


def page_panel(figure: Figure, measure: str) -> dict[str, Any]:
    """Return the panel as Vega-Lite for a page, where the height of a chart includes its axes and legend."""
    height = HEIGHT + 60 + LEGEND_ROW * -(-len(_rows(figure)) // 2)
    return curve_panel(figure, measure).properties(height=height).to_dict()


def _around(values: "pd.Series[float]") -> list[float]:
    """Return the ends of an axis that fits the curves; the wide intervals of few seeds must not flatten them."""
    low = float(values.min())
    high = float(values.max())
    room = max(LEAST_ROOM, ROOM * (high - low))
    return [max(0.0, low - room), min(1.0, high + room)]


def _spent(figure: Figure) -> alt.X:
    """Return the axis of labels, logarithmic as batches grow by a factor, with a tick at every number measured."""
    spent = sorted({point.labels for point in figure.points})
    axis = alt.Axis(format=",d", values=spent, labelOverlap="greedy", grid=False)
    return alt.X("labels:Q", title="Labels spent", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)


def _colour(figure: Figure) -> alt.Color:
    rows = _rows(figure)
    legend = alt.Legend(orient="bottom", columns=2, labelLimit=220, symbolOpacity=1)
    return alt.Color(
        "row:N", title=None, scale=alt.Scale(domain=rows, range=_repeated(COLOURS, len(rows))), legend=legend
    )


def _shape(figure: Figure) -> alt.Shape:
    rows = _rows(figure)
    return alt.Shape("row:N", title=None, scale=alt.Scale(domain=rows, range=_repeated(SHAPES, len(rows))))


def _rows(figure: Figure) -> list[str]:
    return list(dict.fromkeys(point.row for point in figure.points))


def _hover(measure: str) -> list[alt.Tooltip]:
    numbers = {measure: PANELS[measure][0], f"{measure}_low": "Low", f"{measure}_high": "High"}
    return [
        alt.Tooltip("row:N", title="Row"),
        alt.Tooltip("labels:Q", title="Labels", format=",d"),
        *(alt.Tooltip(f"{name}:Q", title=title, format=".3f") for name, title in numbers.items()),
    ]


def _repeated(values: Sequence[str], n: int) -> list[str]:
    return [values[place % len(values)] for place in range(n)]


def describe(figure: Figure, measure: str) -> str:
    """Describe in a sentence where each row ends, for those who cannot see the chart."""
    last = {point.row: point for point in figure.points if measure in point.figures}
    ends = [f"{row} {point.figures[measure].value:.3f} at {point.labels:,}" for row, point in last.items()]
    return f"{PANELS[measure][0]} against labels spent, {figure.dataset}: " + "; ".join(ends) + "."


def draw(figure: Figure, folder: Path) -> None:
    """Save both panels side by side as PNG and SVG in the folder."""
    title = f"{figure.title}, {figure.dataset}"
    panels = alt.hconcat(*(curve_panel(figure, measure).properties(width=WIDTH) for measure in PANELS), title=title)
    save_chart(panels, folder / figure.stem)
