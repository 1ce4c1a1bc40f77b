"""The Streamlit script: the frame around every page."""

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.frame.access.transactions import rights
from allpairs.annotate.frame.web.frame import MISSING
from allpairs.annotate.kit.jobs.open_jobs import workers
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import explained
from allpairs.annotate.kit.ui.language import _
from allpairs.annotate.kit.ui.state import chosen_project, current_project, engine, who_asks
from allpairs.annotate.kit.ui.upload import visit
from allpairs.annotate.shell.menu import (
    ICON,
    SIGNED_IN,
    WITHOUT_PROJECT,
    all_pages,
    counting_reviews,
    draw_logo,
    draw_menu,
    listed,
    visible_pages,
)
from allpairs.annotate.shell.sign_in import sign_in
from allpairs.annotate.shell.switcher import choose_language, name_annotator, pick_project, project_away, show_progress
from allpairs.db.files.logs import about
from allpairs.db.projects.jobs import STARTING
from allpairs.db.schema.tables import Project
from allpairs.db.version import VERSION


def main() -> None:
    """Draw the requested page, if the person may see it."""
    st.set_page_config(
        page_title="Allpairs", page_icon=ICON, layout="wide", menu_items={"About": f"**Allpairs {VERSION}**"}
    )
    draw_logo()
    with explained():
        _show_page()


def _show_page() -> None:
    asking = who_asks()
    database = engine()
    if asking.is_locked_out:
        sign_in()
        return
    project = current_project(database)
    chosen = chosen_project() if project is None else None
    own_rights = rights(database, project.id if project else None)
    pages = all_pages()
    visible = visible_pages(own_rights, asking.guest is not None)
    # The start page has no address of its own: a page that started here would be unknown at its own one.
    start = st.Page(lambda: None, title="Start", url_path="start", default=True, visibility="hidden")
    page = st.navigation([start, *pages.values()], position="hidden")
    if not (page_name := page.url_path):
        st.switch_page(pages[visible[0]], query_params=st.query_params.to_dict())
    st.set_page_config(page_title=" · ".join([page.title, *([project.name] if project else []), "Allpairs"]))
    with st.sidebar:
        pick_project(database, project)
        if project is not None:
            show_progress(database, project, own_rights, set(visible), page_name)
        places = draw_menu(pages, listed(database, visible, project))
        if asking.guest is None:
            name_annotator(database)
        choose_language(page_name)
    warn_without_worker(database)
    visit(page_name if page_name in visible else "", asking.guest)
    if (path := st.query_params.get(MISSING)) is not None:
        st.warning(_("There is no page at the address {path}. Choose one from the menu.", path=literal(f"/{path}")))
        del st.query_params[MISSING]
    if chosen is not None and (page_name not in visible or page_name not in WITHOUT_PROJECT):
        st.title(pages[page_name].title, anchor=False)
        project_away(database, chosen, asking.guest is not None)
        return
    if page_name not in visible:
        refuse(pages[page_name].title, project, without_accounts=page_name in SIGNED_IN)
        return
    with (
        about(project=project and project.id, person=asking.guest and asking.guest.person_id),
        counting_reviews(places.get("review"), pages["review"], database, project),
    ):
        page.run()


def refuse(title: str, project: Project | None, without_accounts: bool) -> None:
    """Tell the person that their role does not include this page, or that nobody has an account yet."""
    st.title(title, anchor=False)
    if without_accounts:
        st.info(_("Nobody signs in here, so there are no accounts. The first one is made on the page “People”."))
        return
    advice = (
        _("Ask an administrator of {project}.", project=literal(project.name))
        if project
        else _("Ask an administrator.")
    )
    st.error(f"{_('Your role does not include this page.')} {advice}", icon=":material/lock:")


@st.fragment(run_every=10)
def warn_without_worker(database: Engine) -> None:
    """Draw a red line while no worker is running, and a quiet one while the first is starting."""
    alive = workers(database)
    if not alive:
        st.error(_("No worker is running. Start one with {command}.", command="`allpairs worker`"))
    elif all(worker.device == STARTING for worker in alive):
        st.caption(_("A worker is starting. Jobs begin when it is ready."))


main()
