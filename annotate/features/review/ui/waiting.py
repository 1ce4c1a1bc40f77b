"""The number beside the page Review in the menu: known from before while a page is drawn, counted after it."""

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.last_answer import counted_every, last_answer
from allpairs.annotate.features.review.transitivity import count_waiting


@st.cache_resource(show_spinner=False)
def _counts(database: str) -> dict[int, tuple[int, int]]:
    """Return the number of each project, and the last answer when it was counted."""
    return {}


def known_waiting(database: Engine, project_id: int) -> int:
    """Return how much waited when it was last counted; 0 before."""
    return _counts(str(database.url)).get(project_id, (0, 0))[1]


def waiting_now(database: Engine, project_id: int) -> int:
    """Return how much waits; where there are very many answers, it is counted again after a thousandth more of them."""
    last = last_answer(database, project_id)
    before, number = _counts(str(database.url)).get(project_id, (0, 0))
    if abs(last - before) < counted_every(last):
        return number
    return count_exactly(database, project_id, last)


def count_exactly(database: Engine, project_id: int, last: int) -> int:
    """Return how much waits after this last answer, for the menu too."""
    counts = _counts(str(database.url))
    if counts.get(project_id, (0, 0))[0] != last:
        counts[project_id] = last, count_waiting(database, project_id)
    return counts.get(project_id, (0, 0))[1]


def redraw_after(database: Engine, project_id: int, last: int) -> None:
    """Draw the whole page again if somebody has answered since it was drawn: the other parts are out of date."""
    if last_answer(database, project_id) != last:
        st.rerun()
