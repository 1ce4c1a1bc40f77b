"""Audit tasks: what they are, and the form that asks for more of them."""

import streamlit as st

from annotate.access.roles import Right
from annotate.jobs import requests as jobs
from annotate.monitor.rounds import BIASED, Report, why_unmeasured
from annotate.text.formatting import literal
from annotate.text.measures import counted
from annotate.ui.state import engine, may
from db.errors import InputError

DRAW = 60  # pairs: an audit batch of some minutes
WHAT = (
    "An audit task is a pair of evaluation items, drawn at random with a known probability. Its label never trains a "
    "model. It measures every round over all pairs, with an interval."
)

UPDATE = "Measures every round again on all audit labels there are."


def invitation(report: Report, project_id: int) -> None:
    """Nothing; draws how a project without known pairs comes to figures, and the form that begins it."""
    st.info(
        f"{_missing(report)}{why_unmeasured(report)} Audit tasks can measure all the same. {WHAT} {_mixed_in(report)}"
        f"\n\n{BIASED}",
        icon=":material/straighten:",
    )
    audit_form(report, project_id)


def _missing(report: Report) -> str:
    """How far the audit is from its first figures; empty before it begins."""
    if report.audited is None:
        return ""
    audit = report.audited.audit
    return f"**{counted(audit['needed'], 'more audit label')} until the first figures** ({audit['labels']:,} so far). "


def audit_section(report: Report, project_id: int) -> None:
    """Nothing; draws the form for more audit pairs in a project that audit labels measure."""
    if report.audited is None:
        return
    st.subheader("Audit pairs", anchor=False)
    st.caption(f"{WHAT} {_mixed_in(report)}")
    audit_form(report, project_id)


def _mixed_in(report: Report) -> str:
    every = report.settings.audit_every
    if not every:
        return "Batches have none (a setting of the project); they can be drawn here for an audit batch of their own."
    return f"One task in {every} of a batch is one; more can be drawn here for an audit batch of their own."


def audit_form(report: Report, project_id: int) -> None:
    """Nothing; draws the number of pairs to draw, and the buttons that ask for them or for new figures."""
    if report.audit_batch and may(Right.LABEL, project_id):
        left = f"{counted(report.audit_batch, 'pair')} of the open audit batch left: answer them first"
        st.page_link("../pages/label.py", label=left, icon=":material/rule:")
    if not may(Right.CHANGE, project_id):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pairs = st.number_input("Pairs to draw", 1, 10_000, DRAW, step=10, width=160, key="audit_draw")
        drawing = st.button("Draw audit pairs", key="draw_audit", type="primary", icon=":material/casino:")
        updating = st.button("Update the figures", key="update_audit", icon=":material/refresh:", help=UPDATE)
    if drawing or updating:
        _ask(project_id, pairs if drawing else 0)


def _ask(project_id: int, draw: int) -> None:
    """Nothing; the job is asked for and the page drawn anew, or what hinders it is on the page."""
    try:
        jobs.request_audit(engine(), project_id, draw)
    except InputError as problem:
        st.error(literal(str(problem)), icon=":material/error:")
    else:
        st.rerun()
