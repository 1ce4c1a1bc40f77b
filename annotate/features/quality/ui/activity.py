"""Annotators' work: labels by day and by annotator, and the time a label takes."""

from collections.abc import Sequence

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.last_answer import counted_every, last_answer
from allpairs.annotate.features.quality import activity_chart as activity_charts
from allpairs.annotate.features.quality.activity import (
    EVERYBODY,
    annotators_table,
    days_table,
    pace_table,
    read_tally,
    read_times,
)
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.figure import plot, table_behind
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.labels.label_counts import Tally
from allpairs.learner.light.stats.label_times import CAP, LEAST, NEWEST, Timed


def tally_of(project_id: int) -> list[Tally]:
    """Return the project's labels, counted. They are read again only after enough new answers (`counted_every`)."""
    return _tally(str(engine().url), project_id, _counted_to(project_id), engine())


@st.cache_data(max_entries=20, show_spinner=False)
def _tally(database: str, project_id: int, last: int, _engine: Engine) -> list[Tally]:
    return read_tally(_engine, project_id)


def times_of(project_id: int) -> list[Timed]:
    """Return the time on screen of the newest answers. They are read again only after enough new answers."""
    return _times(str(engine().url), project_id, _counted_to(project_id), engine())


def _counted_to(project_id: int) -> int:
    last = last_answer(engine(), project_id)
    return last - last % counted_every(last)


@st.cache_data(max_entries=20, show_spinner=False)
def _times(database: str, project_id: int, last: int, _engine: Engine) -> list[Timed]:
    return read_times(_engine, project_id)


def labelling_section(project_id: int, tally: Sequence[Tally], times: Sequence[Timed]) -> None:
    """Draw the section, if there are labels."""
    if not tally:
        return
    st.subheader("Labelling", anchor=False)
    if (step := counted_every(last_answer(engine(), project_id))) > 1:
        st.caption(f"With this many answers the counts are refreshed after every {step:,} answers.")
    days, pace = st.columns(2)
    with days:
        _days(tally)
    with pace:
        _pace(times)
    if len({row.annotator for row in tally}) > 1:
        _annotators(tally)


def _days(tally: Sequence[Tally]) -> None:
    table = days_table(tally)
    people = sorted(table["annotator"].unique())
    annotator = EVERYBODY
    st.markdown("**Labels by day**")
    if len(people) > 1:
        annotator = st.selectbox("Annotator", [EVERYBODY, *people], key=f"days_of_{len(people)}", width=240)
    annotator_rows = table if annotator == EVERYBODY else table[table["annotator"] == annotator]
    drawn = activity_charts.newest_days(annotator_rows)
    plot(activity_charts.days_chart, drawn, described=activity_charts.describe_days(drawn, annotator))
    if len(drawn) < len(annotator_rows):
        st.caption(f"The plot shows the last {activity_charts.DAYS} days, the table all of them.")
    table_behind(table, "labels-by-day")


def _annotators(tally: Sequence[Tally]) -> None:
    table = annotators_table(tally)
    st.markdown("**Labels by annotator**")
    plot(activity_charts.annotators_chart, table, described=activity_charts.describe_annotators(table))
    if len(table) > activity_charts.PEOPLE:
        st.caption(f"The plot shows the {activity_charts.PEOPLE} most active annotators, the table all of them.")
    table_behind(table, "labels-by-annotator")


def _pace(times: Sequence[Timed]) -> None:
    table = pace_table(times)
    st.markdown("**Time per label**")
    if table.empty:
        st.caption(f"Too few answers are timed: times appear after {LEAST} answers of one annotator.")
        return
    plot(activity_charts.pace_chart, table, described=activity_charts.describe_pace(table))
    first = table.iloc[0]
    newest = f" Based on the newest {NEWEST:,} answers." if len(times) == NEWEST else ""
    interval = f"95% interval {first.low:.1f} to {first.high:.1f}"
    st.caption(
        f"{literal(first.annotator)}: median {first['median']:.1f} s ({interval}), half of the answers between "
        f"{first.first_quarter:.1f} and {first.third_quarter:.1f} s (the bar). Times above {CAP:g} s count as "
        f"{CAP:g} s, since the annotator was probably away.{newest}"
    )
    table_behind(table, "time-for-a-label")
