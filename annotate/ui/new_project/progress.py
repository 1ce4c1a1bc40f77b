"""A bar for work that the page itself does."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from allpairs.annotate.kit.text.formatting import literal
from allpairs.db.progress import Progress


@contextmanager
def progress_bar(first: str) -> Iterator[Progress]:
    """Yield a progress function that draws a bar; remove the bar at the end. first: what is said at the start."""
    bar = st.progress(0.0, first)

    def show(stage: str, done: float) -> None:
        bar.progress(done, f"{literal(stage[0].upper() + stage[1:])} …")

    yield show
    bar.empty()
