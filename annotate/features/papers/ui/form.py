"""A pipeline of the catalog: what it does, and the form that starts it on a project's data."""

import inspect
from typing import Any

import streamlit as st

from allpairs.annotate.features.papers import runs as pipelines
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.model_form import form_problems, model_form
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.learner.light.catalog import PIPELINES, PipelineEntry
from allpairs.learner.light.catalog.from_project import FROM_PROJECT, ON_FILES_ALONE, ON_WORKER

COST = "A run occupies its worker until it is done. Start a second worker so that new batches are prepared meanwhile."


def pipeline_card(project_id: int, name: str) -> None:
    """Draw what the pipeline does, and below it its form, or why it cannot run on the project."""
    entry = PIPELINES[name]
    with st.container(border=True, key=f"pipeline_{name}"):
        st.subheader(literal(entry.title), anchor=False)
        st.markdown(literal(entry.description))
        st.caption(f"{literal(entry.paper)}  \n**Reads** {literal(entry.reads)}.  \n**Makes** {literal(entry.makes)}.")
        if reason := pipelines.run_hindrance(engine(), project_id, name):
            st.info(reason, icon=":material/info:")
            return
        with st.expander("New run", icon=":material/play_circle:"):
            _form(project_id, name, entry)


def _form(project_id: int, name: str, entry: PipelineEntry) -> None:
    key = f"run_{project_id}_{name}"
    st.caption(inspect.getdoc(FROM_PROJECT[name]) or "")
    hidden = () if may(Right.INSTALL) else ON_WORKER.get(name, ())  # a path can name any file there
    chosen = model_form(FROM_PROJECT[name], f"{key}_from", hidden)
    if hidden:
        st.caption("Only administrators of the installation can name files on the worker for training and evaluation.")
    st.caption(inspect.getdoc(entry.config) or "")
    config = model_form(entry.config, key, ON_FILES_ALONE.get(name, ()))
    wrong = [*form_problems(FROM_PROJECT[name], chosen), *form_problems(entry.config, config)]
    for line in wrong:
        st.error(literal(line))
    with st.container(horizontal=True, vertical_alignment="center"):
        started = st.button("Start", key=f"{key}_start", type="primary", icon=":material/play_arrow:")
        st.caption(COST)
    if started and not wrong:
        _start(project_id, name, config, chosen)


def _start(project_id: int, name: str, config: dict[str, Any], chosen: dict[str, Any]) -> None:
    """Request the job and redraw the page, or show why it cannot be requested."""
    with told():
        pipelines.request_run(engine(), project_id, name, config, chosen)
        st.toast(f"{literal(PIPELINES[name].title)} is queued: see the top of the page.", icon=":material/check:")
        st.rerun()
