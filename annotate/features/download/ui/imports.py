"""What a project imports: labels made elsewhere, with a report, changes of its texts, and whole projects."""

from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.labels.import_labels import Choices, import_labels
from allpairs.annotate.features.labels.import_report import ImportReport, Trouble
from allpairs.annotate.features.texts.ui import texts_section
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.drafts import DRAFT
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.annotate.kit.ui.upload import chosen_file, uploads
from allpairs.db.errors import InputError
from allpairs.db.schema.tables import Project

PROBLEMS = "problems.csv"
TROUBLES = {
    Trouble.UNKNOWN: "the project has no text with this id",
    Trouble.UNUSABLE: "an unknown label, no pair, or a name that is too long",
    Trouble.CONTRADICTION: "another row of the file contradicts it, so neither is stored",
    Trouble.CONFLICT: "the project's label differs and is kept",
    Trouble.DOUBLE: "already in the project",
    Trouble.UNLABELLED: "no label",
}
ABOUT_LABELS = (
    "A table with the columns `id1`, `id2` and `label` (1, 0 or unsure) or `answer`, and optionally `annotator` and "
    "`note`, from this page or from another tool. The file is checked first; nothing is stored until you confirm."
)
ABOUT_PROJECT = (
    "A project archive from any installation. It becomes a new project. If its name is taken, a number is added. "
    "Uploads are limited to 200 MB; for larger archives, give a path on the server."
)


def imports(project: Project | None) -> None:
    """Draw what can be imported."""
    if project is not None:
        with st.container(border=True):
            label_import_form(project)
        with st.container(border=True):
            texts_section(project)
    if may(Right.INSTALL):
        with st.container(border=True):
            project_import_form()


@dataclass(frozen=True)
class CheckedLabels:
    """The outcome of checking or storing a file: what was asked (project, file, choice), and a report or an error."""

    request: tuple[int, str, bool]
    report: ImportReport | None = None
    error: str = ""
    stored: bool = False

    @property
    def storable(self) -> int:
        """The number of labels that could be stored now."""
        return 0 if self.report is None or self.stored else self.report.stored


def label_import_form(project: Project) -> None:
    """Draw the choice of a file of labels, the report on it, and the button that stores them."""
    st.subheader("Labels", anchor=False)
    st.caption(ABOUT_LABELS)
    path = chosen_file("bring_labels", example="/data/labels.csv")
    replace = st.checkbox("Where labels differ, replace the project's with the file's", key="bring_replace")
    if path is None:
        return
    request = (project.id, str(path), replace)
    last: CheckedLabels = st.session_state.get("bring_checked", CheckedLabels(request))
    last = last if last.request == request else CheckedLabels(request)
    with st.container(horizontal=True):
        check = st.button("Check file", key="bring_check", icon=":material/fact_check:")
        title = f"Store {counted(last.storable, 'label')}" if last.storable else "Store labels"
        icon = ":material/save:"
        off = not last.storable
        store = st.button(title, key="bring_store", type="primary", icon=icon, disabled=off)
    if check or store:
        st.session_state["bring_checked"] = _import(project, path, request, dry=not store)
        st.rerun()  # so that the button shows the number of labels
    if last.error:
        st.error(literal(sentence(last.error)))
    if last.report is not None:
        import_summary(last.report, last.stored)


def _import(project: Project, path: Path, request: tuple[int, str, bool], dry: bool) -> CheckedLabels:
    choices = Choices(skip=True, replace=request[2], dry=dry)
    try:
        with st.spinner("Checking the file …" if dry else "Storing the labels …"):
            report = import_labels(engine(), project.name, path, choices, uploads() / PROBLEMS)
    except InputError as error:
        return CheckedLabels(request, error=str(error))
    return CheckedLabels(request, report, stored=not dry)


def import_summary(label_report: ImportReport, stored: bool) -> None:
    """Draw what was or would be stored, and the rows that were or would be left out."""
    say = st.success if label_report.stored else st.info
    verb = "stored" if stored else "can be stored"
    say(f"{counted(label_report.stored, 'label')} {verb}.", icon=":material/label:")
    if not label_report.total:
        return
    st.markdown(f"**{counted(label_report.total, 'row')} not stored:**")
    for trouble, description in TROUBLES.items():
        if count := label_report.counts.get(trouble, 0):
            first = label_report.first[trouble]
            more = f", the first {len(first)}" if count > len(first) else ""
            with st.expander(f"{counted(count, 'row')}: {description}{more}"):
                table = pd.DataFrame(first).drop(columns="trouble")
                st.dataframe(table, hide_index=True, alt=f"Rows of the file: {description}")
    st.download_button(
        "Download these rows as CSV",
        lambda: BOM_UTF8 + (uploads() / PROBLEMS).read_bytes(),
        file_name=PROBLEMS,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="bring_problems",
    )


def project_import_form() -> None:
    """Draw the choice of an archive, the name, and the button that imports it as a project."""
    st.subheader("A whole project", anchor=False)
    st.caption(ABOUT_PROJECT)
    path = chosen_file("bring_project", [".zip"], "A file from “Download project”.", "/data/questions.zip")
    name = st.text_input("Name", key="bring_name", max_chars=80, placeholder="Keep original name", persist_state=DRAFT)
    encoder = st.text_input(
        "Encoder",
        key="bring_encoder",
        placeholder="Keep original encoder",
        persist_state=DRAFT,
        help="If the archive's encoder is a folder of another machine: the model or folder that takes its place here.",
    )
    pressed = st.button(
        "Import project", key="bring_import", type="primary", icon=":material/unarchive:", disabled=path is None
    )
    if pressed and path is not None:
        try:
            with st.spinner("Importing the project …"):
                st.session_state["arrived"] = import_project(
                    engine(), path, name.strip() or None, encoder.strip() or None
                )
        except InputError as error:
            st.session_state.pop("arrived", None)
            st.error(literal(sentence(str(error))), icon=":material/error:")
    if arrived := st.session_state.get("arrived"):
        texts = arrived.rows["items"]
        answers = arrived.rows["answers"]
        st.success(f"{literal(arrived.name)}: {texts:,} texts and {answers:,} answers.", icon=":material/folder_open:")
        for note in arrived.notes:
            st.warning(literal(note))
        to = {"project": arrived.name}
        st.page_link("../pages/label.py", label="Open the project", icon=":material/rule:", query_params=to)
