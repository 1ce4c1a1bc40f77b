"""What can be taken away from a project: labels, models, matches, all of it. Nothing is made before it is asked for."""

import streamlit as st

from annotate.exchange.download_routes import DATASET, labels_address, project_address
from annotate.exchange.model_export import address
from annotate.labels.formats import ABOUT, Form
from annotate.monitor.rounds import round_name
from annotate.ui.data.match_search import match_search
from annotate.ui.state import engine
from db.domain import Kind
from db.labels.labels import noted
from db.projects.matchers import matchers_of
from db.schema.engine import reading
from db.schema.tables import Project

SUFFIXES = {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}
TITLES = {
    Form.LABELS.value: "Labels that count",
    Form.HISTORY.value: "Whole history",
    Form.PAIRS.value: "Labelled pairs",
    Form.POSITIVES.value: "Positive pairs",
    Form.TRIPLETS.value: "Triplets",
    DATASET: "Hugging Face dataset",
    Form.AUDIT.value: "Labels that measure",
    Form.IMPLIED.value: "Implied pairs",
}
WHAT = {form.value: about for form, about in ABOUT.items()} | {
    DATASET: "A zipped folder with a card and all of these forms in Parquet: unpacked, `datasets.load_dataset(folder)` "
    "loads it."
}
FORMATS = (
    "CSV for spreadsheets: an apostrophe keeps texts such as `=1+1` from being run, and an import here takes it off. "
    "JSONL and Parquet hold every text as it is."
)
ARCHIVE = (
    "Texts, ids, known pairs, settings, rounds, every answer, figures and models in one zip file that any installation "
    "imports without loss, on this page or with `python -m annotate project import`."
)


def take_away(project: Project) -> None:
    """Nothing; draws what can be downloaded."""
    with st.container(border=True):
        labels(project)
    with st.container(border=True):
        models(project)
    with st.container(border=True):
        st.subheader("Matches and groups", anchor=False)
        match_search(project.id)
    with st.container(border=True):
        whole(project.id)


def labels(project: Project) -> None:
    """Nothing; draws the choice of labels, their form and format, and the download."""
    st.subheader("Labels", anchor=False)
    one, other = st.columns(2)
    forms = [form for form in TITLES if form != Form.IMPLIED or project.kind == Kind.SYMMETRIC]
    form = one.selectbox("What", forms, format_func=TITLES.__getitem__, key="take_form")
    one.caption(WHAT[form])
    only_noted = False
    with other:
        suffix = st.segmented_control(
            "Format",
            list(SUFFIXES),
            default="csv",
            format_func=SUFFIXES.__getitem__,
            required=True,
            key="take_as",
            disabled=form == DATASET,  # it is Parquet; the choice stays for the other forms
        )
        st.caption(FORMATS)
        if form in (Form.LABELS, Form.HISTORY):
            only_noted = _only_noted(project.id)
    _download("Download the labels", labels_address(project.id, form, suffix, only_noted))


def _only_noted(project_id: int) -> bool:
    """Whether only answers with a note are wanted; asked where there is any."""
    with reading(engine()) as session:
        count = noted(session, project_id)
    return bool(count) and st.checkbox(f"Only the {count:,} with a note", key="take_noted")


def models(project: Project) -> None:
    """Nothing; draws the choice of a round and the download of its model."""
    st.subheader("Model", anchor=False)
    with reading(engine()) as session:
        found = {matcher.number: matcher for matcher in matchers_of(session, project.id) if matcher.folder}
    if not found:
        st.caption("Nothing is trained yet: the pre-trained encoder is all there is.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox("Round", list(found), format_func=round_name, key=f"take_model_{max(found)}", width=200)
        _download("Download the model", address(found[number]))
    st.caption(
        "A zipped folder that sentence-transformers and `python -m learner match` load, with a model card: data, "
        "question, labels, figures and how they were measured, licences."
    )


def whole(project_id: int) -> None:
    """Nothing; draws the download of the whole project."""
    st.subheader("The whole project", anchor=False)
    st.caption(ARCHIVE)
    with st.container(horizontal=True):
        with_models = st.checkbox("With the models", value=True, key="take_models", help="About 90 MB a round.")
        help_ = "The texts as each model sees them. They can be computed again, and are large."
        with_vectors = st.checkbox("With the vectors", key="take_vectors", help=help_, disabled=not with_models)
    _download("Download the project", project_address(project_id, with_models, with_models and with_vectors))


def _download(title: str, where: str) -> None:
    st.link_button(title, where, icon=":material/download:", type="primary")
