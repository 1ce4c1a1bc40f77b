"""The first rows of a chosen file, and how it is read: its separator, letters and sheet, which people can change."""

import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.db.corpus.column_guess import LOOKED_AT
from allpairs.db.corpus.files import FileFormat, FilePreview, preview
from allpairs.db.corpus.formats.dialect import ENCODINGS, SEPARATORS

MOST_ROWS = 5  # rows of a file to draw
MOST_WORDS = 8  # that show whether letters are right
UNICODE = ("utf-8", "utf-16", "utf-16-le", "utf-16-be")
_ODD_WORD = re.compile(r"\w*[^\W\d_a-zA-Z]\w*")  # with a letter that encodings write differently


@dataclass(frozen=True)
class ShownFile:
    """The columns of a file, none if it cannot be read, some rows to guess from, and what people say of its format."""

    names: list[str]
    rows: list[tuple[str, ...]]
    stated: FileFormat

    @property
    def key(self) -> str:
        """What differs where the columns may."""
        return "".join((self.stated.separator, self.stated.encoding, self.stated.sheet))


def show_file(path: Path) -> ShownFile:
    """Draw the file's first rows, or what is wrong with it, and the choices of how to read it."""
    state = st.session_state
    stated = FileFormat(*(state.get(f"{part}_{path}", "") for part in ("separator", "encoding", "sheet")))
    beginning: FilePreview | None = None
    with told():
        modified = path.stat().st_mtime_ns if path.exists() else 0
        beginning = _cached_preview(path, modified, stated)
        _first_rows(beginning, path)
    found = stated if beginning is None else beginning.format
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if beginning is not None and len(beginning.sheets) > 1:
            sheets = list(beginning.sheets)
            st.selectbox("Sheet", sheets, sheets.index(found.sheet), key=f"sheet_{path}", width=200)
        if found.separator:
            separators = list(dict.fromkeys([*SEPARATORS, found.separator]))
            st.selectbox(
                "Separator",
                separators,
                separators.index(found.separator),
                key=f"separator_{path}",
                width=200,
                format_func=lambda sign: str(SEPARATORS.get(sign, sign)).capitalize(),
            )
        if found.separator or stated.encoding or path.suffix.lower() in (".csv", ".tsv", ".txt", ".gz"):
            as_found = f"As found: {_name(found.encoding)}" if found.encoding else "As found"
            st.selectbox(
                "Letters",
                ["", *ENCODINGS],
                key=f"encoding_{path}",
                width=380,
                format_func=lambda encoding: ENCODINGS.get(encoding, as_found),
            )
    if beginning is None:
        return ShownFile([], [], stated)
    _doubts(beginning, stated)
    # What was found stays, but for letters: those far down in the file may show another encoding.
    kept_format = FileFormat(found.separator, stated.encoding, found.sheet)
    return ShownFile(beginning.names, [row.values for row in beginning.rows], kept_format)


def _first_rows(beginning: FilePreview, path: Path) -> None:
    first_rows = beginning.rows[:MOST_ROWS]
    table = pd.DataFrame(
        [row.values for row in first_rows], columns=beginning.names, index=[row.number for row in first_rows]
    )
    table.index.name = "row"
    st.caption("The first rows")
    st.dataframe(table, alt=f"The first rows of {path.name}")  # cells show their text as it is


def _doubts(beginning: FilePreview, stated: FileFormat) -> None:
    """Draw what people should look at."""
    if beginning.format.separator and len(beginning.names) == 1:
        st.warning("The file has one column. If it has more, choose the separator.")
    encoding = beginning.format.encoding
    if encoding and encoding not in UNICODE and not stated.encoding:
        cells = " ".join(cell for row in beginning.rows for cell in row.values)
        words = ", ".join(list(dict.fromkeys(_ODD_WORD.findall(cells)))[:MOST_WORDS])
        st.warning(literal(f"Read as {_name(encoding)}. Are the letters right? {words}"))
    elif beginning.notes:
        st.info("\n\n".join(map(literal, beginning.notes)))


def _name(encoding: str) -> str:
    return ENCODINGS.get(encoding, encoding.upper())


@st.cache_data(show_spinner=False, max_entries=10)
def _cached_preview(path: Path, modified: int, stated: FileFormat) -> FilePreview:
    """Return the first rows of the file as of this time: the page is drawn again at each click."""
    return preview(path, LOOKED_AT, stated)
