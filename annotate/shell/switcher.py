"""Above the menu: the choice of a project, its progress and its next step. Below it: a language and, where nobody signs
in, a name.
"""

from collections.abc import Set
from typing import Literal
from urllib.parse import urlencode

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import leave
from allpairs.annotate.features.projects.lifecycle import list_archive, list_bin
from allpairs.annotate.features.projects.next_step import next_step, read_standing
from allpairs.annotate.features.projects.ui.next_step import batch_bar, step_link
from allpairs.annotate.frame.access.mode import MAX_ANNOTATOR
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import rights
from allpairs.annotate.frame.language.links import language_links
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.language import _, words
from allpairs.annotate.kit.ui.state import annotator, chosen_project
from allpairs.db.projects.projects import ProjectGone, all_projects, live_project
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project

UPDATE_SECONDS = 10  # seconds between two looks at the project's progress


@st.fragment(run_every=UPDATE_SECONDS)
def show_progress(database: Engine, project: Project, own_rights: Set[Right], visible: Set[str], page: str) -> None:
    """Draw the project's progress and its next step, and keep them up to date; on the page Label the card counts.

    Once the project is gone, or the person's role has changed, the whole page is drawn anew.
    """
    if not _is_as_before(database, project.id, own_rights):
        st.rerun()
    standing = read_standing(database, project.id)
    if page != "label":
        batch_bar(standing)
    step_link(next_step(standing, own_rights, words()), visible)


def _is_as_before(database: Engine, project_id: int, own_rights: Set[Right]) -> bool:
    try:
        with reading(database) as session:
            live_project(session, project_id)
    except ProjectGone:
        return False
    return rights(database, project_id) == own_rights


def pick_project(database: Engine, project: Project | None) -> None:
    """Draw the choice of a project, which `?project=NAME` keeps on every page."""
    name = project.name if project is not None else chosen_project()
    if name is None:
        return
    key = _show("project", name)
    if project is None:
        st.session_state[key] = None
    _choose(database, key, "collapsed")


def project_away(database: Engine, name: str, is_guest: bool) -> None:
    """Tell that the chosen project is not there, and draw the choice of another; is_guest: somebody is signed in."""
    if name in list_archive(database):
        message = _("{name} is archived. An administrator can restore it on the page “Projects”.", name=literal(name))
    elif name in {binned.name for binned in list_bin(database)}:
        message = _("{name} is in the bin. An administrator can restore it on the page “Projects”.", name=literal(name))
    elif is_guest:
        message = _(
            "There is no project named {name}. It may have been removed, or your role in it taken away.",
            name=literal(name),
        )
    else:
        message = _("There is no project named {name}. It may have been removed.", name=literal(name))
    st.warning(message, icon=":material/folder_off:")
    _choose(database, "chosen_instead", "visible")


def _choose(database: Engine, key: str, label_visibility: Literal["visible", "collapsed"]) -> None:
    with reading(database) as session:
        names = [project.name for project in all_projects(session)]
    if names:
        st.selectbox(
            _("Project"),
            names,
            index=None,
            placeholder=_("Choose a project"),
            key=key,
            on_change=_remember,
            args=("project", key),
            label_visibility=label_visibility,
        )


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


def _remember(parameter: str, key: str) -> None:
    if st.session_state[key] is not None:
        st.query_params[parameter] = st.session_state[parameter] = st.session_state[key]


def _rename(database: Engine) -> None:
    leave(database, st.session_state["annotator"])
    _remember("annotator", "chosen_annotator")
