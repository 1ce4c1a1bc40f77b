"""The tab Summary: the figure, its course, what to do next, and whether labelling may stop."""

import streamlit as st

from allpairs.annotate.features.projects.next_step import next_step, read_standing
from allpairs.annotate.features.quality.entity_audit import groups_in_words, read_entity_audit
from allpairs.annotate.features.quality.more_labels import gained, width
from allpairs.annotate.features.quality.round_tables import estimates_table
from allpairs.annotate.features.quality.rounds import BIASED, MonitorReport, round_name, why_unmeasured
from allpairs.annotate.features.quality.stopping import AdvicePlace, advice, may_stop
from allpairs.annotate.features.quality.ui.audit import invitation
from allpairs.annotate.features.quality.ui.figures import headline
from allpairs.annotate.features.quality.ui.round_charts import describe_estimates, estimate_chart
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import rights
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import MEASURES
from allpairs.annotate.kit.ui.figure import plot
from allpairs.annotate.kit.ui.state import engine

ICON = ":material/arrow_forward:"
HEIGHT = 300  # pixels of the plot, as high as the figure beside it
ANSWERS = {
    True: ":green-badge[:material/check: Yes]",
    False: ":gray-badge[:material/close: Not yet]",
    None: ":gray-badge[:material/question_mark: Unknown]",
}


def summary_tab(report: MonitorReport, project_id: int, tabs: str) -> None:
    """Draw the tab, or how the project gets its first figures. tabs: the key of the tabs."""
    if report.measured:
        _figures(report, project_id, tabs)
    elif not report.evaluation_items:
        st.info(f"This project cannot be measured. {why_unmeasured(report)} {BIASED}", icon=":material/straighten:")
    elif not report.gold_measurable:
        invitation(report, project_id)
    else:
        st.info("There are no figures yet. The first job computes them.", icon=":material/straighten:")


def _figures(report: MonitorReport, project_id: int, tabs: str) -> None:
    figure, course = st.columns(2, gap="medium")
    with figure:
        headline(report)
        if sentence := groups_in_words(read_entity_audit(engine(), project_id)):
            st.markdown(sentence)
    with course:
        _course(report)
    following, stopping = st.columns(2, gap="medium")
    with following:
        _following(report, project_id, tabs)
    with stopping:
        _stopping(report)


def _course(report: MonitorReport) -> None:
    """Draw average precision against labels spent."""
    table = estimates_table(report)
    title = MEASURES["average_precision"]
    table = table[table["measure"] == title]
    st.markdown(f"**{title} by labels**")
    if len(table) < 2:
        st.caption("The curve begins with the first trained round.")
        return
    plot(estimate_chart, table, HEIGHT, described=describe_estimates(table))
    if (last := report.before_texts_changed) is not None:
        st.caption(
            f"Evaluation texts changed after {round_name(last).lower()}: figures up to that round are of the old texts."
        )


def _following(report: MonitorReport, project_id: int, tabs: str) -> None:
    """Draw the next step, and why: the project's own, as everywhere, or what serves better than labelling a batch."""
    own_rights = rights(engine(), project_id)
    standing = read_standing(engine(), project_id)
    step = next_step(standing, own_rights)
    advised = advice(report)
    st.subheader("What to do next", anchor=False)
    # An audit cannot be drawn while a job runs, or while another one is open.
    hindered = standing.running or standing.audit_left or step.page != "label" or Right.CHANGE not in own_rights
    if advised is None or hindered:
        if step.act and step.page != "monitor" and st.button(step.act, key="next", icon=ICON):
            st.switch_page(f"../pages/{step.page}.py")
        st.markdown(" ".join([literal(step.reason), gained(report)]))
        return
    if advised.place == AdvicePlace.AUDIT:
        st.button(advised.title, key="next", icon=ICON, on_click=_open, args=(tabs, "Audit"))
    elif st.button(advised.title, key="next", icon=ICON):
        st.switch_page(f"../pages/{advised.place}.py")
    st.markdown(" ".join([advised.reason, gained(report)]))


def _open(tabs: str, tab: str) -> None:
    st.session_state[tabs] = tab


def _stopping(report: MonitorReport) -> None:
    """Draw whether the target precision is reached, and how sure the figures are."""
    verdict = may_stop(report)
    st.subheader("May labelling stop?", anchor=False)
    st.markdown(" ".join([ANSWERS[verdict.reached], verdict.sentence, width(report)]))
