"""What a person confirms before a project is copied, archived, deleted or removed for good; and what takes it back."""

import streamlit as st

from annotate.jobs.requests import request_round
from annotate.projects.lifecycle import (
    KEPT,
    archive_project,
    bin_project,
    duplicate_project,
    holdings,
    name_of_copy,
    name_problem,
    restore_project,
)
from annotate.projects.projects import delete_project
from annotate.text.formatting import literal, megabytes
from annotate.text.measures import counted
from annotate.ui.state import engine
from db.errors import InputError
from db.projects.projects import MAX_NAME

DUPLICATE, ARCHIVE, DELETE, REMOVE = "Duplicate", "Archive", "Delete", "Remove for good"
ACTS = (DUPLICATE, ARCHIVE, DELETE)  # of projects that are not in the bin
ASKING = "asking"  # in the session: the act that waits for a confirmation, with the project's id and name
UNDO = "undo_project"  # in the session: the project put away last, and how


def ask(act: str, project_id: int, name: str) -> None:
    """Nothing; the act is asked about when the page is drawn the next time."""
    st.session_state[ASKING] = (act, project_id, name)


def open_dialog() -> None:
    """Nothing; draws the question that waits for an answer, if there is one."""
    if ASKING in st.session_state:
        act, project_id, name = st.session_state[ASKING]
        dialogs = {DUPLICATE: _duplicate, ARCHIVE: _archive, DELETE: _delete, REMOVE: _remove}
        st.dialog(f"{act} {literal(name)}", on_dismiss=_forget)(dialogs[act])(project_id, name)


def _forget() -> None:
    st.session_state.pop(ASKING, None)


def _done() -> None:
    """Nothing; the question is answered, and the page is drawn anew."""
    _forget()
    st.rerun()


def _duplicate(project_id: int, name: str) -> None:
    """Nothing; asks for the copy's name and whether labels go with it."""
    st.write(
        f"The copy of **{literal(name)}** has the same texts, known pairs and settings, and makes batches of its own."
    )
    named = st.text_input("Name of the copy", name_of_copy(engine(), name), max_chars=MAX_NAME, key="copy_name")
    labels = st.toggle(
        "Copy the labels too",
        key="copy_labels",
        help="They train the copy's models from its second batch on. Rounds and models are not copied.",
    )
    problem = name_problem(engine(), named)
    if problem:
        st.caption(literal(problem))
    if st.button("Duplicate", key="confirm_copy", type="primary", disabled=bool(problem)):
        with st.spinner("Copying …"):
            copy_id, named = duplicate_project(engine(), project_id, labels, named)
        try:
            request_round(engine(), copy_id)
        except InputError as error:
            st.toast(str(error))
        st.toast(f"{literal(named)} is made.", icon=":material/content_copy:")
        _done()


def _archive(project_id: int, name: str) -> None:
    """Nothing; says what archiving does, and does it."""
    st.write(
        f"**{literal(name)}** is left out of all lists and of the selection. Jobs that wait or run are cancelled, and "
        "none runs for it. Nothing is removed: “Show archived” on this page lists it, and “Restore” brings it back."
    )
    if st.button("Archive", key="confirm_archive", type="primary", icon=":material/archive:"):
        _put_away(project_id, name, "archived")


def _delete(project_id: int, name: str) -> None:
    """Nothing; says what goes, and puts the project into the bin once that is ticked."""
    st.write(f"**{literal(name)}** goes with {_what_goes(project_id)}")
    st.write(f"It lies in the bin on this page for {KEPT.days} days and can be restored whole. Its jobs are cancelled.")
    sure = st.checkbox(f"Delete {literal(name)}", key="sure")
    if st.button("Delete", key="confirm_delete", type="primary", icon=":material/delete:", disabled=not sure):
        _put_away(project_id, name, "in the bin")


def _remove(project_id: int, name: str) -> None:
    """Nothing; says what goes, and removes the project for good once that is ticked."""
    st.write(f"**{literal(name)}** goes with {_what_goes(project_id)}")
    st.write("Nothing brings it back.")
    sure = st.checkbox(f"Remove {literal(name)} for good", key="sure_for_good")
    if st.button("Remove for good", key="confirm_remove", type="primary", disabled=not sure):
        with st.spinner("Removing …"):
            delete_project(engine(), project_id)
        _done()


def _what_goes(project_id: int) -> str:
    held = holdings(engine(), project_id)
    parts = (counted(held.items, "text"), counted(held.labels, "label"), counted(held.models, "model"))
    return f"{', '.join(parts)}; {megabytes(held.folder_bytes)} of models and vectors on disk."


def _put_away(project_id: int, name: str, where: str) -> None:
    """Nothing; the project is archived or in the bin, the page is drawn anew and offers to undo it."""
    try:
        (archive_project if where == "archived" else bin_project)(engine(), project_id)
    except InputError as error:  # somebody else was faster
        st.toast(str(error))
    else:
        st.session_state[UNDO] = (project_id, name, where)
    st.query_params.pop("project", None)
    _done()


def undo_bar() -> None:
    """Nothing; draws what was put away last in this session, with a button that takes it back."""
    if UNDO not in st.session_state:
        return
    project_id, name, where = st.session_state[UNDO]
    with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{literal(name)}** is {where}.", width="content")
        st.button("Undo", key="undo", icon=":material/undo:", on_click=restore, args=(project_id, name))


def restore(project_id: int, name: str) -> None:
    """Nothing; the project is back."""
    if UNDO in st.session_state and st.session_state[UNDO][0] == project_id:
        del st.session_state[UNDO]
    try:
        restore_project(engine(), project_id)
    except InputError as error:
        st.toast(str(error))
        return
    st.toast(f"{literal(name)} is back.", icon=":material/undo:")
