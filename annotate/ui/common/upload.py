"""A file that a person chooses: uploaded, or named by its path on the server."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from annotate.access.roles import Right
from annotate.projects.import_files import keep_upload
from annotate.ui.state import may
from db.corpus.files import FORMATS

TABLES = [*FORMATS, *(f"{suffix}.gz" for suffix in FORMATS)]
TABLES_HELP = "CSV, TSV, JSON Lines or Parquet."


def chosen_file(
    which: str, types: Sequence[str] = TABLES, about: str = TABLES_HELP, example: str = "/data/texts.parquet"
) -> Path | None:
    """The file that was uploaded or named; nothing before there is one."""
    one, other = st.columns(2)
    upload = one.file_uploader("Upload a file", list(types), key=f"{which}_upload", help=about)
    typed = ""
    if may(Right.INSTALL):  # whoever may name any path can read any file of the server
        typed = other.text_input("Or a path on the server", key=f"{which}_path", placeholder=example)
    if upload is None:
        return Path(typed.strip()).expanduser() if typed.strip() else None
    folder = uploads() / which / upload.file_id
    path = folder / Path(upload.name).name
    return path if path.exists() else keep_upload(upload, upload.name, folder)


def uploads() -> Path:
    """A folder that goes when the browser's session ends."""
    if "uploads" not in st.session_state:
        st.session_state["uploads"] = tempfile.TemporaryDirectory(prefix="allpairs-")
    return Path(st.session_state["uploads"].name)
