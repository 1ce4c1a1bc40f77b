"""Texts that come into a project, change or go: a file, what it would change, and the changes so far."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from allpairs.annotate.features.projects.history import NOBODY
from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.features.texts.change_texts import TITLES, Act, Outcome, TextChangeDetails, TextFile
from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.shown_file import ShownFile, show_file
from allpairs.annotate.kit.ui.state import engine
from allpairs.annotate.kit.ui.upload import chosen_file
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.schema.tables import Project

EXPLANATION = (
    "A table with ids and texts. New ids bring new texts; an id that the project has gets the file's text. Withdrawn "
    "texts leave batches, matches and figures, and their answers stay in the record. The file is checked first; "
    "nothing is stored until you apply it."
)
ACTS = {Act.ADD: "Add and change", Act.WITHDRAW: "Withdraw"}
SIDES = {Side.LEFT: "Left list", Side.RIGHT: "Right list"}


@dataclass(frozen=True)
class CheckedTexts:
    """The outcome of checking or applying a file: what was asked, and what it changes or an error."""

    request: tuple[int, TextFile]
    outcome: Outcome | None = None
    error: str = ""


def texts_section(project: Project) -> None:
    """Draw the choice of a file, what it would change, the button that applies it, and the changes so far."""
    st.subheader("Change texts", anchor=False)
    st.caption(EXPLANATION)
    act = st.segmented_control(
        "What the file is for",
        list(ACTS),
        default=Act.ADD,
        format_func=lambda name: ACTS[name],
        required=True,
        key="texts_act",
    )
    side = Side.LEFT
    if project.kind == Kind.BIPARTITE:
        side = st.radio("List", list(SIDES), format_func=lambda name: SIDES[name], horizontal=True, key="texts_side")
    path = chosen_file("change_texts")
    if path is not None and act is not None:
        with told():
            file = show_file(path)
            if file.names:
                _check(project, _source(project, path, file, act, side))
    _changes(project)


def _source(project: Project, path: Path, file: ShownFile, act: Act, side: Side) -> TextFile:
    """Draw the choice of columns, and return the file with them."""
    names = file.names
    columns = change_texts.text_columns(engine(), project.id, side)
    with st.container(horizontal=True):
        id_column = st.selectbox("Column of ids", names, index=_place(names, "id"), key="texts_id")
        chosen = [
            st.selectbox(
                "Column of texts" if len(columns) == 1 else f"Column for {literal(name)}",
                names,
                index=_place(names, name, 1),
                key=f"texts_text_{i}",
            )
            for i, name in enumerate(columns if act == Act.ADD else ())
        ]
    return TextFile(path, act, side, Columns(str(id_column), tuple(map(str, chosen)) or ("text",), stated=file.stated))


def _place(names: list[str], name: str, otherwise: int = 0) -> int:
    return names.index(name) if name in names else min(otherwise, len(names) - 1)


def _check(project: Project, source: TextFile) -> None:
    request = project.id, source
    last: CheckedTexts = st.session_state.get("texts_checked", CheckedTexts(request))
    last = last if last.request == request else CheckedTexts(request)
    with st.container(horizontal=True):
        check = st.button("Check file", key="texts_check", icon=":material/fact_check:")
        off = last.outcome is None or last.outcome.change is not None or not _changing(last.outcome)
        apply = st.button("Apply", key="texts_apply", type="primary", icon=":material/save:", disabled=off)
    if check or apply:
        st.session_state["texts_checked"] = _run(project, source, apply)
        st.rerun()  # so that the button knows whether there is something to apply
    if last.error:
        st.error(literal(sentence(last.error)))
    if last.outcome is not None:
        _outcome(last.outcome)


def _run(project: Project, source: TextFile, apply: bool) -> CheckedTexts:
    act = change_texts.apply if apply else change_texts.preview_change
    try:
        with st.spinner("Changing the texts …" if apply else "Checking the file …"):
            return CheckedTexts((project.id, source), act(engine(), project.name, source))
    except InputError as error:
        return CheckedTexts((project.id, source), error=str(error))


def _changing(outcome: Outcome) -> bool:
    return any(outcome.counts[kind] for kind in ("new", "equal", "changed", "updated", "withdrawn"))


def _outcome(outcome: Outcome) -> None:
    if outcome.change is not None:
        st.success(f"Stored as change {outcome.change.number}.", icon=":material/check:")
    elif not _changing(outcome):
        st.info("The file changes nothing.", icon=":material/info:")
    for note in outcome.notes:
        st.warning(literal(note))
    rows = [(count, TITLES[kind]) for kind, count in outcome.counts.items() if count]
    st.dataframe(pd.DataFrame(rows, columns=["ids", "what they are"]), hide_index=True, alt="What the file changes")
    for kind, examples in outcome.examples.items():
        if kind != "same" and examples:
            title = TITLES[kind]
            with st.expander(f"Examples: {title}"):
                st.dataframe(pd.DataFrame(examples), hide_index=True, alt=f"Examples: {title}")


def _changes(project: Project) -> None:
    changes = change_texts.list_changes(engine(), project.id)
    if not changes:
        return
    st.markdown("**Changes so far**")
    st.dataframe(pd.DataFrame(map(_row, changes)), hide_index=True, alt="Changes of texts so far")
    newest = next((change for change in changes if change.can_undo), None)
    if newest is None:
        return
    help_ = (
        "Every id names what it named before. Texts that the change added are withdrawn; answers stay in the record."
    )
    key = f"texts_undo_{newest.number}"
    if st.button(f"Undo change {newest.number}", key=key, icon=":material/undo:", help=help_):
        with told():
            change_texts.undo_text_change(engine(), project.id, newest.number)
            st.session_state.pop("texts_checked", None)
            st.rerun()


def _row(change: TextChangeDetails) -> dict[str, object]:
    counts = [counted(getattr(change, name), "id") + f" {name}" for name in ("added", "changed", "withdrawn")]
    return {
        "change": change.number,
        "when (UTC)": f"{change.at:%Y-%m-%d %H:%M}",
        "who": change.who or NOBODY,
        "file": change.source,
        "what": ", ".join(words for words in counts if not words.startswith("0 ")),
        "undone (UTC)": f"{change.undone_at:%Y-%m-%d %H:%M}" if change.undone_at else "",
    }
