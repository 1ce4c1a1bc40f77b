"""How far annotators agree, and how often each is right by their consensus."""

import pandas as pd
import streamlit as st
from sqlalchemy import Engine

from annotate.monitor.activity import last_answer
from annotate.monitor.agreement_chart import agreement_chart, agreement_table, describe_agreement
from annotate.review.agreement import Agreement, agreement, read_votes
from annotate.review.consensus import Person, people
from annotate.text.measures import counted
from annotate.ui.common.figure import plot, table_open
from annotate.ui.state import engine
from db.estimate import Estimate

DRAWN, ALL = "Drawn at random for several", "All that several labelled"
NOBODY = "No pair has been labelled by several annotators yet."
HOW = "On the page Settings, “Share labelled by several” puts a share of each batch before two annotators or more."
NONE_DRAWN = "No pair that was drawn at random for several annotators has been labelled by them yet."


@st.fragment
def agreement_section(project_id: int) -> None:
    """Nothing; how far annotators agree is drawn once somebody asks."""
    with st.expander("Agreement of annotators", key="show_agreement", on_change="rerun") as opened:
        if opened.open:
            _draw(project_id)


def _draw(project_id: int) -> None:
    which = st.segmented_control(
        "Pairs", [DRAWN, ALL], default=DRAWN, required=True, key="agreement_pairs",
        help="What is drawn at random stands for all pairs of the batches. A double check is only taken at pairs that "
        "somebody called a match or was unsure of, so that agreement there is another one.",
    )  # fmt: skip
    found, persons = _measured(
        str(engine().url), project_id, last_answer(engine(), project_id), which == DRAWN, engine()
    )
    if not found.pairs:
        st.info(f"{NOBODY if which == ALL else NONE_DRAWN} {HOW}")
        return
    st.caption(f"{counted(found.pairs, 'pair')} with a yes or no of several annotators; unsure is no opinion.")
    table = agreement_table(found.coefficients)
    plot(agreement_chart, table, described=describe_agreement(table))
    if found.why:
        st.info(found.why)
    with st.expander("Table", icon=":material/table:"):
        table_open(table, "agreement")
    _twos(found)
    _people(persons)


@st.cache_data(max_entries=20, show_spinner=False)
def _measured(
    database: str, project_id: int, last: int, drawn: bool, _engine: Engine
) -> tuple[Agreement, list[Person]]:
    votes = read_votes(_engine, project_id, drawn)
    return agreement(votes), people(votes)


def _twos(found: Agreement) -> None:
    """Nothing; each two annotators, with what they agree on."""
    if not found.twos:
        return
    st.markdown("**Each two**")
    rows = [
        {"annotators": f"{two.one}, {two.other}", "pairs": two.pairs, "on matches": _shown(two.positive),
         "on others": _shown(two.negative), "Cohen's kappa": _shown(two.kappa)}
        for two in found.twos
    ]  # fmt: skip
    table_open(pd.DataFrame(rows), "agreement_by_two")


def _people(persons: list[Person]) -> None:
    """Nothing; each annotator against the consensus."""
    st.markdown("**Against the consensus**")
    st.caption(
        "Dawid and Skene's model weighs each annotator by how often the others bear them out: sensitivity is the share "
        "of matches that somebody calls one, specificity the share of others that they call none. With two annotators "
        "it cannot tell who is right where they differ: read it from three on. The intervals take it that annotators "
        "err independently."
    )
    rows = [
        {"annotator": one.name, "answers": one.answers, "sensitivity": _shown(one.sensitivity),
         "specificity": _shown(one.specificity), "agrees with consensus": _shown(one.agrees)}
        for one in persons
    ]  # fmt: skip
    table_open(pd.DataFrame(rows), "annotators_against_consensus")


def _shown(found: Estimate | None) -> str:
    return "–" if found is None else f"{found.value:.3f} ({found.low:.3f}–{found.high:.3f})"
