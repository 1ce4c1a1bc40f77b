"""One question of a study at a time, with its passage: the rater says yes or no to each criterion."""

from itertools import count

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.studies import rating_studies
from allpairs.annotate.features.studies.rating_studies import RATED_BY, RatingDesk
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.language import _, localized_number, words
from allpairs.db.errors import InputError
from allpairs.db.projects.studies import CRITERIA, Scores
from allpairs.db.schema.tables import StudyUnit

WIDTH = 760  # pixels: lines of readable length
BUTTON = 84  # pixels of a button with its key
ANSWERS = (
    (True, later("Yes")),
    (False, later("No")),
)  # each has its own key, 1 to 8; keys that moved would cause mistakes
NOTHING = later("(The model wrote nothing.)")


@st.fragment
def rating_desk(database: Engine, project_id: int, study_id: int, rater: str) -> None:
    """Draw the next question to rate, or the one the rater went back to."""
    place = f"rating_at_{study_id}_{rater}"
    try:
        desk = rating_studies.desk(database, project_id, study_id, rater, st.session_state.get(place))
    except InputError as problem:
        st.error(literal(sentence(words().error(problem))), icon=":material/error:")
        return
    with st.container(width=WIDTH, key="rating"):
        if desk.unit is None:
            thanks = _("You have rated all {n} questions. Thank you.", n=localized_number(desk.units))
            st.success(thanks, icon=":material/check:")
        else:
            progress = _("{n} of {all}", n=localized_number(desk.unit.position + 1), all=localized_number(desk.units))
            st.progress(desk.rated / desk.units, progress)
            _question(database, project_id, desk, desk.unit, rater, place)
        _turn(desk, place)


def _question(database: Engine, project_id: int, desk: RatingDesk, unit: StudyUnit, rater: str, place: str) -> None:
    scores: Scores = {**desk.scores, **st.session_state.get(_draft(unit, rater), {})}
    with st.container(border=True):
        st.caption(_("Passage"))
        st.markdown(literal(unit.passage))
    st.subheader(literal(unit.question or _(NOTHING)), anchor=False)
    keys = count(1)
    for criterion in RATED_BY:
        with st.container(horizontal=True, vertical_alignment="center", wrap=False, key=f"row_{criterion.name}"):
            st.markdown(f"**{_(criterion.title)}.** {_(criterion.asks)}", width="stretch")
            for value, label in ANSWERS:
                st.button(
                    _(label),
                    key=f"rate_{unit.id}_{criterion.name}_{value}",
                    shortcut=str(next(keys)),
                    width=BUTTON,
                    type="primary" if scores.get(criterion.name) is value else "secondary",
                    on_click=_say,
                    args=(database, project_id, unit, rater, criterion.name, value, place),
                )


def _draft(unit: StudyUnit, rater: str) -> str:
    """Return the session key under which answers are kept until all four are given."""
    return f"rating_{unit.id}_{rater}"


def _say(database: Engine, project_id: int, unit: StudyUnit, rater: str, name: str, value: bool, place: str) -> None:
    """Keep the answer. With all four, store the rating and, the first time, go on to the next question."""
    before = rating_studies.own_scores(database, unit, rater)
    if before and st.session_state.get(place) != unit.position:
        return  # a late key press: the question has been left
    scores = {**before, **st.session_state.get(_draft(unit, rater), {}), name: value}
    if len(scores) < len(CRITERIA):
        st.session_state[_draft(unit, rater)] = scores
        return
    with told(st.toast):
        rating_studies.store_rating(database, project_id, unit.id, rater, scores)
        st.session_state.pop(_draft(unit, rater), None)
        if not before:
            st.session_state.pop(place, None)


def _turn(desk: RatingDesk, place: str) -> None:
    """Draw the buttons for the previous and the next question."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if desk.before is not None:
            st.button(
                _("Back"),
                key="rating_back",
                icon=":material/arrow_back:",
                type="tertiary",
                shortcut="Backspace",
                on_click=_go,
                args=(place, desk.before),
            )
        if desk.after is not None:
            st.button(
                _("Next"),
                key="rating_next",
                icon=":material/arrow_forward:",
                type="tertiary",
                shortcut="Enter",
                on_click=_go,
                args=(place, desk.after),
            )


def _go(place: str, position: int) -> None:
    st.session_state[place] = position
