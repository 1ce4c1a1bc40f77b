"""The Streamlit script: what surrounds every page."""

from pathlib import Path

import streamlit as st
from sqlalchemy import Engine

from annotate.app_state import annotator, current_project, engine
from annotate.jobs import worker_alive
from db.engine import reading
from db.projects import all_projects

ICON = Path(__file__).with_name("icon.svg")  # a file, for an icon by name would be fetched from the network
PAGES = Path(__file__).parent / "pages"
# file, title, icon; the first one is the start page
NAVIGATION = (
    ("label", "Label", ":material/rule:"),
    ("monitor", "Monitor", ":material/monitoring:"),
    ("jobs", "Jobs", ":material/manufacturing:"),
    ("projects", "Projects", ":material/folder_open:"),
    ("new_project", "New project", ":material/add:"),
    ("settings", "Settings", ":material/settings:"),
)


def main() -> None:
    """Nothing; the page that was asked for is shown."""
    st.set_page_config(page_title="Allpairs", page_icon=ICON, layout="wide")
    files = [(PAGES / f"{file}.py", title, icon) for file, title, icon in NAVIGATION]
    page = st.navigation([st.Page(file, title=title, icon=icon) for file, title, icon in files if file.exists()])
    database = engine()
    with st.sidebar:
        pick_project(database)
        name_annotator()
    warn_without_worker(database)
    page.run()


def pick_project(database: Engine) -> None:
    """Nothing; `?project=NAME` names the project that was picked, on every page."""
    _restore("project")
    with reading(database) as session:
        names = [project.name for project in all_projects(session)]
    project = current_project(database)
    if project is None:
        return
    wanted = st.query_params.get("project", project.name)
    if wanted != project.name:
        st.warning(f"There is no project named {wanted!r}; this is {project.name!r}.")
    # The address decides, so that a link, the back button and another page can all change the project.
    st.session_state["picked_project"] = st.query_params["project"] = project.name
    st.selectbox("Project", names, key="picked_project", on_change=_remember, args=("project", "picked_project"))


def name_annotator() -> None:
    """Nothing; `?annotator=NAME` names who is labelling, on every page."""
    _restore("annotator")
    st.session_state["named_annotator"] = st.query_params["annotator"] = annotator()
    st.text_input("Your name", key="named_annotator", on_change=_remember, args=("annotator", "named_annotator"))


def _remember(parameter: str, widget: str) -> None:
    st.query_params[parameter] = st.session_state[parameter] = st.session_state[widget]


def _restore(parameter: str) -> None:
    """Changing the page empties the address; put the choice back."""
    if parameter in st.query_params:
        st.session_state[parameter] = st.query_params[parameter]
    elif parameter in st.session_state:
        st.query_params[parameter] = st.session_state[parameter]


@st.fragment(run_every=10)
def warn_without_worker(database: Engine) -> None:
    """Nothing; a red line is shown while no worker is alive."""
    if not worker_alive(database):
        st.error("No worker is alive: start one with `python -m learner worker`")


main()
