"""Rate questions written by a pipeline's models, one at a time, and read the results."""

import streamlit as st

from allpairs.annotate.features.studies.rating_studies import StudyStanding, list_studies
from allpairs.annotate.features.studies.ui.desk import rating_desk
from allpairs.annotate.features.studies.ui.results import study_results
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.language import _
from allpairs.annotate.kit.ui.state import annotator, current_project, engine, may

RATE = later("Rate")
RESULTS = later("Results")
NONE = later(
    "This project has no questions to rate. On the page “Pipelines”, finish a run of back-training and choose “Have "
    "people rate the questions”."
)
BLIND = later("The results name the models. Rate all questions before you look at them.")


def main() -> None:
    """Draw the page."""
    database = engine()
    project = current_project(database)
    studies = list_studies(database, project.id) if project else []
    if project is None or not studies:
        st.title(_(RATE), anchor=False)
        st.info(_(NONE), icon=":material/reviews:")
        return
    standing = _wanted(studies)
    rater = annotator()
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(f"{literal(project.name)}", anchor=False)
        views = (RATE, RESULTS) if may(Right.SEE, project.id) else (RATE,)
        view = st.segmented_control(
            _("What to see"),
            views,
            default=RATE,
            required=True,
            format_func=_,
            key="rate_shown",
            label_visibility="collapsed",
        )
    if view == RATE:
        rating_desk(database, project.id, standing.study.id, rater)
        return
    if 0 < standing.rated.get(rater, 0) < standing.units:
        st.warning(_(BLIND), icon=":material/visibility_off:")
    study_results(project.id, standing)


def _wanted(studies: list[StudyStanding]) -> StudyStanding:
    """Return the study that `?study=NUMBER` names, else the newest one."""
    named = st.query_params.get("study")
    return next((standing for standing in studies if str(standing.study.id) == named), studies[0])


main()
