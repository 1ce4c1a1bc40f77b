"""A plot with its description for screen readers, and the table behind it."""

from typing import Any

import pandas as pd
import streamlit as st

from annotate.charts import Plot


def figure(chart: Plot, description: str) -> None:
    """Nothing; draws the chart as wide as the page."""
    st.altair_chart(chart, alt=description, width="stretch")


def table_behind(table: pd.DataFrame, name: str, columns: dict[str, Any] | None = None) -> None:
    """Nothing; draws the table of a plot, folded, with a download of the same rows. `name` names the file."""
    with st.expander("Table", icon=":material/table:"):
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
