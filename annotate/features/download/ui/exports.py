"""What a project exports: labels, matches, or the whole project. Files are made only when asked for."""

import streamlit as st

from allpairs.annotate.features.download.routes import DATASET, labels_address, project_address
from allpairs.annotate.features.download.ui.matches import match_search
from allpairs.annotate.features.labels.formats import DESCRIPTIONS, Form
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.domain import Kind
from allpairs.db.labels.labels import noted
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project

SUFFIXES = {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}
TITLES = {
    Form.LABELS.value: "Current labels",
    Form.HISTORY.value: "Whole history",
    Form.PAIRS.value: "Labelled pairs",
    Form.POSITIVES.value: "Positive pairs",
    Form.TRIPLETS.value: "Triplets",
    DATASET: "Hugging Face dataset",
    Form.AUDIT.value: "Audit labels",
    Form.IMPLIED.value: "Implied pairs",
    Form.VERDICTS.value: "Verdicts of machine raters",
}
HELP = {form.value: description for form, description in DESCRIPTIONS.items()} | {
    DATASET: "A zipped folder with a dataset card and all of these exports as Parquet. Unpack it, and load it with "
    "`datasets.load_dataset(folder)`."
}
FORMATS = (
    "CSV suits spreadsheets: an apostrophe keeps texts such as `=1+1` from being run as formulas, and an import here "
    "removes it. JSONL and Parquet keep every text unchanged."
)
ARCHIVE = (
    "Texts, ids, known pairs, settings, rounds, all answers, figures and models in one zip file. Any installation can "
    "import it without loss, on this page or with `allpairs project import`."
)


def exports(project: Project) -> None:
    """Draw everything that can be downloaded, but for models, which are on the page Monitor beside their figures."""
    with st.container(border=True):
        label_export_form(project)
    with st.container(border=True):
        st.subheader("Matches and groups", anchor=False)
        match_search(project.id)
    with st.container(border=True):
        project_download(project.id)


def label_export_form(project: Project) -> None:
    """Draw the choice of labels, layout and format, and the download."""
    st.subheader("Labels", anchor=False)
    form_column, format_column = st.columns(2)
    forms = [form for form in TITLES if form != Form.IMPLIED or project.kind == Kind.SYMMETRIC]
    form = form_column.selectbox("What to download", forms, format_func=TITLES.__getitem__, key="take_form")
    form_column.caption(HELP[form])
    only_noted = False
    with format_column:
        suffix = st.segmented_control(
            "Format",
            list(SUFFIXES),
            default="csv",
            format_func=SUFFIXES.__getitem__,
            required=True,
            key="take_as",
            disabled=form == DATASET,  # always Parquet; the choice stays for the other exports
        )
        st.caption(FORMATS)
        if form in (Form.LABELS, Form.HISTORY):
            only_noted = _only_noted(project.id)
    _download("Download labels", labels_address(project.id, form, suffix, only_noted))


def _only_noted(project_id: int) -> bool:
    """Return whether to export only answers with a note. The question appears where there are notes."""
    with reading(engine()) as session:
        count = noted(session, project_id)
    return bool(count) and st.checkbox(f"Only the {count:,} with a note", key="take_noted")


def project_download(project_id: int) -> None:
    """Draw the download of the whole project."""
    st.subheader("The whole project", anchor=False)
    st.caption(ARCHIVE)
    with st.container(horizontal=True):
        with_models = st.checkbox("Include models", value=True, key="take_models", help="About 90 MB per round.")
        help_ = "Each model's vectors of all texts. They are large, and can be computed again."
        with_vectors = st.checkbox("Include vectors", key="take_vectors", help=help_, disabled=not with_models)
    _download("Download project", project_address(project_id, with_models, with_models and with_vectors))


def _download(title: str, address: str) -> None:
    st.link_button(title, address, icon=":material/download:", type="primary")
