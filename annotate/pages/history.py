"""Who changed what and when, in the project and in the whole installation."""

import streamlit as st

from allpairs.annotate.features.projects.history import NOBODY, changes, events, guidelines_of
from allpairs.annotate.features.settings.ui.form import LABELS
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.paged import PAGE, choose_page, read_page
from allpairs.annotate.kit.ui.state import current_project, engine, may
from allpairs.db.schema.tables import Event, Project


def main() -> None:
    """Draw the page."""
    st.title("History", anchor=False)
    project = current_project(engine())
    if project is not None:
        st.caption(literal(project.name))
    whole = may(Right.INSTALL) and (
        project is None or st.toggle("Show changes to the installation", key="history_whole")
    )
    if project is None and not whole:
        st.info("There is no project yet. Create one on the page “New project”.")
        return
    scope = "to accounts, tokens and administrators, and permanently removed projects" if whole else "to this project"
    st.write(f"All changes {scope}. Answers are not listed here: each pair has its own history.")
    _events(None if whole else project)


def _events(project: Project | None) -> None:
    """Draw a page of events."""
    project_id = None if project is None else project.id
    key = f"history_page_{project_id}"
    page = read_page(lambda first: events(engine(), project_id, PAGE, first), key)
    if not page.total:
        st.info("There are no changes yet.")
        return
    st.caption(counted(page.total, "event"))
    for event in page.events:
        _event(event)
    choose_page(page.total, key)


def _event(event: Event) -> None:
    with st.container(border=True, key=f"event_{event.id}", gap="xsmall"):
        subject = f": {literal(event.about)}" if event.about else ""
        st.markdown(f"**{str(event.kind).capitalize()}**{subject}")
        for line in changes(event, LABELS):
            st.text(line)
        if (texts := guidelines_of(event)) is not None:
            with st.expander("Guidelines before and after"):
                for column, text in zip(st.columns(2), texts, strict=True):
                    column.text(text or "(none)")
        st.caption(f"{event.at:%Y-%m-%d %H:%M} UTC · {literal(event.who) or NOBODY}")


main()
