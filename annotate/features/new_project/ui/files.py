"""The first step of a new project: which lists there are, their files and columns, and what these hold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from allpairs.annotate.features.new_project.ui.contents import checked_files, show_findings
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.shown_file import ShownFile, show_file
from allpairs.annotate.kit.ui.upload import chosen_file
from allpairs.annotate.kit.uploads import Findings, Source
from allpairs.db.corpus.column_guess import guess_columns, guess_gold_columns
from allpairs.db.corpus.corpus import Columns
from allpairs.db.corpus.field_kinds import guess_kind
from allpairs.db.corpus.gold import GoldColumns
from allpairs.db.domain import FieldKind, Side

Gold = tuple[Path, GoldColumns]
KINDS = {
    "one": "One list: its texts with each other",
    "two": "Two lists: texts of one with texts of the other",
}
EXAMPLES = (
    "A list of customers, to find those that are in it twice; or questions, to find those that ask the same.",
    "Questions and the passages that answer them, or the products of two shops.",
)
TITLES = {"one": {Side.LEFT: "Texts"}, "two": {Side.LEFT: "Left list", Side.RIGHT: "Right list"}}
ROW_NUMBERS = "(none: number the rows)"
NO_LABEL = "(none: all pairs are positive)"


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
    file = show_file(path)
    if not file.names:
        return f"{path.name} cannot be read."
    guess = guess_columns(file.names, file.rows, side)
    key = f"{side.value}_{path}{file.key}"  # another file, or another way to read it, has other columns
    ids = [ROW_NUMBERS, *file.names]
    id_ = st.selectbox(
        "Id column",
        ids,
        ids.index(guess.id or ROW_NUMBERS),
        key=f"id_{key}",
        help="Names each row, once. Known pairs and exports use it.",
    )
    compared = _compared(file, id_, guess.texts, key)
    if not compared:
        st.error("Choose at least one column to compare.")
        return f"choose a column of {path.name} to compare."
    kinds = tuple(compared.values()) if len(compared) > 1 else ()
    columns = Columns("" if id_ == ROW_NUMBERS else id_, tuple(compared), kinds, file.stated)
    places = [file.names.index(name) for name in compared]
    return List(path, columns, tuple(" ".join(row[place] for place in places) for row in file.rows))


def _compared(file: ShownFile, id_column: str, guess: Sequence[str], key: str) -> dict[str, FieldKind]:
    """Draw a tick for each column but the id's, and what it holds; return the ticked ones with their kinds."""
    st.caption("Tick what people and the model compare. Each column is also compared by itself, as what it holds.")
    below: dict[str, DeltaGenerator] = {}  # the place below each tick
    with st.container(horizontal=True):
        for name in file.names:
            if name != id_column:
                column = st.container(width=170)
                if column.checkbox(literal(name), name in guess, key=f"compare_{key}_{name}"):
                    below[name] = column
    compared = dict.fromkeys(below, FieldKind.TEXT)
    if len(below) > 1:
        for name, column in below.items():
            place = file.names.index(name)
            with column:
                compared[name] = _kind(name, [row[place] for row in file.rows], key)
    if left_out := [name for name in file.names if name not in compared and name != id_column]:
        st.caption(literal(f"Not compared, but kept: {', '.join(left_out)}."))
    return compared


def _kind(name: str, values: Sequence[str], key: str) -> FieldKind:
    kinds = [kind.value for kind in FieldKind]
    guess = kinds.index(guess_kind(name, values))
    key = f"kind_{key}_{name}"
    words = f"What {literal(name)} holds"
    return FieldKind(
        st.selectbox(words, kinds, guess, format_func=str.capitalize, key=key, label_visibility="collapsed")
    )


def _gold_file() -> Gold | str | None:
    """Draw the choice of known pairs; return their file and columns, what is missing, or None without a file."""
    path = chosen_file("gold")
    if path is None:
        return None
    file = show_file(path)
    names = file.names
    if not names:
        return f"{path.name} cannot be read."
    first, second, label = guess_gold_columns(names, file.rows)
    boxes = st.columns(3)
    left = boxes[0].selectbox("Id column of the first text", names, names.index(first), key=f"id1_{path}{file.key}")
    right = boxes[1].selectbox("Id column of the second text", names, names.index(second), key=f"id2_{path}{file.key}")
    options = [NO_LABEL, *names]
    stated = boxes[2].selectbox(
        "Label column", options, options.index(label or NO_LABEL), key=f"label_{path}{file.key}"
    )
    return path, GoldColumns(left, right, "" if stated == NO_LABEL else stated, file.stated)
