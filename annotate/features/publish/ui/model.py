"""What a matcher is, and the downloads of it and of the labels."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import streamlit as st

from allpairs.annotate.features.labels.export import export_labels
from allpairs.annotate.features.labels.formats import Form
from allpairs.annotate.features.publish.model_card import bare_figure
from allpairs.annotate.features.publish.model_export import address, usage
from allpairs.annotate.features.publish.ui.publish import publish_section
from allpairs.annotate.features.quality.rounds import MonitorReport, card, round_name
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.schema.tables import Project, StoredModel

FORMATS = {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}


def model(report: MonitorReport, project: Project) -> None:
    """Draw the tab Model: the card of one matcher, publishing it, and the downloads."""
    by_number = {matcher.number: matcher for matcher, _ in report.matchers}
    if by_number:
        newest = max(by_number)
        number = st.selectbox("Round", list(reversed(by_number)), format_func=round_name, key=f"card_round_{newest}")
        model_card(project, by_number[number])
        if any(matcher.folder is not None for matcher in by_number.values()):
            publish_section(by_number[number])
    else:
        st.caption("There is no model yet. The first job encodes the texts.")
    if may(Right.CHANGE, project.id):
        st.subheader("Labels", anchor=False)
        label_downloads(project.name, report.audited is not None)


def model_card(project: Project, matcher: StoredModel) -> None:
    """Draw what is known of the matcher, its download, and the lines of Python that use it."""
    facts, export_column = st.columns([2, 3], gap="large")
    with facts:
        rows = pd.DataFrame([(name, literal(value)) for name, value in card(matcher)], columns=["Property", "Value"])
        name = f"Model card: {round_name(matcher.number)}"
        st.table(rows, border="horizontal", hide_index=True, hide_header=True, alt=name)
    with export_column:
        if matcher.folder is None:
            st.write("This is the unchanged pre-trained encoder, so there is no model to export.")
            return
        if may(Right.CHANGE, matcher.project_id):
            st.link_button("Download model (zip)", address(matcher), icon=":material/download:", type="primary")
        lines = usage(project, matcher)
        st.write("Unpack it. Allpairs then gives the score and the probability that the tab Summary measures:")
        st.code(lines.whole, language="python", wrap_lines=True)
        if lines.bare:
            with st.expander("With sentence-transformers alone"):
                st.write(_bare_in_words(matcher))
                st.code(lines.bare, language="python", wrap_lines=True)


def _bare_in_words(matcher: StoredModel) -> str:
    """Return what the bare cosine is, with its own average precision."""
    return (
        "The bare cosine is another score: without lexical similarity and hubness correction, with an output layer of "
        f"its own. Its average precision: {bare_figure(matcher)}."
    )


def label_downloads(project: str, audited: bool) -> None:
    """Draw one download button for each file format of the labels, and one for the audit labels."""
    with st.container(horizontal=True):
        for suffix, title in FORMATS.items():
            _download(f"Labels as {title}", project, f"labels.{suffix}", Form.LABELS)
        if audited:
            _download("Audit labels as CSV", project, "audit.csv", Form.AUDIT)


def _download(title: str, project: str, name: str, form: Form) -> None:
    """Draw the button. The suffix of the file name decides the format of the rows."""
    st.download_button(
        title,
        partial(_exported, project, name, form),
        file_name=name,
        icon=":material/download:",
        on_click="ignore",
        key=f"download_{name}",
    )


def _exported(project: str, name: str, form: Form) -> bytes:
    with TemporaryDirectory(prefix="allpairs-") as folder:
        path = Path(folder) / name
        export_labels(engine(), project, path, form, for_people=True)
        return path.read_bytes()
