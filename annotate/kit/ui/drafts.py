"""What people type before it is stored: it stays in its fields while they look at other pages."""

from collections.abc import Mapping
from typing import Literal

import streamlit as st

DRAFT: Literal["session"] = "session"  # `persist_state` of such a field
REFILLED = "refilled"  # in the session: what fields show when they are next drawn, by their keys


def refill(values: Mapping[str, object]) -> None:
    """Draw the page anew with these values in its fields, by their keys."""
    st.session_state[REFILLED] = values
    st.rerun()


def take_refill() -> None:
    """Fill the fields that are to be refilled; call this before they are drawn."""
    st.session_state.update(st.session_state.pop(REFILLED, {}))
