"""How good the matcher is over all pairs, round by round, and how many labels it took."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from allpairs.annotate.features.publish.ui.model import model
from allpairs.annotate.features.quality.rounds import read_report
from allpairs.annotate.features.quality.ui.activity import tally_of
from allpairs.annotate.features.quality.ui.audit import audit
from allpairs.annotate.features.quality.ui.curves import curves
from allpairs.annotate.features.quality.ui.people import people_tab
from allpairs.annotate.features.quality.ui.summary import summary_tab
from allpairs.annotate.features.review.ui.checks import fast_answers_line
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.figure import print_style
from allpairs.annotate.kit.ui.job_status import job_line
from allpairs.annotate.kit.ui.state import current_project, engine
from allpairs.db.schema.tables import Project

TABS = "tab"  # the parameter of the address that names the open tab


def main() -> None:
    """Draw the page."""
    print_style()
    project = current_project(engine())
    head = st.container(horizontal=True, vertical_alignment="center")
    head.title("Monitor", anchor=False, width="content")
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
        return
    head.caption(literal(project.name), width="content")
    with head.container(width="stretch"):
        job_line(project.id)
    fast_answers_line(project.id)
    draw_tabs(project)


def draw_tabs(project: Project) -> None:
    """Draw the tabs, of which only the open one is computed and sent."""
    report = read_report(engine(), project.id, tally_of(project.id))
    if not report.matchers and not report.rounds:
        st.info(
            "There is no round yet. The first job encodes the texts and prepares the first batch.",
            icon=":material/hourglass:",
        )
        return
    contents: dict[str, Callable[[], None]] = {
        "Summary": partial(summary_tab, report, project.id, TABS),
        "Curves": partial(curves, report, project.id),
        "People": partial(people_tab, report, project.id),
        "Audit": partial(audit, report, project.id),
        "Model": partial(model, report, project),
    }
    for tab, draw in zip(st.tabs(list(contents), key=TABS, bind="query-params"), contents.values(), strict=True):
        if tab.open:
            with tab:
                draw()


main()
