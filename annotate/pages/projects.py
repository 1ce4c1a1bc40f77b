"""All projects: the progress of each, and what can be done with a whole project."""

from collections.abc import Sequence

import streamlit as st

from allpairs.annotate.features.projects.lifecycle import Binned, list_archive, list_bin
from allpairs.annotate.features.projects.list_view import ORDERS, Overview, arranged, read_overviews
from allpairs.annotate.features.projects.ui.card import project_card
from allpairs.annotate.features.projects.ui.dialogs import REMOVE, ask, open_dialog, restore_from_page, undo_bar
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.language import _
from allpairs.annotate.kit.ui.paged import draw_page
from allpairs.annotate.kit.ui.state import engine, may

NEW = "../pages/new_project.py"
MANY = 6  # with more projects than this, search and order appear
FIRST_CARDS = 12  # cards shown at first, and added by each “Show more”


def main() -> None:
    """Draw the page."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title(_("Projects"), anchor=False, width="content")
        if may(Right.INSTALL) and st.button(_("New project"), key="new_project", type="primary", icon=":material/add:"):
            st.switch_page(NEW)
    undo_bar()
    archived = len(list_archive(engine()))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = st.container(horizontal=True, vertical_alignment="bottom")
        show = bool(archived) and st.toggle(_("Show archived ({n})", n=archived), key="show_archived")
    projects = read_overviews(engine(), archived=show)
    in_bin = [project for project in list_bin(engine()) if may(Right.CHANGE, project.id)]
    if not projects:
        no_open_project = _("Every project is archived or in the bin. Create one from a file of texts.")
        none = _("There is no project yet. Create one from a file of texts.")
        if not may(Right.INSTALL):
            no_open_project = none = _("You have no project yet. Ask an administrator for access to one.")
        st.info(no_open_project if archived or in_bin else none, icon=":material/folder_open:")
    if len(projects) > MANY:
        with search:
            projects = find(projects)
    cards(projects)
    binned(in_bin)
    open_dialog()


def find(projects: Sequence[Overview]) -> list[Overview]:
    """Draw the search and the order; return the projects that match, in that order."""
    words = st.text_input(_("Search"), key="search", placeholder=_("Part of a name"), icon=":material/search:")
    order = st.selectbox(_("Order"), list(ORDERS), format_func=_, key="order")
    return arranged(projects, words, order)


def cards(projects: Sequence[Overview]) -> None:
    """Draw the cards, two side by side, and a button for more."""
    shown_projects = projects[: st.session_state.get("cards_shown", FIRST_CARDS)]
    for start in range(0, len(shown_projects), 2):  # row by row, so that one column on a phone keeps the order
        for column, project in zip(st.columns(2), shown_projects[start : start + 2], strict=False):
            with column, st.container(border=True, height="stretch", key=f"project_{project.id}"):
                project_card(project)
    if more := len(projects) - len(shown_projects):
        st.button(_("Show more ({n} left)", n=more), key="show_more", on_click=_show_more)


def _show_more() -> None:
    st.session_state["cards_shown"] = st.session_state.get("cards_shown", FIRST_CARDS) + FIRST_CARDS


def binned(projects: Sequence[Binned]) -> None:
    """Draw the bin, unless it is empty."""
    if not projects:
        return
    with st.expander(f"Bin ({len(projects)})", icon=":material/delete:", key="bin"):
        draw_page(projects, _binned, "bin_page")


def _binned(project: Binned) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"binned_{project.id}"):
        st.markdown(f"**{literal(project.name)}**", width="content")
        dates = f"deleted {ago(project.deleted_at)}, removed permanently on {project.removed_at:%d %B}"
        st.caption(dates, width="content")
        st.button(
            "Restore",
            key=f"unbin_{project.id}",
            icon=":material/undo:",
            on_click=restore_from_page,
            args=(project.id, project.name),
        )
        st.button(
            REMOVE, key=f"remove_{project.id}", type="tertiary", on_click=ask, args=(REMOVE, project.id, project.name)
        )


main()
