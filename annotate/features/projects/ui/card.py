"""The card of one project: its progress, the quality of its model, and recent labels."""

from datetime import datetime

import streamlit as st

from allpairs.annotate.features.projects.list_view import DAYS, Overview, Precision
from allpairs.annotate.features.projects.projects import Contents, project_contents
from allpairs.annotate.features.projects.ui.dialogs import ACTS, ARCHIVE, DUPLICATE, ask, restore_from_page
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import rights
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.language import _, localized_number, ngettext, words
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.domain import Kind, Purpose, Side
from allpairs.db.schema.engine import database_url

HALF = 200  # pixels of the first of two figures: its name is longer in other languages


def project_card(project: Overview) -> None:
    """Draw the card."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(literal(project.name), anchor=False, width="content")
        if project.archived:
            st.badge(_("archived"), icon=":material/inventory_2:", color="gray")
    st.caption(size(project))
    _batch(project)
    project_figures(project)
    _actions(project)


def size(project: Overview) -> str:
    """Return how many texts and known positives the project has, and when it was created."""
    contents = _contents(database_url(), project.id, project.created_at, project.texts)
    left = contents.count(Side.LEFT)
    right = contents.count(Side.RIGHT)
    one_list = _("one list of {n} texts", n=localized_number(left))
    two = _("two lists, {left} × {right} texts", left=localized_number(left), right=localized_number(right))
    parts = [one_list if project.kind == Kind.SYMMETRIC else two]
    if contents.gold_positives:
        parts.append(ngettext("{n} known positive", "{n} known positives", contents.gold_positives))
    return " · ".join([*parts, _("created {ago}", ago=ago(project.created_at, words()))])


def project_figures(project: Overview) -> None:
    """Draw the precision of the project's model, for those who see it, the recent labels, and the last training."""
    key = f"figures_{project.id}"
    with st.container(horizontal=True, gap="small", wrap=False, key=key):  # columns would stack on a phone
        if project.sees:
            with st.container(width=HALF, gap="xsmall"):
                _precision(project.precision)
        with st.container(gap="xsmall"):
            _labels(project)
    st.caption(_last_round(project))


def _batch(project: Overview) -> None:
    batch = project.batch
    if batch is None:
        st.progress(0.0, _("The first batch is not ready yet."))
        return
    share = min(1.0, batch.answered / batch.size) if batch.size else 1.0
    counts = {
        "number": batch.number,
        "answered": localized_number(batch.answered),
        "size": localized_number(batch.size),
    }
    st.progress(share, _("Batch {number}: {answered} of {size} answered", **counts))


def _precision(measured: Precision | None) -> None:
    if measured is None:
        st.metric(_("Average precision"), "–")
        st.caption(_("not measured yet"))
        return
    st.metric(_("Average precision"), localized_number(measured.estimate.value, ".3f"))
    st.caption(precision_in_words(measured))


def precision_in_words(measured: Precision) -> str:
    """Return the figure's interval and method, or that it is exact, and its round."""
    estimate = measured.estimate
    round_words = _("round {number}", number=measured.number) if measured.number else _("before training")
    if estimate.high <= estimate.low:
        return _("exact over {n} pairs, {round}", n=localized_number(measured.pairs), round=round_words)
    values = {
        "low": localized_number(estimate.low, ".3f"),
        "high": localized_number(estimate.high, ".3f"),
        "round": round_words,
    }
    if estimate.method != "audit":
        return _("95% interval {low} to {high}, sampled, {round}", **values)
    return ngettext(
        "95% interval {low} to {high}, sampled: {n} audit label, {round}",
        "95% interval {low} to {high}, sampled: {n} audit labels, {round}",
        estimate.labels,
        **values,
    )


def _labels(project: Overview) -> None:
    days = project.days
    audits = project.labels[Purpose.AUDIT]
    chart = days if sum(day > 0 for day in days) > 1 else None  # one bar says no more than its number
    st.metric(_("Labels"), localized_number(project.labels.total()), chart_data=chart, chart_type="bar")
    measuring = [_("{n} of them for measuring", n=localized_number(audits))] if audits else []
    lately = ngettext(
        "{n} answer in {days} days, {today} today",
        "{n} answers in {days} days, {today} today",
        sum(days),
        days=DAYS,
        today=localized_number(days[-1]),
    )
    st.caption("; ".join([*measuring, lately]))


def _last_round(project: Overview) -> str:
    last = project.matcher
    if last is None:
        return _("No model yet.")
    time = ago(last.created_at, words())
    if not last.number:
        return _("No model is trained yet. The encoder was measured {ago}.", ago=time)
    return ngettext(
        "Round {number} was trained {ago} on {n} label.",
        "Round {number} was trained {ago} on {n} labels.",
        last.labels,
        number=last.number,
        ago=time,
    )


def _actions(project: Overview) -> None:
    own_rights = rights(engine(), project.id)
    changes = Right.CHANGE in own_rights
    with st.container(horizontal=True, vertical_alignment="center"):
        if project.archived and changes:
            st.button(
                _("Restore"),
                key=f"restore_{project.id}",
                icon=":material/unarchive:",
                on_click=restore_from_page,
                args=(project.id, project.name),
            )
        elif not project.archived:
            to = {"project": project.name}
            if Right.LABEL in own_rights:
                st.page_link("../pages/label.py", label=_("Label"), icon=":material/rule:", query_params=to)
            if Right.SEE in own_rights:
                st.page_link("../pages/monitor.py", label=_("Monitor"), icon=":material/monitoring:", query_params=to)
        hindered = {ARCHIVE} if project.archived else set()
        hindered |= set() if Right.INSTALL in own_rights else {DUPLICATE}
        acts = [act for act in ACTS if changes and act not in hindered]
        key = f"more_{project.id}"
        if acts:
            st.menu_button(
                _("More"),
                acts,
                key=key,
                icon=":material/more_horiz:",
                type="tertiary",
                on_click=_chosen,
                args=(key, project),
            )


def _chosen(key: str, project: Overview) -> None:
    """Ask, at the next draw, to confirm what was chosen in the card's menu."""
    ask(st.session_state[key], project.id, project.name)


@st.cache_data(show_spinner=False, max_entries=1000)
def _contents(url: str, project_id: int, created_at: datetime, texts: tuple[int, int]) -> Contents:
    """Return the project's contents. The time tells it from a deleted project with the same id."""
    return project_contents(engine(), project_id)
