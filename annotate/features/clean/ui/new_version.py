"""A new version of the list: a file, what it would change, the button that takes it over, and what is new since."""

from pathlib import Path

import streamlit as st

from allpairs.annotate.features.clean import new_version
from allpairs.annotate.features.clean.new_version import KINDS, MissingColumns, NewRows, counts_in_words
from allpairs.annotate.features.clean.project_list import CleanRulesInput
from allpairs.annotate.features.download.routes import clean_address
from allpairs.annotate.features.texts.change_texts import Outcome, TextFile
from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import engine
from allpairs.annotate.kit.ui.upload import chosen_file
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.learner.light.clean.files import NEW

EXPLANATION = (
    "Choose next month's file, with all rows. It is read as this list was. Groups keep their ids, and your decisions "
    "hold. Rows that the file lacks are gone. Nothing is stored until you take the file over; the page “Export” can "
    "undo that."
)


def draw_new_version(project_id: int, side: Side, state: tuple[int, ...]) -> None:
    """Draw the choice of a new version of the list, and what it would change; state: of the list as it is."""
    with st.expander("New version of the list", icon=":material/update:", key="new_version"):
        st.caption(EXPLANATION)
        path = chosen_file("new_version")
        if path is not None:
            with told():
                file = _read(project_id, path, side)
                if file is not None:
                    _preview(project_id, file, state)


def draw_new_rows(project_id: int, rows: NewRows, is_workbook: bool, choices: CleanRulesInput) -> None:
    """Draw how many rows the newest version brought, how many of them are unsure, and their download."""
    if not rows.total:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        unsure = f"{rows.unsure:,} of them unsure: their groups come first below." if rows.unsure else "none is unsure."
        st.markdown(f"{counted(rows.total, 'new row')}, {unsure}")
        st.link_button(
            "New rows",
            clean_address(project_id, NEW, "xlsx" if is_workbook else "csv", choices),
            icon=":material/download:",
            help="Only what the newest version brought, with the group of each row and the id of the row that stays.",
        )


def _read(project_id: int, path: Path, side: Side) -> TextFile | None:
    """Return how the file is read; draw the choice of columns that it lacks."""
    try:
        return new_version.version_file(engine(), project_id, path, side, {})
    except MissingColumns as error:
        st.warning(literal(sentence(str(error))))
        with st.container(horizontal=True):
            choices = {
                name: st.selectbox(
                    f"Instead of {literal(name)}", error.names, index=None, key=f"new_version_column_{name}"
                )
                for name in error.missing
            }
    renamed = {name: choice for name, choice in choices.items() if choice is not None}
    if len(renamed) < len(choices):
        return None
    return new_version.version_file(engine(), project_id, path, side, renamed)


@st.cache_data(max_entries=5, show_spinner="Comparing with the list …")
def _outcome(project_id: int, _file: TextFile, key: tuple[object, ...]) -> Outcome:
    """Return what a new version changes; key: what that hangs on, for the page is drawn again at each click."""
    return new_version.preview_version(engine(), project_id, _file)


def _preview(project_id: int, file: TextFile, state: tuple[int, ...]) -> None:
    outcome = _outcome(project_id, file, (repr(file), file.path.stat().st_mtime_ns, state))
    for note in outcome.notes:
        st.warning(literal(note))
    if outcome.changes_nothing:
        st.success("The list is as this file.", icon=":material/check:")
        return
    st.markdown(f"**{counts_in_words(outcome)}**")
    _examples(outcome)
    if st.button("Take over", key="new_version_take_over", type="primary", icon=":material/save:"):
        with st.spinner("Taking the new version over …"):
            new_version.replace_list_with(engine(), project_id, file)
        try:
            new_version.search_again(engine(), project_id)
        except InputError as error:  # such as no model yet: the list has its new version all the same
            st.toast(literal(sentence(str(error))))
        st.rerun()


def _examples(outcome: Outcome) -> None:
    rows = [
        {"row": word, "id": example.id, "before": example.before, "now": example.after}
        for word, kinds in KINDS.items()
        for kind in kinds
        for example in outcome.examples.get(kind, ())
        if kind != "same"
    ]
    if rows:
        st.dataframe(rows, hide_index=True, key="new_version_examples")
