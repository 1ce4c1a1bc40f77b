"""Above the menu: the choice of a project, its progress and its next step. Below it: a language and, where nobody signs
in, a name.
"""

from collections.abc import Set
from urllib.parse import urlencode

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.access.mode import MAX_ANNOTATOR
from allpairs.annotate.access.roles import Right
from allpairs.annotate.labelling.queue import leave
from allpairs.annotate.language.links import language_links
from allpairs.annotate.projects.lifecycle import list_archive
from allpairs.annotate.projects.next_step import next_step, read_standing
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.ui.language import _, words
from allpairs.annotate.ui.overview.next_step import batch_bar, step_link
from allpairs.annotate.ui.state import annotator, current_project
from allpairs.db.projects.projects import all_projects
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project

EVERY = 10  # seconds between two looks at the project's progress


@st.fragment(run_every=EVERY)
def show_progress(database: Engine, project: Project, mine: Set[Right], seen: Set[str], page: str) -> None:
    """Draw the project's progress and its next step, and keep them up to date; on the page Label the card counts."""
    found = read_standing(database, project.id)
    if page != "label":
        batch_bar(found)
    step_link(next_step(found, mine, words()), seen)


def pick_project(database: Engine, asked: str | None) -> None:
    """Draw the choice of a project, which `?project=NAME` keeps on every page. asked: the project in the address."""
    project = current_project(database)
    if project is None:
        return
    if asked not in (None, project.name):
        archived = _("{name} is archived. This is {shown}.", name=literal(asked), shown=literal(project.name))
        unknown = _(
            "There is no project named {name}. This is {shown}.", name=literal(asked), shown=literal(project.name)
        )
        st.warning(archived if asked in list_archive(database) else unknown)
    with reading(database) as session:
        names = [other.name for other in all_projects(session)]
    key = _show("project", project.name)
    st.selectbox(_("Project"), names, key=key, on_change=_remember, args=("project",),
                 label_visibility="collapsed")  # fmt: skip


def name_annotator(database: Engine) -> None:
    """Draw the field for the annotator's name, which `?annotator=NAME` keeps on every page."""
    key = _show("annotator", annotator())
    st.text_input(_("Your name"), key=key, on_change=_rename, args=(database,), max_chars=MAX_ANNOTATOR)


def choose_language(page: str) -> None:
    """Draw the links that change the language and come back to this page."""
    st.html(language_links(words(), f"/{page}?{urlencode(st.query_params.to_dict())}"))


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
