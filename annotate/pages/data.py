"""Everything that leaves a project as a file, and everything that comes in as one."""

import streamlit as st

from annotate.app_state import current_project, engine
from annotate.components.bring_in import bring_in
from annotate.components.take_away import take_away
from annotate.wording import literal


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
