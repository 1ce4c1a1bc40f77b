"""A plot with its description for screen readers, and the table behind it."""

from typing import Any

import pandas as pd
import streamlit as st

from annotate.charts import Plot


def figure(chart: Plot, description: str) -> None:
    """Nothing; draws the chart as wide as the page."""
    st.altair_chart(chart, alt=description, width="stretch")


def table_behind(table: pd.DataFrame, name: str) -> None:
    """Nothing; draws the table of a plot, folded, with a download of the same rows. `name` names the file."""
    with st.expander("Table", icon=":material/table:"):
        columns = {name: _column(name, table[name]) for name in map(str, table.columns)}
        st.dataframe(table, hide_index=True, column_config=columns, alt=f"The table behind the plot: {name}")
        st.download_button(
            "Download CSV",
            table.to_csv(index=False).encode(),
            file_name=f"{name}.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
            key=f"csv_{name}",
        )


def _column(name: str, values: "pd.Series[Any]") -> Any:
    """The column's name for people; fractions with four digits."""
    title = name.replace("_", " ").capitalize()
    if pd.api.types.is_float_dtype(values):
        return st.column_config.NumberColumn(title, format="%.4f")
    return st.column_config.Column(title)
