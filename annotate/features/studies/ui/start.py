"""Ratings of a run's questions: starting a study, and the progress of each study of the project."""

import streamlit as st

from allpairs.annotate.features.papers.runs import RunOutput
from allpairs.annotate.features.studies import rating_studies
from allpairs.annotate.features.studies.rating_studies import BEGUN, DRAWN, MOST, SEED, StudyStanding
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import engine

EXPLANATION = (
    "Samples test passages at random, with each model's question about them. People rate one question at a time and do "
    "not see which model wrote it."
)
RATE = "../pages/rate.py"
DELETE = "This permanently deletes the study and all its ratings."


def study_start(project_id: int, run_id: str, output: RunOutput) -> None:
    """Draw the form that starts a study of these questions, and open the study."""
    key = f"study_{run_id}_{output.number}"
    title = "Have people rate the questions"
    with st.popover(title, icon=":material/reviews:", key=key, on_change="rerun") as opened:
        if opened.open:
            _form(project_id, run_id, output, key)


def _form(project_id: int, run_id: str, output: RunOutput, key: str) -> None:
    known = rating_studies.asked_by(output.path)
    st.write(EXPLANATION)
    chosen = st.multiselect(
        "Models",
        known,
        default=[model for model in known if model in BEGUN],
        key=f"{key}_models",
        help="The paper compares no adaptation, self-training and back-training. Questions written by people show how "
        "strict the raters are.",
    )
    passages = st.number_input("Questions per model", 1, MOST, DRAWN, key=f"{key}_passages")
    seed = st.number_input("Seed", 0, 2**31 - 1, SEED, key=f"{key}_seed")
    if not st.button("Start", key=f"{key}_start", type="primary"):
        return
    with told():
        study = rating_studies.start_study(engine(), project_id, run_id, output.number, chosen, passages, seed)
        st.switch_page(RATE, query_params=_to(study))


def _to(study_id: int) -> dict[str, str]:
    """Return the query parameters of the study's page: the present ones, and the study's number."""
    return {**st.query_params.to_dict(), "study": str(study_id)}


def study_list(project_id: int) -> None:
    """Draw the project's studies, each with links to rate and to read the results."""
    standings = rating_studies.list_studies(engine(), project_id)
    if standings:
        st.subheader("Ratings by people", anchor=False)
    for standing in standings:
        with st.container(border=True, key=f"study_{standing.study.id}"):
            _study(project_id, standing)


def _study(project_id: int, standing: StudyStanding) -> None:
    study = standing.study
    st.markdown(f"**{standing.units} questions** about {study.per_model} passages, drawn {ago(study.created_at)}")
    raters = " · ".join(f"{literal(rater)} {n} of {standing.units}" for rater, n in standing.rated.items())
    st.caption(f"{literal(', '.join(study.models))}. Rated so far: {raters or 'none'}.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(RATE, label="Rate and see results", icon=":material/reviews:", query_params=_to(study.id))
        with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"study_delete_{study.id}"):
            st.write(DELETE)
            if st.button("Delete study", key=f"study_delete_{study.id}_yes", icon=":material/delete:"):
                rating_studies.remove_study(engine(), project_id, study.id)
                st.rerun()
