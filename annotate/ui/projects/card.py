"""The card of one project: its progress, the quality of its model, and recent labels."""

from datetime import datetime

import streamlit as st

from allpairs.annotate.access.roles import Right
from allpairs.annotate.access.transactions import rights
from allpairs.annotate.demo import NAME as DEMO
from allpairs.annotate.labelling.tour import call_back
from allpairs.annotate.monitor.rounds import round_name
from allpairs.annotate.projects.list_view import DAYS, Overview, Precision
from allpairs.annotate.projects.projects import Contents, project_contents
from allpairs.annotate.text.formatting import ago, literal
from allpairs.annotate.text.measures import counted, in_figures, interval
from allpairs.annotate.ui.projects.dialogs import ACTS, ARCHIVE, DUPLICATE, ask, restore
from allpairs.annotate.ui.state import annotator, engine
from allpairs.db.domain import Kind, Side
from allpairs.db.schema.engine import database_url

TOUR = "Show the tour"
HALF = 150  # pixels of the first of two figures
TO_TOUR = "to_tour"  # in the session: the project whose tour to show


def project_card(project: Overview) -> None:
    """Draw the card."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(literal(project.name), anchor=False, width="content")
        if project.archived:
            st.badge("archived", icon=":material/inventory_2:", color="gray")
    contents = _contents(database_url(), project.id, project.created_at)
    st.caption(" · ".join([*_size(project.kind, contents), f"created {ago(project.created_at)}"]))
    _batch(project)
    with st.container(horizontal=True, gap="small", wrap=False):  # columns would stack on a phone
        if project.sees:
            with st.container(width=HALF, gap="xsmall"):
                _precision(project.precision)
        with st.container(gap="xsmall"):
            _labels(project.days)
    st.caption(_last_round(project))
    _actions(project)


def _batch(project: Overview) -> None:
    batch = project.batch
    if batch is None:
        st.progress(0.0, "The first batch is not ready yet.")
        return
    done = min(1.0, batch.answered / batch.size) if batch.size else 1.0
    st.progress(done, f"Batch {batch.number} · {batch.answered:,} of {batch.size:,} answered")


def _precision(measured: Precision | None) -> None:
    if measured is None:
        st.metric("Average precision", "–")
        st.caption("not measured yet")
        return
    st.metric("Average precision", in_figures("average_precision", measured.found.value))
    st.caption(precision_in_words(measured))


def precision_in_words(measured: Precision) -> str:
    """Return the figure's interval and method, or that it is exact, and its round."""
    found, of = measured.found, round_name(measured.number).lower()
    if found.high <= found.low:
        return f"exact over {measured.pairs:,} pairs, {of}"
    labels = f": {counted(found.labels, 'audit label')}" if found.method == "audit" else ""
    return f"95% interval {interval('average_precision', found)}, sampled{labels}, {of}"


def _labels(days: tuple[int, ...]) -> None:
    st.metric(f"Labels in {DAYS} days", f"{sum(days):,}", chart_data=days if any(days) else None, chart_type="bar")
    most = max(days)
    st.caption(f"{days[-1]:,} today, at most {most:,} per day" if most else "none")


def _last_round(project: Overview) -> str:
    last = project.matcher
    if last is None:
        return "No model yet."
    if not last.number:
        return f"No model is trained yet. The encoder was measured {ago(last.created_at)}."
    return f"Round {last.number} was trained {ago(last.created_at)} on {counted(last.labels, 'label')}."


def _actions(project: Overview) -> None:
    mine = rights(engine(), project.id)
    changes = Right.CHANGE in mine
    with st.container(horizontal=True, vertical_alignment="center"):
        if project.archived and changes:
            st.button("Restore", key=f"restore_{project.id}", icon=":material/unarchive:", on_click=restore,
                      args=(project.id, project.name))  # fmt: skip
        elif not project.archived:
            to = {"project": project.name}
            if Right.LABEL in mine:
                st.page_link("../pages/label.py", label="Label", icon=":material/rule:", query_params=to)
            if Right.SEE in mine:
                st.page_link("../pages/monitor.py", label="Monitor", icon=":material/monitoring:", query_params=to)
        hindered = {ARCHIVE} if project.archived else set()
        hindered |= set() if Right.INSTALL in mine else {DUPLICATE}
        acts = [act for act in ACTS if changes and act not in hindered]
        tour = [TOUR] if project.name == DEMO and not project.archived else []
        key = f"more_{project.id}"
        if not acts and not tour:
            return
        st.menu_button("More", [*acts, *tour], key=key, icon=":material/more_horiz:", type="tertiary",
                       on_click=_chosen, args=(key, project))  # fmt: skip


def _chosen(key: str, project: Overview) -> None:
    """Do what was chosen in the card's menu, or ask for confirmation at the next draw."""
    act = st.session_state[key]
    if act == TOUR:
        call_back(annotator())
        st.session_state[TO_TOUR] = project.name
    else:
        ask(act, project.id, project.name)


@st.cache_data(show_spinner=False, max_entries=1000)
def _contents(url: str, project_id: int, created_at: datetime) -> Contents:
    """Return the project's contents, which never change. The time tells it from a deleted project with the same id."""
    return project_contents(engine(), project_id)


def _size(kind: Kind, contents: Contents) -> list[str]:
    left, right = contents.count(Side.LEFT), contents.count(Side.RIGHT)
    size = f"one list of {left:,} texts" if kind == Kind.SYMMETRIC else f"two lists, {left:,} × {right:,} texts"
    known = [counted(contents.gold_positives, "known positive")] if contents.gold_positives else []
    return [size, *known]
