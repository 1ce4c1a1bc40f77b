"""What every page needs: the database, the project, the person, and their rights."""

import os
import time
from dataclasses import dataclass

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.frame.access import cookies, logins, mode
from allpairs.annotate.frame.access.addresses import public_urls
from allpairs.annotate.frame.access.logins import Guest
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import allowed
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.projects.projects import all_projects
from allpairs.db.schema.engine import as_person, database_url, make_engine, reading
from allpairs.db.schema.tables import Project, now

REMEMBERED = 1.0  # seconds for which the person is remembered
REMEMBERED_PERSON = "who_asks"  # in the session
SPELT = "spelt_annotator"  # in the session: when the typed name was looked up, that name, and how it is written
SPELT_FOR = 60.0  # seconds
NOBODY = 0  # the engine's person id where nobody is signed in; no person has it


@dataclass(frozen=True)
class Asking:
    """Whether sign-in is required, and who is signed in."""

    login_needed: bool
    guest: Guest | None = None

    @property
    def is_locked_out(self) -> bool:
        return self.login_needed and self.guest is None


def engine() -> Engine:
    """Return this process's engine, acting for the signed-in person; in single-user mode, for no one in particular."""
    asking = who_asks()
    if not asking.login_needed:
        return system_engine()
    return as_person(system_engine(), asking.guest.person_id if asking.guest else NOBODY)


def system_engine() -> Engine:
    """Return this process's engine for what the app itself does."""
    return _engine(database_url())


@st.cache_resource(show_spinner=False)
def _engine(url: str) -> Engine:
    upgrade(url)
    return make_engine(url)


def is_forced() -> bool:
    """Return whether sign-in is required even without accounts, by ALLPAIRS_LOGIN or the server's address."""
    return mode.forced(os.environ.get("ALLPAIRS_LOGIN"), st.get_option("server.address"))


def who_asks() -> Asking:
    """Return who is asking, by the cookie that the auth middleware has checked; remembered for a second."""
    asked_at, known = st.session_state.get(REMEMBERED_PERSON, (0.0, None))
    if known is None or time.monotonic() - asked_at > REMEMBERED:
        known = _look()
        st.session_state[REMEMBERED_PERSON] = time.monotonic(), known
    return known


def _look() -> Asking:
    if not mode.login_needed(system_engine(), is_forced()):
        return Asking(False)
    token = login_token()
    return Asking(True, logins.guest_of(system_engine(), token, now()) if token else None)


def login_token() -> str | None:
    """Return the token in the browser's cookie, checked by the auth middleware; over TLS, the secure cookie only."""
    browser_cookies = st.context.cookies
    return browser_cookies.get(cookies.SECURE_NAME) or browser_cookies.get(cookies.NAME)


def device() -> str:
    """Return which of the person's browsers this is, by a random cookie; empty where it has none."""
    device_id = st.context.cookies.get(cookies.DEVICE)
    return device_id[:32] if isinstance(device_id, str) else ""


def forget_who_asks() -> None:
    """Forget who is asking, so that it is looked up again."""
    st.session_state.pop(REMEMBERED_PERSON, None)


def may(right: Right, project_id: int | None = None) -> bool:
    """Return whether the current person has this right in the project, or at all where no project is given."""
    return allowed(engine(), right, project_id)


def chosen_project() -> str | None:
    """Return the project's name in the address, else the last one chosen: a change of page empties the address."""
    name = st.query_params.get("project", st.session_state.get("project"))
    return name if isinstance(name, str) else None


def current_project(engine: Engine) -> Project | None:
    """Return the chosen project, or the newest if none was chosen; None if there is no such project (any more)."""
    with reading(engine) as session:
        projects = all_projects(session)
    name = chosen_project()
    if name is None:
        return projects[0] if projects else None
    return next((project for project in projects if project.name == name), None)


def site() -> str:
    """Return the app's public address, else the one under which this browser reaches it."""
    url = st.context.url or ""
    return next(iter(public_urls()), "/".join(url.split("/")[:3]))


def annotator() -> str:
    """Return the name to store answers under: the signed-in one, or `?annotator=NAME` in single-user mode."""
    guest = who_asks().guest
    if guest is not None:
        return guest.name
    typed = st.query_params.get("annotator", st.session_state.get("annotator", ""))
    moment, *known = st.session_state.get(SPELT, (0.0, None, ""))
    if known[0] != typed or time.monotonic() - moment > SPELT_FOR:
        known = [typed, mode.annotator_named(engine(), typed)]
        st.session_state[SPELT] = time.monotonic(), *known
    return str(known[1])
