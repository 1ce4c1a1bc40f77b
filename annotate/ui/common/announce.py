"""Lines for screen readers."""

from html import escape

import streamlit as st


def announce(text: str) -> None:
    """Have screen readers say the text once it appears on an open page. It takes no room (frame.css)."""
    st.html(f'<span class="announced">{escape(text)}</span>')
