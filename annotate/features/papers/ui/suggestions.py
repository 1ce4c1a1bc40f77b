"""A generator that a run made: a person chooses a passage, and reads the questions it suggests."""

from functools import partial

import streamlit as st

from allpairs.annotate.features.papers import suggested_questions
from allpairs.annotate.features.papers.runs import RunOutput
from allpairs.annotate.kit.jobs.open_jobs import job_progress
from allpairs.annotate.kit.text.formatting import beginning, literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import watch
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.projects.items import LONGEST_SEARCH
from allpairs.db.results.job_results import Suggestion, SuggestionRequest
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.tables import Item

EXPLANATION = "The most likely question and some random samples, most likely first. Suggestions are not labels."


def suggestions(project_id: int, run_id: str, generator: RunOutput) -> None:
    """Draw the choice of a passage and the questions that the generator suggests about it."""
    key = f"suggest_{run_id}_{generator.number}"
    with st.expander("Suggest questions", icon=":material/lightbulb:", key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        words = st.text_input(
            "Words in the passage", key=f"{key}_words", max_chars=LONGEST_SEARCH, placeholder="Words in any order"
        )
        items = suggested_questions.passages_with(engine(), project_id, words)
        if not items:
            st.caption("No passage contains all these words.")
            return
        _choice(project_id, items, run_id, generator, key)


def _choice(project_id: int, items: list[Item], run_id: str, generator: RunOutput, key: str) -> None:
    texts = {item.id: item.text for item in items}
    item_id = st.selectbox(
        "Passage", list(texts), format_func=lambda id_: beginning(texts[id_]), key=f"{key}_passage_{items[0].id}"
    )
    if len(items) == suggested_questions.MOST_PASSAGES:
        st.caption(f"These are the first {suggested_questions.MOST_PASSAGES} passages. Add words to narrow the search.")
    question = SuggestionRequest(run_id, generator.number, item_id)
    st.markdown(literal(texts[item_id]))
    if st.button("Suggest", key=f"{key}_ask_{item_id}", icon=":material/lightbulb:"):
        with told():
            st.session_state[f"{key}_job"] = suggested_questions.request_suggestions(engine(), project_id, question)
    job_id = st.session_state.get(f"{key}_job")
    if job_id is None:
        _result(question)
    else:
        watch(partial(job_progress, engine(), project_id, job_id), "Asking: ", partial(_result, question))


def _result(question: SuggestionRequest) -> None:
    """Draw the suggested questions."""
    questions = read_result(question.path, list[Suggestion])
    if questions is None:
        return
    if not questions:
        st.caption("The generator wrote nothing about this passage.")
        return
    st.markdown("\n".join(f"1. {literal(suggestion.question)}" for suggestion in questions))
    st.caption(EXPLANATION)
