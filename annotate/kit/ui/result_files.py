"""Figures, tables and the report that a job wrote, drawn on a page."""

from codecs import BOM_UTF8

import altair as alt
import streamlit as st

from allpairs.annotate.kit.jobs.result_files import FigureFile, ResultFiles, TableFile
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.figure import figure


def draw_results(files: ResultFiles, about_tables: str = "") -> None:
    """Draw all figures and tables. about_tables: a caption above the tables."""
    for figure_file in files.figures:
        _figure(figure_file)
    if files.tables:
        st.subheader("Tables", anchor=False)
        if about_tables:
            st.caption(about_tables)
    for table in files.tables:
        _table(table)


def _figure(figure_file: FigureFile) -> None:
    """Draw the figure's panels side by side."""
    st.subheader(literal(figure_file.title), anchor=False)
    for column, panel in zip(st.columns(len(figure_file.panels)), figure_file.panels, strict=True):
        with column:
            figure(alt.LayerChart.from_dict(panel.chart), panel.description)


def _table(table: TableFile) -> None:
    """Draw the table with a download of its numbers."""
    st.markdown(table.markdown)
    st.download_button(
        "Download CSV",
        BOM_UTF8 + table.csv,
        file_name=f"{table.name}.csv",
        mime="text/csv",
        key=f"csv_{table.name}",
        icon=":material/download:",
        on_click="ignore",
    )


def draw_report(report: str, id_: str) -> None:
    """Draw the download of the whole report, if there is one. id_: the run or experiment that it describes."""
    if report:
        st.download_button(
            "Download report",
            report.encode(),
            file_name="report.md",
            mime="text/markdown",
            key=f"report_{id_}",
            icon=":material/description:",
            on_click="ignore",
        )
