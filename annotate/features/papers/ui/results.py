"""What a run made, and what a project can do with it."""

import streamlit as st

from allpairs.annotate.features.download.routes import made_address
from allpairs.annotate.features.experiments.adopt_encoder import BIENCODER, plan_encoder, use_encoder
from allpairs.annotate.features.papers.mined_pairs import PAIRS
from allpairs.annotate.features.papers.runs import RunOutput, outputs_of
from allpairs.annotate.features.papers.suggested_questions import GENERATOR
from allpairs.annotate.features.papers.ui.adopt import adopt
from allpairs.annotate.features.papers.ui.mined import mined_acts, mined_pairs_section
from allpairs.annotate.features.papers.ui.suggestions import suggestions
from allpairs.annotate.features.studies.rating_studies import TEST_QUESTIONS
from allpairs.annotate.features.studies.ui.start import study_start
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.state import engine


def draw_run_outputs(project_id: int, run_id: str) -> None:
    """Draw everything that the run made, with its figures, its download and its use."""
    outputs = outputs_of(run_id)
    if outputs:
        st.subheader("Results of the run", anchor=False)
    for output in outputs:
        with st.container(border=True, key=f"made_{run_id}_{output.number}"):
            _thing(project_id, run_id, output)


def _thing(project_id: int, run_id: str, output: RunOutput) -> None:
    figures = " · ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in output.figures.items())
    st.markdown(f"**{literal(output.title)}**")
    if figures:
        st.caption(literal(figures))
    with st.container(horizontal=True):
        title = "Download as zip" if output.path.is_dir() else "Download"
        st.link_button(title, made_address(project_id, run_id, output.number), icon=":material/download:")
        if output.kind == BIENCODER:
            adopt(
                f"encoder_{run_id}_{output.number}",
                lambda: plan_encoder(engine(), project_id, run_id, output.number),
                lambda: use_encoder(engine(), project_id, run_id, output.number),
            )
        if output.kind == PAIRS:
            mined_acts(project_id, run_id, output)
        if output.kind == TEST_QUESTIONS:
            study_start(project_id, run_id, output)
    if output.kind == PAIRS:
        mined_pairs_section(project_id, run_id, output)
    if output.kind == GENERATOR:
        suggestions(project_id, run_id, output)


def _shown(value: object) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
