"""Agreement of annotators, and how often each is right by their consensus."""

from collections.abc import Mapping

import altair as alt
import pandas as pd
import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.last_answer import last_answer
from allpairs.annotate.features.review.agreement import Agreement, agreement, read_votes
from allpairs.annotate.features.review.consensus import AnnotatorScore, annotator_scores
from allpairs.annotate.kit.charts import MATCHER, Plot, tooltips
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.figure import plot, table_open
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.estimate import Estimate

ROW = 34  # pixels
COLUMNS = ("coefficient", "value", "low", "high", "answers")


def agreement_table(coefficients: Mapping[str, Estimate | None]) -> pd.DataFrame:
    """Return one row for each defined coefficient: value, 95% interval, and number of answers."""
    rows = [(name, c.value, c.low, c.high, c.labels) for name, c in coefficients.items() if c is not None]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def agreement_chart(table: pd.DataFrame) -> Plot:
    """Return a chart with a point and an interval for each row of `agreement_table`, in its order."""
    low = min(0.0, float(table["low"].min()))
    scale = alt.Scale(domain=[low, 1])
    rows = alt.Y("coefficient:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart(table).encode(
        y=rows,
        tooltip=tooltips(
            {"value": ("Value", ".3f"), "low": ("Low", ".3f"), "high": ("High", ".3f"), "answers": ("Answers", ",d")}
        ),
    )
    axis = alt.Axis(format=".1f", tickCount=6)
    interval = base.encode(x=alt.X("low:Q", title="Agreement", scale=scale, axis=axis), x2="high:Q")
    value = base.encode(x=alt.X("value:Q", title="Agreement", scale=scale, axis=axis))
    return alt.layer(
        interval.mark_rule(color=MATCHER, strokeWidth=2),
        value.mark_point(color=MATCHER, filled=True, size=80, opacity=1),
    ).properties(height=ROW * len(table) + 40)


def describe_agreement(table: pd.DataFrame) -> str:
    """Return a sentence with each coefficient and its interval."""
    parts = [f"{row.coefficient} {row.value:.3f} ({row.low:.3f} to {row.high:.3f})" for row in table.itertuples()]
    return f"Agreement of annotators with 95% intervals: {'; '.join(parts)}."


DRAWN = "Random sample"
ALL = "All shared pairs"
NOBODY = "No pair has been labelled by several annotators yet."
ADVICE = (
    "On the page “Settings”, “Share with multiple annotators” gives a share of each batch to two or more annotators."
)
NONE_DRAWN = "No randomly sampled pair has been labelled by several annotators yet."


@st.fragment
def agreement_section(project_id: int) -> None:
    """Draw the agreement of annotators, once somebody asks."""
    with st.expander("Agreement of annotators", key="show_agreement", on_change="rerun") as opened:
        if opened.open:
            _draw(project_id)


def _draw(project_id: int) -> None:
    scope = st.segmented_control(
        "Pairs",
        [DRAWN, ALL],
        default=DRAWN,
        required=True,
        key="agreement_pairs",
        help="The random sample represents all pairs of the batches. With double checks, only pairs marked match or "
        "unsure get a second annotator, so agreement on them is not comparable with the random sample.",
    )
    measured, persons = _measured(
        str(engine().url), project_id, last_answer(engine(), project_id), scope == DRAWN, engine()
    )
    if not measured.pairs:
        st.info(f"{NOBODY if scope == ALL else NONE_DRAWN} {ADVICE}")
        return
    pairs = counted(measured.pairs, "pair")
    st.caption(f"{pairs} with a yes or no from several annotators. Unsure answers do not count.")
    table = agreement_table(measured.coefficients)
    plot(agreement_chart, table, described=describe_agreement(table))
    if measured.kappa_note:
        st.info(measured.kappa_note)
    with st.expander("Table", icon=":material/table:"):
        table_open(table, "agreement")
    _twos(measured)
    _people(persons)


@st.cache_data(max_entries=20, show_spinner=False)
def _measured(
    database: str, project_id: int, last: int, drawn: bool, _engine: Engine
) -> tuple[Agreement, list[AnnotatorScore]]:
    votes = read_votes(_engine, project_id, drawn)
    return agreement(votes), annotator_scores(votes)


def _twos(measured: Agreement) -> None:
    """Draw the agreement of each two annotators."""
    if not measured.twos:
        return
    st.markdown("**By pair of annotators**")
    rows = [
        {
            "annotators": f"{two.first}, {two.second}",
            "pairs": two.pairs,
            "on matches": _shown(two.positive),
            "on non-matches": _shown(two.negative),
            "Cohen's kappa": _shown(two.kappa),
        }
        for two in measured.twos
    ]
    table_open(pd.DataFrame(rows), "agreement_by_two")


def _people(persons: list[AnnotatorScore]) -> None:
    """Draw each annotator against the consensus."""
    st.markdown("**Against the consensus**")
    st.caption(
        "The model of Dawid and Skene (1979) weights each annotator by how often the others confirm them. Sensitivity "
        "is the share of matches that an annotator calls a match, specificity the share of other pairs that they call "
        "no match. With two annotators it cannot tell who is right, so use it with three or more. The intervals assume "
        "that annotators err independently."
    )
    rows = [
        {
            "annotator": person.name,
            "answers": person.answers,
            "sensitivity": _shown(person.sensitivity),
            "specificity": _shown(person.specificity),
            "agrees with consensus": _shown(person.agrees),
        }
        for person in persons
    ]
    table_open(pd.DataFrame(rows), "annotators_against_consensus")


def _shown(estimate: Estimate | None) -> str:
    return "–" if estimate is None else f"{estimate.value:.3f} ({estimate.low:.3f}–{estimate.high:.3f})"
