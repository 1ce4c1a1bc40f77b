"""A file that a person uploads, or names by its path on the server."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from allpairs.annotate.frame.access.logins import Guest
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.web.sessions import VISIT, Visit, free_file
from allpairs.annotate.kit.ui.state import may
from allpairs.annotate.kit.uploads import keep_upload

TABLES_HELP = "Excel (.xlsx, .xls, .xlsb), .ods, CSV, TSV, JSON Lines or Parquet."


def visit(page: str, guest: Guest | None) -> None:
    """Note which page is shown, and to whom; delete what was uploaded to another one."""
    current: Visit | None = st.session_state.get(VISIT)
    person = guest.person_id if guest is not None else 0
    if current is None or (current.page, current.person) != (page, person):
        if current is not None:
            current.end()
        st.session_state[VISIT] = Visit(page, person)
        _free()


def chosen_file(
    name: str, types: Sequence[str] | None = None, help_text: str = TABLES_HELP, example: str = "/data/customers.xlsx"
) -> Path | None:
    """Draw the upload and path fields; return the chosen file, or None before there is one.

    types: the ends of its name; without them its reader says what cannot be read, and what to do.
    """
    left_column, right_column = st.columns(2)
    key = f"{name}_upload"
    upload = left_column.file_uploader("Upload a file", types, key=key, help=help_text)
    typed = ""
    if may(Right.INSTALL):  # a path can name any file on the server
        typed = right_column.text_input("Or enter a path on the server", key=f"{name}_path", placeholder=example)
    sent = st.session_state.get(key)  # even after it was freed, when the field above says None
    _keep_only(uploads() / name, sent.file_id if sent is not None else "")
    if sent is None:
        return Path(typed.strip()).expanduser() if typed.strip() else None
    folder = uploads() / name / sent.file_id
    if upload is not None:
        keep_upload(upload, upload.name, folder)
        _free(upload.file_id)
    return next(folder.glob("*"), None)


def uploads() -> Path:
    """Return a folder that is deleted when the person leaves the page or closes it."""
    current: Visit = st.session_state.setdefault(VISIT, Visit(""))
    if current.folder is None:
        current.folder = TemporaryDirectory(prefix="allpairs-")
    return Path(current.folder.name)


def _keep_only(folder: Path, file: str) -> None:
    """Delete what was uploaded here before."""
    for old in folder.glob("*"):
        if old.name != file:
            shutil.rmtree(old, ignore_errors=True)


def _free(file: str = "") -> None:
    """Free Streamlit's copy of the file in memory, or of all files of this session."""
    context = get_script_run_ctx()
    if context is None:
        return
    if file:
        free_file(context.uploaded_file_mgr, context.session_id, file)
    else:
        context.uploaded_file_mgr.remove_session_files(context.session_id)
