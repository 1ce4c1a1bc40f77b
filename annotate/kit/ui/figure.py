"""A plot with a description for screen readers, and the table behind it."""

from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import altair as alt
import pandas as pd
import streamlit as st

from allpairs.annotate.kit.charts import Plot
from allpairs.db.corpus.csv_writer import csv_text
from allpairs.db.corpus.table_files import frame_rows

STYLE = Path(__file__).with_name("paper.css")
DARK = Path(__file__).with_name("paper_dark.css")


def print_style() -> None:
    """Style the printed page: no sidebar, no buttons, plots that fit, and dark text."""
    st.html(STYLE)
    if st.context.theme.type == "dark":
        st.html(DARK)


def figure(chart: Plot, description: str) -> None:
    """Draw the chart across the full width of the page."""
    st.altair_chart(chart, alt=description, width="stretch")


def plot(draw: Callable[..., Plot], *data: Any, described: str) -> None:
    """Draw the plot that `draw` makes of these data, across the full width of the page.

    described: what it shows, with its figures, in words. Building a plot takes longer than the rest of a page, so the
    specification is cached by the data.
    """
    spec = _spec(f"{draw.__module__}.{draw.__qualname__}", data, draw)
    st.vega_lite_chart(spec=spec, alt=described, width="stretch")


@st.cache_data(max_entries=200, show_spinner=False)
def _spec(name: str, data: tuple[Any, ...], _draw: Callable[..., Plot]) -> dict[str, Any]:
    """Return the plot as a Vega-Lite specification. name: that of `_draw`, which itself is not in the cache key."""
    with alt.data_transformers.disable_max_rows():  # the size is limited where the data are read
        return _draw(*data).to_dict(validate=False)  # takes a third of the time; the charts are tested


def table_behind(table: pd.DataFrame, name: str) -> None:
    """Draw a plot's table in an expander, with a download of the same rows. `name` names the file."""
    with st.expander("Table", icon=":material/table:"):
        table_open(table, name)


def table_open(
    table: pd.DataFrame,
    name: str,
    formats: Mapping[str, str] = MappingProxyType({}),
    height: Literal["auto", "content"] = "auto",
) -> None:
    """Draw a plot's table with a download of the same rows. `name` names the file.

    formats: Streamlit's number formats by column; fractions have four decimals by default. height: at most ten rows, or
    all of them.
    """
    columns = {column: _column(column, table[column], formats) for column in map(str, table.columns)}
    alt = f"The table behind the plot: {name}"
    st.dataframe(table, hide_index=True, column_config=columns, height=height, alt=alt)
    st.download_button(
        "Download CSV",
        BOM_UTF8 + csv_text(list(map(str, table.columns)), frame_rows(table)).encode(),
        file_name=f"{name}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key=f"csv_{name}",
    )


def _column(name: str, values: "pd.Series[Any]", formats: Mapping[str, str]) -> Any:
    """Return the column's title and number format."""
    title = name.replace("_", " ").capitalize()
    form = formats.get(name, "%.4f" if pd.api.types.is_float_dtype(values) else None)
    return st.column_config.NumberColumn(title, format=form) if form else st.column_config.Column(title)
