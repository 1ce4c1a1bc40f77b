"""Long lists, a page at a time: each row costs the browser and the server time."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

PAGE = 20  # rows
T = TypeVar("T")


def search_names(rows: Sequence[T], name_of: Callable[[T], str], key: str) -> Sequence[T]:
    """Draw a search where there are several pages; return the rows whose name contains what was typed."""
    if len(rows) <= PAGE:
        return rows
    typed = st.text_input("Search", key=f"{key}_search", placeholder="Part of a name", icon=":material/search:")
    matching = [row for row in rows if typed.strip().casefold() in name_of(row).casefold()]
    st.caption(f"{len(matching):,} of {len(rows):,}")
    return matching


def draw_page(rows: Sequence[T], draw: Callable[[T], object], key: str) -> None:
    """Draw the rows of the chosen page, and the choice of a page where there are several."""
    pages = max(1, -(-len(rows) // PAGE))
    number = st.session_state[key] = min(st.session_state.get(key, 1), pages)
    for row in rows[(number - 1) * PAGE : number * PAGE]:
        draw(row)
    if pages > 1:
        st.pagination(pages, key=key)
