"""Audit pairs: what they are, the form that draws more of them, and what their labels say."""

import streamlit as st

from allpairs.annotate.features.quality.rounds import BIASED, MonitorReport, why_unmeasured
from allpairs.annotate.features.quality.ui.correction import corrections
from allpairs.annotate.features.quality.ui.entities import entity_audit
from allpairs.annotate.features.quality.ui.strata import strata
from allpairs.annotate.features.raters.ui.monitor import audit_rater
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.labels.audits import MOST_CHANGED

DRAW = 60  # pairs: an audit batch of a few minutes
EXPLANATION = (
    "An audit pair is a pair of evaluation texts, sampled at random with a known probability. Its label never trains a "
    "model. Audit labels measure every round over all pairs, with an interval."
)

UNNAMED = (
    "Only pairs without a known answer are sampled here. Those that turn out to be positives are counted together with "
    "the known ones."
)
UPDATE = "Measures every round again, on all audit labels."


def invitation(report: MonitorReport, project_id: int) -> None:
    """Draw how a project without known pairs can be measured, and the form that starts it."""
    st.info(
        f"{_missing(report)}{why_unmeasured(report)} Audit pairs can measure it instead. {EXPLANATION} "
        f"{_mixed_in(report)}\n\n{BIASED}",
        icon=":material/straighten:",
    )
    audit_form(report, project_id)


def _missing(report: MonitorReport) -> str:
    """Return how many labels the audit still needs for its first figures; empty before it starts."""
    if report.audited is None:
        return ""
    audit = report.audited.audit
    if not audit["needed"]:
        return ""
    return f"**{counted(audit['needed'], 'more audit label')} until the first figures** ({audit['labels']:,} so far). "


def audit(report: MonitorReport, project_id: int) -> None:
    """Draw the tab Audit: the form for more audit pairs, the strata, and the check of false positives."""
    if not report.evaluation_items:
        st.info(f"There is nothing to audit. {why_unmeasured(report)}", icon=":material/straighten:")
        return
    st.subheader("Audit pairs", anchor=False)
    more = _mixed_in(report) if not report.gold_measurable else f"{UNNAMED} {_missing(report)}"
    st.caption(f"{EXPLANATION} {more}")
    audit_form(report, project_id)
    if report.measured:
        strata(report)
        corrections(project_id)
    if report.matchers:
        # The encoder alone gives no probabilities, and so no groups.
        trained = any(matcher.w is not None for matcher, _ in report.matchers)
        entity_audit(project_id, bool(report.gold_measurable) and trained)


def _mixed_in(report: MonitorReport) -> str:
    spacing = report.settings.audit_every
    if not spacing:
        return "Batches contain no audit pairs (project setting). Draw a separate audit batch here."
    return f"In batches, one pair in {spacing} is an audit pair. Draw more here as a separate audit batch."


def audit_form(report: MonitorReport, project_id: int) -> None:
    """Draw the number of pairs to draw, and the buttons that draw them or recompute the figures."""
    if report.audit_batch and may(Right.LABEL, project_id):
        verb = "is unlabelled. Label it" if report.audit_batch == 1 else "are unlabelled. Label them"
        left = f"{counted(report.audit_batch, 'pair')} of the current audit batch {verb} first."
        st.page_link("../pages/label.py", label=left, icon=":material/rule:")
    if not may(Right.CHANGE, project_id):
        return
    if report.changed > MOST_CHANGED:
        share = f"{min(report.changed, 1.0):.0%}"
        change = f"{share} of the evaluation texts have changed since the audit was drawn."
        st.caption(f"{change} The next pairs that you draw start a new audit, of the texts as they are now.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pairs = st.number_input("Pairs to draw", 1, 10_000, DRAW, step=10, width=160, key="audit_draw")
        drawing = st.button("Draw audit pairs", key="draw_audit", type="primary", icon=":material/casino:")
        updating = st.button("Update figures", key="update_audit", icon=":material/refresh:", help=UPDATE)
    audit_rater(project_id, report.audited.audit if report.audited else {})
    if drawing or updating:
        _ask(project_id, pairs if drawing else 0)


def _ask(project_id: int, draw: int) -> None:
    """Request the job and redraw the page, or show why it cannot be requested."""
    with told():
        jobs.request_audit(engine(), project_id, draw)
        st.rerun()
