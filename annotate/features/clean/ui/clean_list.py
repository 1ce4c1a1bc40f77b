"""The clean list: how many rows it has, its download, which row of a group stays, and its first rows."""

import json
from functools import partial

import streamlit as st

from allpairs.annotate.features.clean import overview
from allpairs.annotate.features.clean.new_version import NewRows, count_new_rows
from allpairs.annotate.features.clean.overview import ListOverview
from allpairs.annotate.features.clean.project_list import NO_LIST, CleanRulesInput
from allpairs.annotate.features.clean.ui.new_version import draw_new_rows, draw_new_version
from allpairs.annotate.features.download.routes import clean_address
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.open_jobs import newest_progress
from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import watch
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.domain import Kind, Side
from allpairs.db.projects.jobs import MATCHES
from allpairs.db.schema.tables import Project
from allpairs.learner.light.clean.files import CHANGES, CLEAN, MARKED
from allpairs.learner.light.clean.rules import EVERY_COLUMN, CellRule, KeepRule

SIDES = {Side.LEFT: "First list", Side.RIGHT: "Second list"}
KEEP = {
    KeepRule.COMPLETE: "The one with the most filled cells",
    KeepRule.NEWEST: "The newest",
    KeepRule.FIRST: "The first in the list",
    KeepRule.SOURCE: "The one from the best source",
}
CELLS = {
    CellRule.KEPT: "of the row that stays",
    CellRule.FIRST: "the first that is not empty",
    CellRule.LONGEST: "the longest",
    CellRule.FREQUENT: "the most frequent",
    CellRule.NEWEST: "the newest",
    CellRule.JOINED: "all values, joined",
}
DOWNLOADS = {
    MARKED: ("Marked list", "Every row as it came, with its group, whether it stays, and how sure the group is."),
    CHANGES: (
        "What changed",
        "For each row that is gone the id of the row that stands for it, and cells from other rows.",
    ),
}
TWO_LISTS = (
    "Each list is cleaned by itself. The marked lists name the same groups, so you see which rows belong together."
)
WITHOUT_LABELS = (
    "No labels yet: only rows that agree well are joined. Label some pairs on the page “Label”, and the model learns "
    "to tell doubles from near misses."
)


def draw_clean_list(project: Project) -> None:
    """Draw everything about a project's clean list but the correction of its groups."""
    side = Side.LEFT
    if project.kind == Kind.BIPARTITE:
        side = st.segmented_control(
            "List", list(SIDES), format_func=SIDES.__getitem__, default=side, required=True, key="clean_side"
        )
        st.caption(TWO_LISTS)
    state = overview.list_state(engine(), project.id, side)
    if state is None:
        st.info(literal(sentence(NO_LIST)), icon=":material/info:")
        return
    about = _overview(project.id, side, state)
    st.subheader(_headline(about), anchor=False)
    downloads = st.container()
    choices = _choices(side, about)
    with downloads:
        if may(Right.CHANGE, project.id):
            _downloads(project.id, about, choices)
            draw_new_rows(project.id, _new_rows(project.id, side, state), about.is_workbook, choices)
        _search(project.id, about)
        if may(Right.CHANGE, project.id):
            draw_new_version(project.id, side, state)
    with told():
        st.dataframe(
            [dict(zip(about.columns, row, strict=True)) for row in _first_rows(project.id, state, choices)],
            hide_index=True,
            key="clean_preview",
        )
        st.caption("The first rows of the clean list.")


def _headline(about: ListOverview) -> str:
    if not about.doubles:
        return f"{counted(about.rows, 'row')}, no doubles so far."
    doubles = f"{counted(about.doubles, 'double')} in {counted(about.groups, 'group')}"
    return f"{counted(about.rows, 'row')}, {doubles}: the clean list has {counted(about.rows - about.doubles, 'row')}."


@st.cache_data(max_entries=20, show_spinner="Reading the list …")
def _overview(project_id: int, side: Side, state: tuple[int, ...]) -> ListOverview:
    """Return the overview; state: what it changes with."""
    return overview.read_list_overview(engine(), project_id, side)


@st.cache_data(max_entries=50, show_spinner=False)
def _first_rows(project_id: int, state: tuple[int, ...], choices: CleanRulesInput) -> list[list[str]]:
    """Return the first rows; state: what they change with."""
    return overview.first_clean_rows(engine(), project_id, choices)


@st.cache_data(max_entries=20, show_spinner=False)
def _new_rows(project_id: int, side: Side, state: tuple[int, ...]) -> NewRows:
    """Return how many rows are new; state: what that changes with."""
    return count_new_rows(engine(), project_id, side)


def _downloads(project_id: int, about: ListOverview, choices: CleanRulesInput) -> None:
    with st.container(horizontal=True):
        suffix = "xlsx" if about.is_workbook else "csv"
        st.link_button(
            "Download clean list",
            clean_address(project_id, CLEAN, suffix, choices),
            type="primary",
            icon=":material/download:",
            help="A workbook with three sheets: the clean list, the list marked, and what changed."
            if about.is_workbook
            else "As the list came: the same columns, order, separator and letters.",
        )
        for table, (title, about_table) in DOWNLOADS.items():
            if not about.is_workbook:
                address = clean_address(project_id, table, suffix, choices)
                st.link_button(title, address, icon=":material/download:", help=about_table)
        other = "csv" if about.is_workbook else "xlsx"
        title = "As CSV" if about.is_workbook else "All three as Excel"
        st.link_button(title, clean_address(project_id, CLEAN, other, choices), icon=":material/download:")


def _search(project_id: int, about: ListOverview) -> None:
    """Draw the button that finds doubles, where there are no groups or old ones, and the search's progress."""
    if may(Right.CHANGE, project_id):
        watch(partial(newest_progress, engine(), project_id, MATCHES), "Doubles: ", partial(_ask, project_id, about))


def _ask(project_id: int, about: ListOverview) -> None:
    if about.labelled is False and not about.why_old:
        st.caption(WITHOUT_LABELS)
    if about.labelled is not None and not about.why_old:
        return
    if about.why_old:
        st.caption(f"These doubles are out of date: {about.why_old}.")
    if st.button(
        "Find doubles", key="find_doubles", icon=":material/join:", type="primary" if not about.groups else "secondary"
    ):
        with told():
            overview.find_doubles(engine(), project_id)
            st.rerun()


def _choices(side: Side, about: ListOverview) -> CleanRulesInput:
    """Draw the choice of the row that stays and of the rule of each column; return them."""
    with st.expander("Which row stays, and where its cells come from", icon=":material/tune:", key="clean_rules"):
        keep = st.selectbox("Which row of a group stays", list(KEEP), format_func=KEEP.__getitem__, key="clean_keep")
        rules = st.multiselect(
            "Columns that take a value of another row",
            [EVERY_COLUMN, *filter(None, about.columns)],
            format_func=lambda column: "All other columns" if column == EVERY_COLUMN else column,
            key="clean_columns",
        )
        cells = {
            column: st.selectbox(
                "All other columns" if column == EVERY_COLUMN else column,
                list(CellRule),
                index=list(CellRule).index(CellRule.FIRST),
                format_func=CELLS.__getitem__,
                key=f"clean_rule_{column}",
            )
            for column in rules
        }
        newest_by = ""
        if keep == KeepRule.NEWEST or CellRule.NEWEST in cells.values():
            newest_by = st.selectbox(
                "The newest by", about.columns, key="clean_newest_by", help="A column of dates or numbers."
            )
        sources = ""
        if keep == KeepRule.SOURCE:
            column = st.selectbox("Column of the source", about.columns, key="clean_source")
            order = st.text_input(
                "Sources, the best first",
                key="clean_sources",
                placeholder="shop, web, trade fair",
                persist_state="session",
            )
            sources = f"{column}={order}"
    return CleanRulesInput(
        side=side, keep=keep, newest_by=newest_by, sources=sources, columns=json.dumps(cells, ensure_ascii=False)
    )
