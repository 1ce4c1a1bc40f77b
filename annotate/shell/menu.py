"""The menu: the product's mark, and its pages in groups."""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from sqlalchemy import Engine
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from allpairs.annotate.features.review.ui.waiting import known_waiting, waiting_now
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.ui.language import _, words
from allpairs.db.projects.studies import has_studies
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project

ICON = Path(__file__).with_name("icon.svg")  # a file, since an icon given by name would be fetched from the network
PAGES = Path(__file__).parent.parent / "pages"


@dataclass(frozen=True)
class MenuEntry:
    """A page in the menu: its file, title, icon, and the right that a person needs to see it; None: everybody."""

    file: str
    title: str
    icon: str
    right: Right | None


MENU: dict[str, tuple[MenuEntry, ...]] = {
    "": (
        MenuEntry("overview", later("Overview"), ":material/home:", None),
        MenuEntry("projects", later("Projects"), ":material/folder_open:", None),
    ),
    later("Label"): (
        MenuEntry("label", later("Label"), ":material/rule:", Right.LABEL),
        MenuEntry("answers", later("My answers"), ":material/history:", Right.LABEL),
        MenuEntry("review", later("Review"), ":material/gavel:", Right.ADJUDICATE),
    ),
    later("Results"): (
        MenuEntry("clean", later("Clean list"), ":material/cleaning_services:", Right.SEE),
        MenuEntry("monitor", later("Monitor"), ":material/monitoring:", Right.SEE),
        MenuEntry("explore", later("Explore"), ":material/travel_explore:", Right.SEE),
        MenuEntry("data", later("Export"), ":material/ios_share:", Right.CHANGE),
    ),
    later("Lab"): (
        MenuEntry("experiments", later("Experiments"), ":material/science:", Right.CHANGE),
        MenuEntry("pipelines", later("Pipelines"), ":material/conversion_path:", Right.CHANGE),
        MenuEntry("rate", later("Rate"), ":material/reviews:", Right.LABEL),
    ),
    later("Project"): (
        MenuEntry("settings", later("Settings"), ":material/settings:", Right.CHANGE),
        MenuEntry("history", later("History"), ":material/manage_history:", Right.CHANGE),
        MenuEntry("jobs", later("Jobs"), ":material/manufacturing:", Right.SEE),
    ),
    later("Admin"): (
        MenuEntry("people", later("People"), ":material/group:", Right.PEOPLE),
        MenuEntry("rest_api", later("API"), ":material/api:", None),
        MenuEntry("account", later("Account"), ":material/account_circle:", None),
    ),
}
BY_BUTTON = (MenuEntry("new_project", later("New project"), ":material/add:", Right.INSTALL),)  # a button leads there
WITHOUT_PROJECT = ("projects", "people", "rest_api", "account", "new_project")  # pages that need no project
SIGNED_IN = ("account",)  # where people sign in
ENTRIES = (*(entry for group in MENU.values() for entry in group), *BY_BUTTON)


def visible_pages(own_rights: Set[Right], logged_in: bool) -> list[str]:
    """Return the files of the pages that a person with these rights sees, in the order of the menu."""
    listed = [entry for entry in ENTRIES if logged_in or entry.file not in SIGNED_IN]
    return [entry.file for entry in listed if entry.right is None or entry.right in own_rights]


def listed(database: Engine, visible_files: Sequence[str], project: Project | None) -> list[str]:
    """Return those of the visible pages that the menu lists: *Rate* once the project has questions to rate."""
    with reading(database) as session:
        rates = project is not None and has_studies(session, project.id)
    return [file for file in visible_files if rates or file != "rate"]


def all_pages() -> dict[str, StreamlitPage]:
    """Return every page by its file. The menu is drawn here, so Streamlit lists none."""
    return {
        entry.file: st.Page(PAGES / f"{entry.file}.py", title=_(entry.title), icon=entry.icon, visibility="hidden")
        for entry in ENTRIES
    }


def draw_logo() -> None:
    """Draw the mark and the name above the sidebar."""
    mark = ICON.read_text("utf-8")
    ink = "#e8e6df" if st.context.theme.type == "dark" else "#23292b"
    drawn = mark[mark.index("<circle") : mark.index("</svg>")]
    name = (
        f'<text x="38" y="22.5" font-family="sans-serif" font-size="19" font-weight="650" fill="{ink}">Allpairs</text>'
    )
    wide = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 118 32">{drawn}{name}</svg>'
    st.logo(wide, size="large", icon_image=mark)


def draw_menu(pages: Mapping[str, StreamlitPage], files: Sequence[str]) -> dict[str, DeltaGenerator]:
    """Draw the links to the visible pages, in groups, and return the place of each, to draw it anew with a number.

    In the browser, menu.js adds the project to each address.
    """
    places: dict[str, DeltaGenerator] = {}
    with st.container(gap="xsmall", key="menu"):
        for group, entries in MENU.items():
            links = [entry for entry in entries if entry.file in files]
            if not links:
                continue
            if group:
                st.caption(_(group))
            with st.container(horizontal=not group, gap="xsmall"):  # the first group is one row
                for entry in links:
                    places[entry.file] = st.empty()
                    draw_link(places[entry.file], pages[entry.file])
    return places


@contextmanager
def counting_reviews(
    place: DeltaGenerator | None, page: StreamlitPage, database: Engine, project: Project | None
) -> Iterator[None]:
    """Draw how much waits on the page Review beside its link: as last counted, and counted anew after the block.

    So the counting waits for the page that is drawn in the block, and no page waits for the counting.
    """
    if place is None or project is None:
        yield
        return
    draw_link(place, page, known_waiting(database, project.id))
    yield
    draw_link(place, page, waiting_now(database, project.id))


def draw_link(place: DeltaGenerator, page: StreamlitPage, number: int = 0) -> None:
    """Draw the link to the page, with a number if there is one."""
    label = f"{page.title} ({words().number(number)})" if number else page.title
    place.page_link(page, label=label, icon=page.icon, width="stretch")
