"""The Streamlit script: what surrounds every page."""

from pathlib import Path

import streamlit as st
from sqlalchemy import Engine

from annotate.app_state import MAX_ANNOTATOR, annotator, current_project, engine
from annotate.components.tour import tour
from annotate.jobs import worker_alive
from annotate.labelling import leave
from annotate.lifecycle import list_archive
from annotate.wording import literal
from db.engine import reading
from db.projects import all_projects

ICON = Path(__file__).with_name("icon.svg")  # a file, for an icon by name would be fetched from the network
PAGES = Path(__file__).parent.parent / "pages"
# file, title, icon; the first one is the start page
NAVIGATION = (
    ("label", "Label", ":material/rule:"),
    ("answers", "Answers", ":material/history:"),
    ("review", "Review", ":material/gavel:"),
    ("monitor", "Monitor", ":material/monitoring:"),
    ("explore", "Explore", ":material/travel_explore:"),
    ("data", "Data", ":material/database:"),
    ("experiments", "Experiments", ":material/science:"),
    ("pipelines", "Pipelines", ":material/conversion_path:"),
    ("jobs", "Jobs", ":material/manufacturing:"),
    ("projects", "Projects", ":material/folder_open:"),
    ("new_project", "New project", ":material/add:"),
    ("settings", "Settings", ":material/settings:"),
)


def main() -> None:
    """Nothing; the page that was asked for is shown."""
    st.set_page_config(page_title="Allpairs", page_icon=ICON, layout="wide")
    page = st.navigation([st.Page(PAGES / f"{file}.py", title=title, icon=icon) for file, title, icon in NAVIGATION])
    database = engine()
    with st.sidebar:
        pick_project(database)
        name_annotator(database)
    warn_without_worker(database)
    tour(current_project(database), page.url_path or NAVIGATION[0][0])
    page.run()


def pick_project(database: Engine) -> None:
    """Nothing; `?project=NAME` names the project that was picked, on every page."""
    asked = st.query_params.get("project")
    _restore("project")
    project = current_project(database)
    if project is None:
        return
    if asked not in (None, project.name):
        named = f"There is no project named {literal(asked)}"
        what = f"{literal(asked)} is archived" if asked in list_archive(database) else named
        st.warning(f"{what}; this is {literal(project.name)}.")
    with reading(database) as session:
        names = [other.name for other in all_projects(session)]
    key = _show("project", project.name)
    st.selectbox("Project", names, key=key, on_change=_remember, args=("project",))


def name_annotator(database: Engine) -> None:
    """Nothing; `?annotator=NAME` names who is labelling, on every page."""
    _restore("annotator")
    key = _show("annotator", annotator())
    st.text_input("Your name", key=key, on_change=_rename, args=(database,), max_chars=MAX_ANNOTATOR)


def _restore(parameter: str) -> None:
    """Changing the page empties the address; put the choice back."""
    if parameter not in st.query_params and parameter in st.session_state:
        st.query_params[parameter] = st.session_state[parameter]


def _show(parameter: str, value: str) -> str:
    """The key of the parameter's widget, which shows the value that the address has."""
    # The address decides, so that a link, the back button and another page can all change it.
    key = f"chosen_{parameter}"
    st.query_params[parameter] = st.session_state[parameter] = st.session_state[key] = value
    return key


def _remember(parameter: str) -> None:
    st.query_params[parameter] = st.session_state[parameter] = st.session_state[f"chosen_{parameter}"]


def _rename(database: Engine) -> None:
    leave(database, st.session_state["annotator"])
    _remember("annotator")


@st.fragment(run_every=10)
def warn_without_worker(database: Engine) -> None:
    """Nothing; a red line is shown while no worker is alive."""
    if not worker_alive(database):
        st.error("No worker is alive: start one with `python -m learner worker`")


main()
