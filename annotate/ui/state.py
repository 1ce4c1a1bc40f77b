"""What every page needs to know: the database, the project, who asks, and what they may do."""

import os
import time
from dataclasses import dataclass

import streamlit as st
from sqlalchemy import Engine

from annotate.access import cookies, logins, mode
from annotate.access.logins import Guest
from annotate.access.mode import ANNOTATOR
from annotate.access.roles import Right
from annotate.access.transactions import allowed
from db.maintenance.upgrade import upgrade
from db.projects.projects import all_projects
from db.schema.engine import as_person, database_url, make_engine, reading
from db.schema.tables import Project, now

MAX_ANNOTATOR = 200
KEPT = 1.0  # seconds for which it is remembered who asks
ASKED = "who_asks"  # in the session
NOBODY = 0  # the person that an engine is for where nobody is logged in: there is none of this number


@dataclass(frozen=True)
class Asking:
    """Whether a login is needed, and who is logged in."""

    login_needed: bool
    guest: Guest | None = None

    @property
    def is_locked_out(self) -> bool:
        return self.login_needed and self.guest is None


def engine() -> Engine:
    """The engine of this process for whoever asks, with the newest tables; for somebody alone it is nobody's."""
    asking = who_asks()
    if not asking.login_needed:
        return system_engine()
    return as_person(system_engine(), asking.guest.person_id if asking.guest else NOBODY)


def system_engine() -> Engine:
    """The engine of this process, for what the app itself does."""
    return _engine(database_url())


@st.cache_resource(show_spinner=False)
def _engine(url: str) -> Engine:
    upgrade(url)
    return make_engine(url)


def is_forced() -> bool:
    """Whether a login is needed even without accounts: ALLPAIRS_LOGIN says so, or the address that the server has."""
    return mode.forced(os.environ.get("ALLPAIRS_LOGIN"), st.get_option("server.address"))


def who_asks() -> Asking:
    """Who asks, by the cookie that the gate has let through; remembered for a second."""
    at, known = st.session_state.get(ASKED, (0.0, None))
    if known is None or time.monotonic() - at > KEPT:
        known = _look()
        st.session_state[ASKED] = time.monotonic(), known
    return known


def _look() -> Asking:
    if not mode.login_needed(system_engine(), is_forced()):
        return Asking(False)
    token = login_token()
    return Asking(True, logins.guest_of(system_engine(), token, now()) if token else None)


def login_token() -> str | None:
    """The token in the browser's cookie, which the gate has checked; over TLS only the secure one is there."""
    found = st.context.cookies
    return found.get(cookies.SECURE_NAME) or found.get(cookies.NAME)


def forget_who_asks() -> None:
    """Nothing; who asks is looked up again."""
    st.session_state.pop(ASKED, None)


def may(right: Right, project_id: int | None = None) -> bool:
    """Whether whoever asks may do this to the project (without one: at all)."""
    return allowed(engine(), right, project_id)


def current_project(engine: Engine) -> Project | None:
    """The project that `?project=NAME` names, else the newest one; nothing where there is none."""
    with reading(engine) as session:
        projects = all_projects(session)
    wanted = st.query_params.get("project")
    return next((project for project in projects if project.name == wanted), projects[0] if projects else None)


def annotator() -> str:
    """The name under which answers are stored: that of the login; of somebody alone, that of `?annotator=NAME`."""
    guest = who_asks().guest
    if guest is not None:
        return guest.name
    name = "".join(char for char in st.query_params.get("annotator", "") if char.isprintable())
    return name.strip()[:MAX_ANNOTATOR] or ANNOTATOR
