"""A pre-trained encoder that a run made: a person types texts and two questions, and reads opinions with reasons."""

from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from allpairs.annotate.explore.search import work
from allpairs.annotate.pipelines import opinion_queries
from allpairs.annotate.pipelines.runs import Made
from allpairs.annotate.ui.common.drafts import DRAFT
from allpairs.annotate.ui.common.errors import told
from allpairs.annotate.ui.common.job_watch import watch
from allpairs.annotate.ui.state import engine
from allpairs.db.results.opinions import Opinion

STYLE = Path(__file__).with_name("opinions.css")
ABOUT = (
    "The encoder looks in each text for an answer to both questions; the better answer is the text's opinion. Each "
    "question's baseline score (its score on neutral text) is subtracted first. The highlighted words are the best "
    "answer. Opinions are not labels."
)
MARGIN = "In brackets: how much higher the better question scores. It is not a probability."


def tell_opinions(project_id: int, run_id: str, one: Made) -> None:
    """Draw the fields for texts and questions, and what the encoder finds."""
    key = f"opinions_{run_id}_{one.number}"
    with st.expander("Classify opinions", icon=":material/thumbs_up_down:", key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(ABOUT)
        _form(project_id, run_id, one, key)
        job_id = st.session_state.get(f"{key}_job")
        if job_id is not None:
            watch(partial(work, engine(), project_id, job_id), "Reading: ", partial(_result, run_id, job_id))


def _form(project_id: int, run_id: str, one: Made, key: str) -> None:
    prompts = opinion_queries.prompts(run_id)
    place = st.selectbox(
        "Questions of the run", range(len(prompts)), format_func=lambda i: " / ".join(prompts[i]), key=f"{key}_prompt",
        help="The questions that the run was configured with. You can change both below.",
    )  # fmt: skip
    lines = st.text_area(
        "Texts, one per line", key=f"{key}_texts", height=120, placeholder="It is a joy from start to end.",
        persist_state=DRAFT,
    )  # fmt: skip
    positive, negative = (
        side.text_input(f"Question for a {kind} opinion", initial, key=f"{key}_{place}_{kind}", persist_state=DRAFT)
        for side, kind, initial in zip(st.columns(2), ("positive", "negative"), prompts[place], strict=True)
    )
    if not st.button("Classify", key=f"{key}_ask", icon=":material/thumbs_up_down:"):
        return
    with told():
        job_id = opinion_queries.ask(engine(), project_id, run_id, one.number, lines, positive, negative)
        st.session_state[f"{key}_job"] = job_id


def _result(run_id: str, job_id: str) -> None:
    found = opinion_queries.found(run_id, job_id)
    if found is None:
        return
    rows = "".join(_row(one, found.positive if one.positive else found.negative) for one in found.found)
    st.html(STYLE)
    st.html(f'<ol class="opinions">{rows}</ol>')
    st.caption(MARGIN)


def _row(one: Opinion, question: str) -> str:
    """Return the opinion as HTML."""
    side = "positive" if one.positive else "negative"
    head = f"<b>{side.capitalize()}</b> ({abs(one.margin):.2f}): <i>{escape(question)}</i>"
    return f'<li class="{side}"><div>{head}</div><div class="text">{opinion_queries.marked(one)}</div></li>'
