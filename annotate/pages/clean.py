"""Clean list: a project's list without its doubles."""

import streamlit as st

from allpairs.annotate.features.clean.ui.clean_list import draw_clean_list
from allpairs.annotate.features.groups.ui.correct import correct_groups
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.state import current_project, engine


def main() -> None:
    """Draw the page."""
    st.title("Clean list", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
        return
    st.caption(literal(project.name))
    draw_clean_list(project)
    correct_groups(project.id)


main()
