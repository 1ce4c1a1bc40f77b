"""Figures, tables and the report that a job wrote, drawn on a page."""

from itertools import groupby, pairwise

import altair as alt
import pandas as pd
import streamlit as st

from allpairs.annotate.jobs.result_files import FigureFile, TableFile
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.ui.common.figure import figure

WIDE = 4  # columns: a phone has no room for more


def draw_figure(found: FigureFile) -> None:
    """Draw the figure's panels side by side."""
    st.subheader(literal(found.title), anchor=False)
    for column, panel in zip(st.columns(len(found.panels)), found.panels, strict=True):
        with column:
            figure(alt.LayerChart.from_dict(panel.chart), panel.description)


def draw_table(table: TableFile) -> None:
    """Draw the table with a download of its numbers; a wide one scrolls by itself, so that the page does not."""
    for is_grid, group in groupby(table.markdown.splitlines(), lambda line: line.startswith("|")):
        lines = list(group)
        rows = [_cells(line) for line in lines] if is_grid else []
        if rows and len(rows[0]) > WIDE:
            frame = pd.DataFrame(rows[2:], columns=_headings(rows[0]))  # the second line is the rule
            st.dataframe(frame, hide_index=True, alt=f"The table {table.name}")
        else:
            st.markdown("\n".join(lines))
    st.download_button(
        "Download CSV", table.csv.encode(), file_name=f"{table.name}.csv", mime="text/csv", key=f"csv_{table.name}",
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


def _headings(cells: list[str]) -> list[str]:
    """Return the headings, each different: the paper's figures stand behind ours."""
    found = [f"{before}, paper" if cell == "paper" else cell for before, cell in pairwise(["", *cells])]
    return [found[0] or "Row", *found[1:]]


def draw_report(report: str, id_: str) -> None:
    """Draw the download of the whole report, if there is one. id_: the run or experiment that it describes."""
    if report:
        st.download_button(
            "Download report", report.encode(), file_name="report.md", mime="text/markdown", key=f"report_{id_}",
            icon=":material/description:", on_click="ignore",
        )  # fmt: skip
