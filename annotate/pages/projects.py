"""All projects: what each contains and how far it is."""

from datetime import datetime

import streamlit as st

from annotate.app_state import engine
from annotate.projects import Contents, ProjectRow, list_projects, project_contents
from annotate.wording import ago, literal
from db.domain import AnswerKind, Kind, Side
from db.engine import database_url

NEW = "../pages/new_project.py"


def main() -> None:
    """Nothing; draws the page."""
    projects = list_projects(engine())
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Projects", anchor=False, width="content")
        if st.button("New project", key="new_project", type="primary", icon=":material/add:"):
            st.switch_page(NEW)
    if not projects:
        st.info("There is no project yet. Make one from a file of texts.", icon=":material/folder_open:")
    for start in range(0, len(projects), 2):  # row by row, so that one column on a phone keeps the order
        for column, project in zip(st.columns(2), projects[start : start + 2], strict=False):
            with column, st.container(border=True, height="stretch"):
                card(project)


def card(project: ProjectRow) -> None:
    """Nothing; draws one project."""
    st.subheader(literal(project.name), anchor=False)
    contents = _contents(database_url(), project.id, project.created_at)
    st.write(" · ".join([*_size(project.kind, contents), f"made {ago(project.created_at)}"]))
    st.caption(_progress(project))
    with st.container(horizontal=True):
        to = {"project": project.name}
        st.page_link("../pages/label.py", label="Label", icon=":material/rule:", query_params=to)
        st.page_link("../pages/monitor.py", label="Monitor", icon=":material/monitoring:", query_params=to)


@st.cache_data(show_spinner=False, max_entries=1000)
def _contents(url: str, project_id: int, created_at: datetime) -> Contents:
    """What was imported never changes; the time tells a project from a deleted one with the same number."""
    return project_contents(engine(), project_id)


def _size(kind: Kind, contents: Contents) -> list[str]:
    left, right = contents.count(Side.LEFT), contents.count(Side.RIGHT)
    size = f"one list of {left:,} texts" if kind == Kind.SYMMETRIC else f"two lists, {left:,} × {right:,} texts"
    known = [f"{contents.gold_positives:,} known positives"] if contents.gold_positives else []
    return [size, *known]


def _progress(project: ProjectRow) -> str:
    if not project.rounds:
        return "The first batch is not made yet."
    counts = {answer: project.answers.get(answer, 0) for answer in AnswerKind}
    return (
        f"Batch {project.rounds} · {sum(counts.values()):,} labels: {counts[AnswerKind.POSITIVE]:,} positive, "
        f"{counts[AnswerKind.NEGATIVE]:,} negative, {counts[AnswerKind.UNSURE]:,} unsure"
    )


main()
