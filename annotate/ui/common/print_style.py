"""How a page looks on paper."""

from pathlib import Path

import streamlit as st

STYLE, DARK = Path(__file__).with_name("paper.css"), Path(__file__).with_name("paper_dark.css")


def print_style() -> None:
    """Nothing; printed, the page has neither sidebar nor buttons, its plots fit, and all words are dark."""
    st.html(STYLE)
    if st.context.theme.type == "dark":
        st.html(DARK)
