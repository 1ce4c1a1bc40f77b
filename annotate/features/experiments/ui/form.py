"""The form that starts an experiment on a project's data."""

import streamlit as st

from allpairs.annotate.features.experiments import experiments
from allpairs.annotate.features.experiments.experiments import Wish
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.drafts import DRAFT
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.domain import DEFAULT_ENCODER, Settings
from allpairs.db.schema.tables import Project
from allpairs.learner.light.catalog import STRATEGIES

DEFAULT = ("uncertainty", "adaptive-retrieval", "static-retrieval", "random")
EXPLANATION = (
    "Simulates the labelling of this project, with its known pairs as answers, once for each strategy and seed. It "
    "compares what each strategy finds, and how good its matcher is, at the same number of labels."
)
COMPARED = (
    "Measures each encoder on this project's labels: average precision with training (each label scored by an encoder "
    "that has not seen it) and before, texts per second, memory. Each takes about as long as five trainings. A static "
    "embedding works too: it has no network, and is fast."
)
COST = (
    "An experiment occupies its worker until it is done. Start a second worker so that new batches are prepared "
    "meanwhile."
)


def experiment_form(project: Project) -> None:
    """Draw the form, or why this project's data allow no experiment."""
    if reason := experiments.hindrance(engine(), project.id):
        st.info(literal(reason), icon=":material/straighten:")
        return
    st.caption(EXPLANATION)
    settings = Settings.model_validate(project.settings)
    key = f"experiment_{project.id}"
    name = st.text_input("Name", f"Strategies on {project.name}", key=f"{key}_name", max_chars=200, persist_state=DRAFT)
    chosen = st.multiselect(
        "Strategies",
        list(STRATEGIES),
        list(DEFAULT),
        format_func=lambda name: STRATEGIES[name].title,
        key=f"{key}_strategies",
        help=_explained(),
    )
    with st.container(horizontal=True):
        seeds = st.number_input(
            "Seeds", 1, 20, 1, key=f"{key}_seeds", help="With two or more there are intervals.", width=140
        )
        rounds = st.number_input("Rounds", 1, 20, 4, key=f"{key}_rounds", width=140)
        first = st.number_input("First batch", 2, 1_000_000, settings.first, key=f"{key}_first", width=140)
        growth = st.number_input("Growth", 1.0, 10.0, settings.growth, step=0.1, key=f"{key}_growth", width=140)
    st.caption(f"{_size(len(chosen) * seeds)}. All other values come from the project's settings. {COST}")
    if st.button("Start", key=f"{key}_start", type="primary", icon=":material/science:"):
        _start(project.id, Wish(name, chosen, seeds, rounds, first, growth))


def encoder_form(project: Project) -> None:
    """Draw the form that compares encoders on the project's labels, or why it cannot."""
    if reason := experiments.label_hindrance(engine(), project.id):
        st.info(reason, icon=":material/straighten:")
        return
    st.caption(f"{COMPARED} {COST}")
    current = Settings.model_validate(project.settings).encoder
    known = list(dict.fromkeys([current, DEFAULT_ENCODER]))
    chosen = st.multiselect(
        "Encoders",
        known,
        known,
        accept_new_options=True,
        key=f"encoders_{project.id}",
        help="Names of sentence-transformers models, or folders on the server. The first is the baseline.",
    )
    if st.button("Compare encoders", key=f"encoders_{project.id}_start", type="primary", disabled=len(chosen) < 2):
        with told():
            experiments.request_encoders(engine(), project.id, chosen)
            st.rerun()


def _size(runs: int) -> str:
    return f"{runs} run{'' if runs == 1 else 's'}"


def _explained() -> str:
    return "\n".join(f"- **{entry.title}**: {entry.description}" for entry in STRATEGIES.values())


def _start(project_id: int, wish: Wish) -> None:
    """Request the job and redraw the page, or show why it cannot be requested."""
    with told():
        experiments.request(engine(), project_id, wish)
        st.rerun()
