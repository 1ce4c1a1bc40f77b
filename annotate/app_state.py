"""What every page needs to know: the database, the project, who is labelling."""

import streamlit as st
from sqlalchemy import Engine

from db.engine import database_url, make_engine, reading
from db.models import Project
from db.projects import all_projects
from db.upgrade import upgrade

ANNOTATOR = "me"
MAX_ANNOTATOR = 200


def engine() -> Engine:
    """The engine of this process; the database has the newest tables."""
    return _engine(database_url())


@st.cache_resource(show_spinner=False)
def _engine(url: str) -> Engine:
    upgrade(url)
    return make_engine(url)


def current_project(engine: Engine) -> Project | None:
    """The project that `?project=NAME` names, else the newest one; nothing where there is none."""
    with reading(engine) as session:
        projects = all_projects(session)
    wanted = st.query_params.get("project")
    return next((project for project in projects if project.name == wanted), projects[0] if projects else None)


def annotator() -> str:
    """The name under which answers are stored: that of `?annotator=NAME`."""
    name = "".join(char for char in st.query_params.get("annotator", "") if char.isprintable())
    return name.strip()[:MAX_ANNOTATOR] or ANNOTATOR
