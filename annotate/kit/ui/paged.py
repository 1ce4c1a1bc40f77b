"""Long lists, a page at a time: each row costs the browser and the server time."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import streamlit as st

PAGE = 20  # rows
T = TypeVar("T")


class Counted(Protocol):
    """Some rows, and how many there are."""

    @property
    def total(self) -> int: ...


CountedT = TypeVar("CountedT", bound=Counted)


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
    first = PAGE * (_shown_page(key, len(rows)) - 1)
    for row in rows[first : first + PAGE]:
        draw(row)
    choose_page(len(rows), key)


def read_page(read: Callable[[int], CountedT], key: str) -> CountedT:
    """Return the rows of the chosen page, or of the last one if there are fewer pages by now.

    read: reads the rows of a page from this one on, and how many rows there are.
    """
    number = st.session_state.get(key, 1)
    rows = read(PAGE * (number - 1))
    last = _shown_page(key, rows.total)
    return rows if last == number else read(PAGE * (last - 1))


def choose_page(total: int, key: str) -> None:
    """Draw the choice of a page of so many rows, where there are several."""
    if total > PAGE:
        st.pagination(_pages(total), key=key)


def _shown_page(key: str, total: int) -> int:
    number: int = min(st.session_state.get(key, 1), _pages(total))
    st.session_state[key] = number
    return number


def _pages(total: int) -> int:
    return max(1, -(-total // PAGE))
