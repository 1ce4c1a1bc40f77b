"""Export: every file that leaves a project, and those that come in."""

import streamlit as st

from allpairs.annotate.features.download.ui.exports import exports
from allpairs.annotate.features.download.ui.imports import imports
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.state import current_project, engine


def main() -> None:
    """Draw the page."""
    st.title("Export", anchor=False)
    project = current_project(engine())
    if project is not None:
        st.caption(literal(project.name))
        st.header("Download", anchor=False)
        exports(project)
    st.header("Import", anchor=False)
    if project is None:
        st.caption("There is no project yet. Create one on the page “New project”, or import one here.")
    imports(project)


main()
