"""Runs of pipelines and experiments: those that are running, and the choice of one that has ended."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

import streamlit as st

from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.job_status import EVERY
from allpairs.db.projects.jobs import OPEN


class Work(Protocol):
    """A run or an experiment."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def at(self) -> datetime:
        """When it was requested."""
        ...


W = TypeVar("W", bound=Work)


def running(found: Sequence[W], read: Callable[[], Sequence[W]], standing: Callable[[W], None]) -> None:
    """Draw every one that is running and keep it up to date; redraw the page when one has ended.

    read: returns all anew; standing: draws the progress of one.
    """
    at_work = {one.id for one in found if one.state in OPEN}
    st.fragment(_running, run_every=EVERY if at_work else None)(read, standing, at_work)


def _running(read: Callable[[], Sequence[W]], standing: Callable[[W], None], at_work: set[str]) -> None:
    found = [one for one in read() if one.state in OPEN]
    if {one.id for one in found} != at_work:
        st.rerun()
    for one in found:
        with st.container(border=True):
            st.markdown(f"**{literal(one.name)}**")
            standing(one)


def chosen(found: Sequence[W], key: str) -> W | None:
    """Draw the choice of one that has ended, the newest by default, and return it; None if none has ended.

    found: the newest first.
    """
    ended = {one.id: one for one in found if one.state not in OPEN}
    if not ended:
        return None
    newest = next(iter(ended))  # in the key, so that a new one is selected when it ends
    titles = {one.id: f"{one.name}, {one.at:%d %b %H:%M}" for one in ended.values()}
    return ended[st.selectbox("Results of", list(ended), format_func=titles.__getitem__, key=f"{key}_{newest}")]
