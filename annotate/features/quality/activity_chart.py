"""The plots of annotators' work, and for each a sentence that describes it."""

from datetime import timedelta

import altair as alt
import pandas as pd

from allpairs.annotate.kit.charts import ANSWERS, HEIGHT, NEUTRAL, SQUARES, Plot, tooltips
from allpairs.annotate.kit.text.measures import counted
from allpairs.learner.light.stats.label_times import CAP

ROW = 30  # pixels for an annotator
AROUND = 110  # pixels for axis and legend
DAYS = 90  # newest days to draw at most
PEOPLE = 20  # most active annotators to draw at most


def days_chart(table: pd.DataFrame) -> Plot:
    """Return a bar chart of all annotators' labels by day, stacked by kind. table: of `days_table`."""
    summed = table.groupby("day", as_index=False)[list(ANSWERS)].sum()
    axis = alt.Axis(labelExpr="timeFormat(toDate(datum.value), '%b %e')", labelAngle=0, labelOverlap=True, ticks=False)
    bars = (
        alt.Chart(_by_kind(summed.assign(day=summed["day"].map(str)), "day"))
        .mark_bar(size=_width(table))
        .encode(
            x=alt.X("day:O", title="Day (UTC)", scale=alt.Scale(domain=_days(table)), axis=axis),
            y=alt.Y("labels:Q", title="Labels", axis=alt.Axis(format=",d", tickMinStep=1, tickCount=5)),
            color=_kinds(),
            order="order:Q",
            tooltip=[alt.Tooltip("day:O", title="Day"), *_counts()],
        )
    )
    return alt.layer(bars).properties(height=HEIGHT)


def _days(table: pd.DataFrame) -> list[str]:
    """Return every day from the first to the last."""
    return [f"{day:%Y-%m-%d}" for day in pd.date_range(min(table["day"]), max(table["day"]))]


def _width(table: pd.DataFrame) -> int:
    """Return the width of a bar in pixels, so that all days fit on a phone."""
    return max(2, min(28, 220 // len(_days(table))))


def newest_days(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the 90 days that end with the last label."""
    return table[table["day"] > max(table["day"]) - timedelta(days=DAYS)]


def describe_days(table: pd.DataFrame, annotator: str) -> str:
    """Return a sentence: all labels, the day with the most, and the last day."""
    days = table.groupby("day")["labels"].sum()
    return (
        f"Labels by day, {annotator}: {counted(int(days.sum()), 'label')} on {counted(len(days), 'day')}, "
        f"most on {days.idxmax()} ({days.max():,}), last on {days.index[-1]} ({days.iloc[-1]:,}). {_kinds_of(table)}"
    )


def annotators_chart(table: pd.DataFrame) -> Plot:
    """Return a bar chart by annotator, stacked by kind of label. table: of `annotators_table`."""
    drawn = table.head(PEOPLE)
    bars = (
        alt.Chart(_by_kind(drawn, "annotator"))
        .mark_bar(size=18)
        .encode(
            y=alt.Y("annotator:N", title=None, sort=list(drawn["annotator"]), axis=alt.Axis(labelLimit=150)),
            x=alt.X("labels:Q", title="Labels", axis=alt.Axis(format=",d", tickMinStep=1, tickCount=5)),
            color=_kinds(),
            order="order:Q",
            tooltip=[alt.Tooltip("annotator:N", title="Annotator"), *_counts()],
        )
    )
    return alt.layer(bars).properties(height=ROW * len(drawn) + AROUND)


def describe_annotators(table: pd.DataFrame) -> str:
    """Return a sentence with the labels of each annotator in the chart."""
    people = [f"{row.annotator} {row.labels:,} ({row.positives:,} positive)" for row in table.head(PEOPLE).itertuples()]
    return f"Labels by annotator: {', '.join(people)}."


def pace_chart(table: pd.DataFrame) -> Plot:
    """Return a chart of seconds per label by annotator: the median with its interval, and the middle half."""
    drawn = table.head(PEOPLE + 1)
    base = alt.Chart(drawn).encode(
        y=alt.Y("annotator:N", title=None, sort=list(drawn["annotator"]), axis=alt.Axis(labelLimit=150)),
        tooltip=[
            alt.Tooltip("annotator:N", title="Annotator"),
            *tooltips(
                {
                    "answers": ("Answers", ",d"),
                    "median": ("Median (s)", ".1f"),
                    "low": ("Low", ".1f"),
                    "high": ("High", ".1f"),
                    "first_quarter": ("First quartile", ".1f"),
                    "third_quarter": ("Third quartile", ".1f"),
                    "capped": ("Longer than the cap", ",d"),
                }
            ),
        ],
    )
    scale = alt.Scale(domain=[0, float(drawn["third_quarter"].max()) * 1.08], nice=False)
    halves = base.mark_bar(color=NEUTRAL, opacity=0.28, height=16).encode(
        x=alt.X("first_quarter:Q", title="Seconds per label", scale=scale, axis=alt.Axis(tickCount=6)),
        x2="third_quarter:Q",
    )
    intervals = base.mark_rule(color=NEUTRAL, strokeWidth=3).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    medians = base.mark_point(color=NEUTRAL, filled=True, size=90, opacity=1).encode(x=alt.X("median:Q", scale=scale))
    return alt.layer(halves, intervals, medians).properties(height=ROW * len(drawn) + AROUND - 50)


def describe_pace(table: pd.DataFrame) -> str:
    """Return a sentence with each annotator's median, its interval and the middle half."""
    people = [
        f"{row.annotator} {row.median:.1f} (95% interval {row.low:.1f} to {row.high:.1f}; half of {row.answers:,} "
        f"answers between {row.first_quarter:.1f} and {row.third_quarter:.1f})"
        for row in table.head(PEOPLE + 1).itertuples()
    ]
    return f"Median seconds per label, with times above {CAP:g} counted as {CAP:g}: {'; '.join(people)}."


def _by_kind(table: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return one row for each key and kind with labels; `order` is the kind's place in the stack."""
    long = table[[key, *ANSWERS]].melt(id_vars=[key], value_vars=list(ANSWERS), var_name="kind", value_name="labels")
    return long.assign(order=long["kind"].map(list(ANSWERS).index))[long["labels"] > 0]


def _kinds() -> alt.Color:
    scale = alt.Scale(domain=list(ANSWERS), range=list(ANSWERS.values()))
    return alt.Color("kind:N", title=None, scale=scale, legend=SQUARES)


def _counts() -> list[alt.Tooltip]:
    return [alt.Tooltip("kind:N", title="Kind"), *tooltips({"labels": ("Labels", ",d")})]


def _kinds_of(table: pd.DataFrame) -> str:
    return ", ".join(f"{table[kind].sum():,} {kind}" for kind in ANSWERS) + "."
