"""The tour of the demo project: three steps above every page, until the annotator ends it."""

from typing import Literal

import streamlit as st

from allpairs.annotate.demo import NAME
from allpairs.annotate.labelling.tour import Stage, Step, dismiss, is_dismissed, stage_of
from allpairs.annotate.ui.state import annotator, engine
from allpairs.db.schema.tables import Project

EVERY = 3  # seconds between two updates
TITLES = {Step.LABEL: "Label a few", Step.TRAIN: "Train", Step.MEASURE: "Measure"}
PLACES = {Step.LABEL: ("label", "Label pairs"), Step.MEASURE: ("monitor", "See average precision")}


def tour(project: Project | None, shown: str) -> None:
    """Draw the tour if this is the demo project and the annotator has not ended it. shown: the current page."""
    if project is None or project.name != NAME or is_dismissed(annotator()):
        return
    done = stage_of(engine(), project.id).step == Step.MEASURE
    st.fragment(_tour, run_every=None if done else EVERY)(project.id, shown)


def _tour(project_id: int, shown: str) -> None:
    stage = stage_of(engine(), project_id)
    with st.container(border=True, key="tour", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False):
            st.markdown("  \u2003".join(_title(step, stage.step) for step in Step), width="content")
            last = stage.step == Step.MEASURE
            kind: Literal["primary", "tertiary"] = "primary" if last else "tertiary"
            if st.button("Finish" if last else "End tour", key="end_tour", type=kind):
                dismiss(annotator())
                st.rerun()
        st.write(_words(stage))
        page, label = PLACES.get(stage.step, (shown, ""))
        if page != shown:
            st.page_link(f"../pages/{page}.py", label=label, icon=":material/arrow_forward:")


def _title(step: Step, current: Step) -> str:
    """Return the step's name: ticked when done, bold when current, grey when still to come."""
    if step < current:
        return f":green[:material/check_circle:] {TITLES[step]}"
    return f"**{step} {TITLES[step]}**" if step == current else f":gray[{step} {TITLES[step]}]"


def _words(stage: Stage) -> str:
    if stage.step == Step.LABEL:
        return (
            "For each pair, decide whether both questions ask the same thing. Press 1 for yes, 2 for no, 3 for unsure; "
            f"Z undoes. {stage.answered} of {stage.size} pairs are answered."
        )
    if stage.step == Step.TRAIN:
        return (
            "The batch is complete, and the model is now training on it: about a minute on two cores. You can continue "
            "labelling meanwhile. The next batch holds the pairs that the new model is least certain about."
        )
    return (
        "The page “Monitor” shows average precision over all pairs of the evaluation questions, before training and "
        "after each round. Every batch that you label adds a round."
    )
