"""One question of a study at a time, with its passage: the rater says yes or no to each criterion."""

from itertools import count

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.studies import rating_studies
from allpairs.annotate.features.studies.rating_studies import RATED_BY, Desk
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.language import _, number, words
from allpairs.db.errors import InputError
from allpairs.db.projects.studies import CRITERIA, Scores
from allpairs.db.schema.tables import StudyUnit

# pixels: a passage with lines of readable length; a button with its key
WIDTH = 760
BUTTON = 84
ANSWERS = (
    (True, later("Yes")),
    (False, later("No")),
)  # each has its own key, 1 to 8; keys that moved would cause mistakes
NOTHING = later("(The model wrote nothing.)")


@st.fragment
def rating_desk(database: Engine, project_id: int, study_id: int, who: str) -> None:
    """Draw the next question to rate, or the one the rater went back to."""
    place = f"rating_at_{study_id}_{who}"
    try:
        found = rating_studies.desk(database, project_id, study_id, who, st.session_state.get(place))
    except InputError as problem:
        st.error(literal(sentence(words().error(problem))), icon=":material/error:")
        return
    with st.container(width=WIDTH, key="rating"):
        if found.unit is None:
            done = _("You have rated all {n} questions. Thank you.", n=number(found.units))
            st.success(done, icon=":material/check:")
        else:
            said = _("{n} of {all}", n=number(found.unit.position + 1), all=number(found.units))
            st.progress(found.rated / found.units, said)
            _question(database, project_id, found, found.unit, who, place)
        _turn(found, place)


def _question(database: Engine, project_id: int, found: Desk, unit: StudyUnit, who: str, place: str) -> None:
    scores: Scores = {**found.scores, **st.session_state.get(_draft(unit, who), {})}
    with st.container(border=True):
        st.caption(_("Passage"))
        st.markdown(literal(unit.passage))
    st.subheader(literal(unit.question or _(NOTHING)), anchor=False)
    keys = count(1)
    for criterion in RATED_BY:
        with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"row_{criterion.name}"):
            st.markdown(f"**{_(criterion.title)}.** {_(criterion.asks)}", width="stretch")
            for said, label in ANSWERS:
                st.button(
                    _(label),
                    key=f"rate_{unit.id}_{criterion.name}_{said}",
                    shortcut=str(next(keys)),
                    width=BUTTON,
                    type="primary" if scores.get(criterion.name) is said else "secondary",
                    on_click=_say,
                    args=(database, project_id, unit, who, criterion.name, said, place),
                )


def _draft(unit: StudyUnit, who: str) -> str:
    """Return the session key under which answers are kept until all four are given."""
    return f"rating_{unit.id}_{who}"


def _say(database: Engine, project_id: int, unit: StudyUnit, who: str, name: str, said: bool, place: str) -> None:
    """Keep the answer. With all four, store the rating and, the first time, go on to the next question."""
    before = rating_studies.own_scores(database, unit, who)
    if before and st.session_state.get(place) != unit.position:
        return  # a late key press: the question has been left
    scores = {**before, **st.session_state.get(_draft(unit, who), {}), name: said}
    if len(scores) < len(CRITERIA):
        st.session_state[_draft(unit, who)] = scores
        return
    with told(st.toast):
        rating_studies.rate(database, project_id, unit.id, who, scores)
        st.session_state.pop(_draft(unit, who), None)
        if not before:
            st.session_state.pop(place, None)


def _turn(found: Desk, place: str) -> None:
    """Draw the buttons for the previous and the next question."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if found.before is not None:
            st.button(
                _("Back"),
                key="rating_back",
                icon=":material/arrow_back:",
                type="tertiary",
                shortcut="Backspace",
                on_click=_go,
                args=(place, found.before),
            )
        if found.after is not None:
            st.button(
                _("Next"),
                key="rating_next",
                icon=":material/arrow_forward:",
                type="tertiary",
                shortcut="Enter",
                on_click=_go,
                args=(place, found.after),
            )


def _go(place: str, position: int) -> None:
    st.session_state[place] = position
