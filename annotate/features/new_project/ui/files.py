"""The first step of a new project: which lists there are, their files and columns, and what these hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from allpairs.annotate.features.new_project.column_guess import guess_columns, guess_gold_columns
from allpairs.annotate.features.new_project.ui.contents import checked_files, show_findings
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.upload import chosen_file
from allpairs.annotate.kit.uploads import Findings, Source
from allpairs.db.corpus.corpus import Columns
from allpairs.db.corpus.field_kinds import guess_kind
from allpairs.db.corpus.files import FilePreview, preview
from allpairs.db.corpus.formats.dialect import SEPARATORS
from allpairs.db.corpus.gold import GoldColumns
from allpairs.db.domain import FieldKind, Side

Gold = tuple[Path, GoldColumns]
KINDS = {
    "one": "One list: its texts with each other",
    "two": "Two lists: texts of one with texts of the other",
}
EXAMPLES = (
    "A list of questions, to find those that ask the same: “How do I reset my password?” and “I forgot my password”.",
    "Questions and the passages that answer them, or the products of two shops.",
)
TITLES = {"one": {Side.LEFT: "Texts"}, "two": {Side.LEFT: "Left list", Side.RIGHT: "Right list"}}
ROW_NUMBERS = "(none: number the rows)"
NO_LABEL = "(none: all pairs are positive)"
MOST_ROWS = 5  # rows of a file to draw
LOOKED_AT = 200  # rows of a file to guess the columns from


@dataclass(frozen=True)
class List:
    """The file of a list, its columns, and its first texts."""

    path: Path
    columns: Columns
    texts: tuple[str, ...]


@dataclass(frozen=True)
class ChosenFiles:
    """The lists that were chosen; the source is None as long as something is missing, which is named."""

    lists: tuple[List, ...] = ()
    source: Source | None = None
    findings: Findings | None = None
    missing: tuple[str, ...] = ()


def choose_files(busy: DeltaGenerator) -> ChosenFiles:
    """Draw the choice of files and columns with what the files hold; return what was chosen.

    busy: where a bar shows how far the check of the files is.
    """
    options = list(KINDS)
    kind = st.radio(
        "What should be matched?",
        options,
        format_func=KINDS.__getitem__,
        captions=EXAMPLES,
        key="new_kind",
        bind="query-params",
    )
    lists = list[List]()
    missing = list[str]()
    for side, title in TITLES[kind].items():
        st.subheader(title, anchor=False)
        chosen = _item_file(side)
        if isinstance(chosen, List):
            lists.append(chosen)
        else:
            missing.append(f"{title}: {chosen}")
    with st.expander("**Known pairs** (optional): pairs whose answer you already have", key="known_pairs"):
        st.caption("With known positives, every round can be measured from the start. Pairs that they imply are added.")
        gold = _gold_file()
    if isinstance(gold, str):
        missing.append(f"Known pairs: {gold}")
    if missing or isinstance(gold, str):
        return ChosenFiles(tuple(lists), missing=tuple(missing))
    return _checked(lists, gold, busy)


def _checked(lists: Sequence[List], gold: Gold | None, busy: DeltaGenerator) -> ChosenFiles:
    """Draw what the chosen files hold, and return them."""
    source = Source(lists[0].path, lists[0].columns)
    for right in lists[1:]:
        source = replace(source, right=right.path, right_columns=right.columns)
    if gold is not None:
        source = replace(source, gold=gold[0], gold_columns=gold[1])
    with busy:
        findings = checked_files(source)
    show_findings(findings)
    if findings.problems:
        return ChosenFiles(tuple(lists), None, findings, ("Files: correct the problems that step 1 lists.",))
    return ChosenFiles(tuple(lists), source, findings)


def _item_file(side: Side) -> List | str:
    """Draw the choice of one list's file and columns; return them, or what is missing."""
    path = chosen_file(side.value)
    if path is None:
        return "choose a file in step 1."
    names, rows, separator, _ = _preview(path)
    if not names:
        return f"{path.name} cannot be read."
    guess = guess_columns(names, [row.values for row in rows], side)
    key = f"{side.value}_{path}{separator}"  # another file, or another separator, has other columns
    text_column, id_column = st.columns(2)
    texts = text_column.multiselect(
        "Text columns",
        names,
        guess.texts,
        key=f"texts_{key}",
        help="What people compare. The model reads several columns as one text, in this order.",
    )
    ids = [ROW_NUMBERS, *names]
    id_ = id_column.selectbox(
        "Id column",
        ids,
        ids.index(guess.id or ROW_NUMBERS),
        key=f"id_{key}",
        help="Names each row, once. Known pairs and exports use it.",
    )
    if not texts:
        text_column.error("Choose at least one text column.")
        return f"choose a text column of {path.name}."
    places = [names.index(name) for name in texts]
    kinds = _kinds({name: [row.values[i] for row in rows] for name, i in zip(texts, places, strict=True)}, key)
    columns = Columns("" if id_ == ROW_NUMBERS else id_, tuple(texts), kinds, separator)
    return List(path, columns, tuple(" ".join(row.values[i] for i in places) for row in rows))


def _kinds(values: Mapping[str, Sequence[str]], key: str) -> tuple[FieldKind, ...]:
    """Draw what each of several text columns holds, guessed from its first values; return it, nothing for only one."""
    if len(values) == 1:
        return ()
    st.caption("What do the columns hold? Each is also compared by itself. The model does not read prices.")
    with st.container(horizontal=True):
        return tuple(_kind(name, cells, key) for name, cells in values.items())


def _kind(name: str, values: Sequence[str], key: str) -> FieldKind:
    kinds = [kind.value for kind in FieldKind]
    guess = kinds.index(guess_kind(name, values))
    return FieldKind(
        st.selectbox(literal(name), kinds, guess, format_func=str.capitalize, key=f"kind_{key}_{name}", width=150)
    )


def _gold_file() -> Gold | str | None:
    """Draw the choice of known pairs; return their file and columns, what is missing, or None without a file."""
    path = chosen_file("gold")
    if path is None:
        return None
    names, rows, separator, _ = _preview(path)
    if not names:
        return f"{path.name} cannot be read."
    first, second, label = guess_gold_columns(names, [row.values for row in rows])
    boxes = st.columns(3)
    left = boxes[0].selectbox("Id column of the first text", names, names.index(first), key=f"id1_{path}{separator}")
    right = boxes[1].selectbox("Id column of the second text", names, names.index(second), key=f"id2_{path}{separator}")
    options = [NO_LABEL, *names]
    stated = boxes[2].selectbox(
        "Label column", options, options.index(label or NO_LABEL), key=f"label_{path}{separator}"
    )
    return path, GoldColumns(left, right, "" if stated == NO_LABEL else stated, separator)


def _preview(path: Path) -> FilePreview:
    """Draw the file's first rows, or what is wrong with it; return its columns, and some rows to guess from."""
    key = f"separator_{path}"
    with told():
        modified = path.stat().st_mtime_ns if path.exists() else 0
        beginning = _cached_preview(path, modified, st.session_state.get(key, ""))
        first_rows = beginning.rows[:MOST_ROWS]
        table = pd.DataFrame(
            [row.values for row in first_rows], columns=beginning.names, index=[row.number for row in first_rows]
        )
        table.index.name = "row"
        st.caption("The first rows")
        st.dataframe(table, alt=f"The first rows of {path.name}")  # cells show their text as it is
        if beginning.separator:
            _separator(beginning, key)
        return beginning
    return FilePreview([], [])


@st.cache_data(show_spinner=False, max_entries=10)
def _cached_preview(path: Path, modified: int, separator: str) -> FilePreview:
    """Return the first rows of the file as of this time: the page is drawn again at each click."""
    return preview(path, LOOKED_AT, separator)


def _separator(preview: FilePreview, key: str) -> None:
    """Draw what separates the cells of a text file, which a person can change, and doubts about how it was read."""
    options = list(dict.fromkeys([*SEPARATORS, preview.separator]))
    st.selectbox(
        "Separator",
        options,
        options.index(preview.separator),
        key=key,
        width=200,
        format_func=lambda sign: str(SEPARATORS.get(sign, sign)).capitalize(),
    )
    if len(preview.names) == 1:
        st.warning("The file has one column. If it has more, choose the separator.")
    if preview.note:
        st.warning(literal(preview.note))
