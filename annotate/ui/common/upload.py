"""A file that a person uploads, or names by its path on the server."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from allpairs.annotate.access.roles import Right
from allpairs.annotate.projects.import_files import keep_upload
from allpairs.annotate.ui.state import may
from allpairs.db.corpus.files import FORMATS

TABLES = [*FORMATS, *(f"{suffix}.gz" for suffix in FORMATS)]
TABLES_HELP = "CSV, TSV, JSON Lines or Parquet."


def chosen_file(
    which: str, types: Sequence[str] = TABLES, about: str = TABLES_HELP, example: str = "/data/texts.parquet"
) -> Path | None:
    """Draw the upload and path fields; return the chosen file, or None before there is one."""
    one, other = st.columns(2)
    upload = one.file_uploader("Upload a file", list(types), key=f"{which}_upload", help=about)
    typed = ""
    if may(Right.INSTALL):  # a path can name any file on the server
        typed = other.text_input("Or enter a path on the server", key=f"{which}_path", placeholder=example)
    if upload is None:
        return Path(typed.strip()).expanduser() if typed.strip() else None
    folder = uploads() / which / upload.file_id
    path = folder / Path(upload.name).name
    return path if path.exists() else keep_upload(upload, upload.name, folder)


def uploads() -> Path:
    """Return a folder that is deleted when the browser session ends."""
    if "uploads" not in st.session_state:
        st.session_state["uploads"] = tempfile.TemporaryDirectory(prefix="allpairs-")
    return Path(st.session_state["uploads"].name)
