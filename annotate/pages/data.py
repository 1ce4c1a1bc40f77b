"""Everything that leaves a project as a file, and everything that comes in as one."""

import streamlit as st

from annotate.text.formatting import literal
from annotate.ui.data.exports import take_away
from annotate.ui.data.imports import bring_in
from annotate.ui.state import current_project, engine


def main() -> None:
    """Nothing; draws the page."""
    st.title("Data", anchor=False)
    project = current_project(engine())
    if project is not None:
        st.caption(literal(project.name))
        st.header("Take away", anchor=False)
        take_away(project)
    st.header("Bring in", anchor=False)
    if project is None:
        st.caption("There is no project yet. Make one on the page “New project”, or import one here.")
    bring_in(project)


main()
