"""The Streamlit script: the frame around every page."""

from pathlib import Path

import streamlit as st
from sqlalchemy import Engine
from streamlit.navigation.page import StreamlitPage

from allpairs.annotate.access.mode import MAX_ANNOTATOR
from allpairs.annotate.access.roles import Right
from allpairs.annotate.access.transactions import rights
from allpairs.annotate.jobs.requests import worker_alive
from allpairs.annotate.labelling.queue import leave
from allpairs.annotate.projects.lifecycle import list_archive
from allpairs.annotate.shell.sign_in import sign_in
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.ui.common.errors import explained
from allpairs.annotate.ui.common.upload import visit
from allpairs.annotate.ui.label.tour import tour
from allpairs.annotate.ui.state import annotator, current_project, engine, who_asks
from allpairs.db.files.logs import about
from allpairs.db.projects.projects import all_projects
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project
from allpairs.db.version import VERSION

ICON = Path(__file__).with_name("icon.svg")  # a file, since an icon given by name would be fetched from the network
PAGES = Path(__file__).parent.parent / "pages"
# file, title, icon, and the right needed to see it; the first visible one is the start page
NAVIGATION = (
    ("label", "Label", ":material/rule:", Right.LABEL),
    ("answers", "Answers", ":material/history:", Right.LABEL),
    ("review", "Review", ":material/gavel:", Right.ADJUDICATE),
    ("monitor", "Monitor", ":material/monitoring:", Right.SEE),
    ("explore", "Explore", ":material/travel_explore:", Right.SEE),
    ("data", "Data", ":material/database:", Right.CHANGE),
    ("experiments", "Experiments", ":material/science:", Right.CHANGE),
    ("pipelines", "Pipelines", ":material/conversion_path:", Right.CHANGE),
    ("rate", "Rate", ":material/reviews:", Right.LABEL),
    ("jobs", "Jobs", ":material/manufacturing:", Right.SEE),
    ("projects", "Projects", ":material/folder_open:", None),
    ("new_project", "New project", ":material/add:", Right.INSTALL),
    ("settings", "Settings", ":material/settings:", Right.CHANGE),
    ("history", "History", ":material/manage_history:", Right.CHANGE),
)


# where people sign in; not in single-user mode
OF_PEOPLE = (
    ("people", "People", ":material/group:", Right.PEOPLE),
    ("account", "Account", ":material/account_circle:", None),
)
HIDDEN = ("rate",)  # not in the navigation, but linked from another page


def main() -> None:
    """Draw the requested page, if the person may see it."""
    st.set_page_config(
        page_title="Allpairs", page_icon=ICON, layout="wide", menu_items={"About": f"**Allpairs {VERSION}**"}
    )
    with explained():
        _show_page()


def _show_page() -> None:
    asking, database = who_asks(), engine()
    if asking.is_locked_out:
        sign_in()
        return
    asked = st.query_params.get("project")
    _restore("project")
    mine = rights(database, project.id if (project := current_project(database)) else None)
    pages, seen = _pages(mine, asking.guest is not None)
    # The start page has no address of its own: a page that started here would be unknown at its own one.
    start = st.Page(lambda: None, title="Start", url_path="start", default=True, visibility="hidden")
    page = st.navigation([start, *pages.values()], expanded=True)
    shown = page.url_path
    if not shown:
        st.switch_page(pages[seen[0]], query_params=st.query_params.to_dict())
    with st.sidebar:
        pick_project(database, asked)
        if asking.guest is None:
            name_annotator(database)
    warn_without_worker(database)
    visit(shown if shown in seen else "", asking.guest)
    if shown not in seen:
        refuse(pages[shown].title, project)
        return
    tour(project, shown)
    with about(project=project and project.id, person=asking.guest and asking.guest.person_id):
        page.run()


def _pages(mine: frozenset[Right], logged_in: bool) -> tuple[dict[str, StreamlitPage], list[str]]:
    """Return all pages by file, and the visible ones. The others are not listed, and refuse when called."""
    listed = (*NAVIGATION, *(OF_PEOPLE if logged_in else ()))
    seen = [file for file, _, _, right in listed if right is None or right in mine]
    pages = {
        file: st.Page(PAGES / f"{file}.py", title=title, icon=icon,
                      visibility="visible" if file in seen and file not in HIDDEN else "hidden")
        for file, title, icon, _ in listed
    }  # fmt: skip
    return pages, seen


def refuse(title: str, project: Project | None) -> None:
    """Tell the person that their role does not include this page."""
    st.title(title, anchor=False)
    where = f" of {literal(project.name)}" if project is not None else ""
    st.error(f"Your role does not include this page. Ask an administrator{where}.", icon=":material/lock:")


def pick_project(database: Engine, asked: str | None) -> None:
    """Draw the choice of a project, which `?project=NAME` keeps on every page. asked: the project in the address."""
    project = current_project(database)
    if project is None:
        return
    if asked not in (None, project.name):
        named = f"There is no project named {literal(asked)}"
        what = f"{literal(asked)} is archived" if asked in list_archive(database) else named
        st.warning(f"{what}. This is {literal(project.name)}.")
    with reading(database) as session:
        names = [other.name for other in all_projects(session)]
    key = _show("project", project.name)
    st.selectbox("Project", names, key=key, on_change=_remember, args=("project",))


def name_annotator(database: Engine) -> None:
    """Draw the field for the annotator's name, which `?annotator=NAME` keeps on every page."""
    _restore("annotator")
    key = _show("annotator", annotator())
    st.text_input("Your name", key=key, on_change=_rename, args=(database,), max_chars=MAX_ANNOTATOR)


def _restore(parameter: str) -> None:
    """Put the choice back into the address, which a change of page empties."""
    if parameter not in st.query_params and parameter in st.session_state:
        st.query_params[parameter] = st.session_state[parameter]


def _show(parameter: str, value: str) -> str:
    """Set the parameter's widget to the value in the address, and return the widget's key."""
    # The address decides, so that links, the back button and other pages can all change the choice.
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
    """Draw a red line while no worker is running."""
    if not worker_alive(database):
        st.error("No worker is running. Start one with `allpairs worker`.")


main()
