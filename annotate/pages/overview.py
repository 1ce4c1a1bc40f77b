"""Where the project stands, and the one next thing to do."""

from collections.abc import Set

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.projects.list_view import read_overview
from allpairs.annotate.features.projects.next_step import NextStep, Standing, next_step, read_standing
from allpairs.annotate.features.projects.ui.card import project_figures, size
from allpairs.annotate.features.projects.ui.next_step import batch_bar, job_in_words, steps
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import rights
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.language import _, words
from allpairs.annotate.kit.ui.state import current_project, engine, may

UPDATE_SECONDS = 5  # seconds between two looks at the project


def main() -> None:
    """Draw the page."""
    database = engine()
    project = current_project(database)
    if project is None:
        no_project()
        return
    st.title(literal(project.name), anchor=False)
    project_state(database, project.id, rights(database, project.id))


def no_project() -> None:
    """Tell who has no project how to get one."""
    st.title(_("Overview"), anchor=False)
    if not may(Right.INSTALL):
        st.info(_("You have no project yet. Ask an administrator for access to one."), icon=":material/folder_open:")
        return
    st.info(_("There is no project yet. Create one from a file of texts."), icon=":material/folder_open:")
    if st.button(_("New project"), key="new_project", type="primary", icon=":material/add:"):
        st.switch_page("../pages/new_project.py")


@st.fragment(run_every=UPDATE_SECONDS)
def project_state(database: Engine, project_id: int, own_rights: Set[Right]) -> None:
    """Draw the state of the project, and keep it up to date."""
    project = read_overview(database, project_id)
    state = read_standing(database, project_id)
    st.caption(size(project))
    what_next(state, next_step(state, own_rights, words()))
    project_figures(project)
    st.subheader(_("How it works"), anchor=False)
    steps(state)


def what_next(state: Standing, step: NextStep) -> None:
    """Draw the next step with its button, and the progress of the batch and of what runs."""
    with st.container(border=True, key="next_step"):
        st.markdown(f"**{_('Next:')}** {literal(step.reason)}")
        batch_bar(state)
        if state.batch.number and (job := job_in_words(state)):
            st.caption(literal(job))
        if step.act and st.button(step.act, key="next", type="primary", icon=":material/arrow_forward:"):
            st.switch_page(f"../pages/{step.page}.py")


main()
