"""Confirmations before a project is duplicated, archived, deleted or removed permanently, and the undo bar."""

import streamlit as st

from allpairs.annotate.features.projects.lifecycle import (
    BIN_TIME,
    archive_project,
    bin_project,
    duplicate_project,
    holdings,
    name_of_copy,
    name_problem,
    restore_project,
)
from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.annotate.kit.text.formatting import literal, megabytes, sentence
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.projects.projects import MAX_NAME

DUPLICATE = "Duplicate"
ARCHIVE = "Archive"
DELETE = "Delete"
REMOVE = "Remove permanently"
ACTS = (DUPLICATE, ARCHIVE, DELETE)  # of projects that are not in the bin
ASKING = "asking"  # in the session: the act to confirm, with the project's id and name
UNDO = "undo_project"  # in the session: the project archived or deleted last, and which of the two


def ask(act: str, project_id: int, name: str) -> None:
    """Ask for confirmation when the page is next drawn."""
    st.session_state[ASKING] = (act, project_id, name)


def open_dialog() -> None:
    """Draw the pending confirmation, if there is one."""
    if ASKING in st.session_state:
        act, project_id, name = st.session_state[ASKING]
        dialogs = {DUPLICATE: _duplicate, ARCHIVE: _archive, DELETE: _delete, REMOVE: _remove}
        st.dialog(f"{act} {literal(name)}", on_dismiss=_forget)(dialogs[act])(project_id, name)


def _forget() -> None:
    st.session_state.pop(ASKING, None)


def _done() -> None:
    """Close the dialog and redraw the page."""
    _forget()
    st.rerun()


def _duplicate(project_id: int, name: str) -> None:
    """Ask for the copy's name, and whether to copy the labels."""
    st.write(f"The copy of **{literal(name)}** has the same texts, known pairs and settings, but its own batches.")
    named = st.text_input("Name of the copy", name_of_copy(engine(), name), max_chars=MAX_NAME, key="copy_name")
    labels = st.toggle(
        "Copy the labels too",
        key="copy_labels",
        help="The copy's models train on them from its second batch on. Rounds and models are not copied.",
    )
    problem = name_problem(engine(), named)
    if problem:
        st.caption(literal(sentence(problem)))
    if st.button("Duplicate", key="confirm_copy", type="primary") and not problem:
        with st.spinner("Copying …"):
            copy_id, named = duplicate_project(engine(), project_id, labels, named)
        with told(st.toast):
            request_round(engine(), copy_id)
        st.toast(f"Created {literal(named)}.", icon=":material/content_copy:")
        _done()


def _archive(project_id: int, name: str) -> None:
    """Say what archiving does, and do it."""
    st.write(
        f"This hides **{literal(name)}** from all lists, and cancels its waiting and running jobs. Nothing is removed: "
        "“Show archived” on this page lists it, and “Restore” brings it back."
    )
    if st.button("Archive", key="confirm_archive", type="primary", icon=":material/archive:"):
        _put_away(project_id, name, "archived")


def _delete(project_id: int, name: str) -> None:
    """Say what will be deleted, and move the project to the bin once the box is ticked."""
    st.write(f"This deletes **{literal(name)}** with {_what_goes(project_id)}")
    st.write(f"It stays in the bin on this page for {BIN_TIME.days} days and can be restored. Its jobs are cancelled.")
    sure = st.checkbox(f"Delete {literal(name)}", key="sure")
    if st.button("Delete", key="confirm_delete", type="primary", icon=":material/delete:", disabled=not sure):
        _put_away(project_id, name, "in the bin")


def _remove(project_id: int, name: str) -> None:
    """Say what will be deleted, and remove the project permanently once the box is ticked."""
    st.write(f"This removes **{literal(name)}** with {_what_goes(project_id)}")
    st.write("This cannot be undone.")
    sure = st.checkbox(f"Remove {literal(name)} permanently", key="sure_for_good")
    if st.button(REMOVE, key="confirm_remove", type="primary", disabled=not sure):
        with st.spinner("Removing …"):
            delete_project(engine(), project_id)
        _done()


def _what_goes(project_id: int) -> str:
    contents = holdings(engine(), project_id)
    parts = (counted(contents.items, "text"), counted(contents.labels, "label"), counted(contents.models, "model"))
    return f"{', '.join(parts)}, and {megabytes(contents.folder_bytes)} of models and vectors on disk."


def _put_away(project_id: int, name: str, place: str) -> None:
    """Archive or bin the project, and redraw the page with an undo bar."""
    with told(st.toast):  # somebody else was faster
        (archive_project if place == "archived" else bin_project)(engine(), project_id)
        st.session_state[UNDO] = (project_id, name, place)
    _done()


def undo_bar() -> None:
    """Draw what was last archived or deleted in this session, with an undo button."""
    if UNDO not in st.session_state:
        return
    project_id, name, place = st.session_state[UNDO]
    with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{literal(name)}** is {place}.", width="content")
        st.button("Undo", key="undo", icon=":material/undo:", on_click=restore_from_page, args=(project_id, name))


def restore_from_page(project_id: int, name: str) -> None:
    """Restore the project."""
    if UNDO in st.session_state and st.session_state[UNDO][0] == project_id:
        del st.session_state[UNDO]
    with told(st.toast):
        restore_project(engine(), project_id)
        st.toast(f"Restored {literal(name)}.", icon=":material/undo:")
