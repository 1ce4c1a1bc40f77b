"""The style of a printed page."""

from pathlib import Path

import streamlit as st

STYLE, DARK = Path(__file__).with_name("paper.css"), Path(__file__).with_name("paper_dark.css")


def print_style() -> None:
    """Style the printed page: no sidebar, no buttons, plots that fit, and dark text."""
    st.html(STYLE)
    if st.context.theme.type == "dark":
        st.html(DARK)
