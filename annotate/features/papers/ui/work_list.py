"""Runs of pipelines and experiments: those that are running, and the choice of one that has ended."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

import streamlit as st

from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.job_status import UPDATE_SECONDS
from allpairs.db.projects.jobs import OPEN


class RunOrExperiment(Protocol):
    """A run or an experiment."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def time(self) -> datetime:
        """When it was requested."""
        ...


W = TypeVar("W", bound=RunOrExperiment)


def running(runs: Sequence[W], read: Callable[[], Sequence[W]], standing: Callable[[W], None]) -> None:
    """Draw all that are running and keep them up to date; redraw the page when one has ended.

    read: returns all anew; standing: draws the progress of one.
    """
    at_work = {run.id for run in runs if run.state in OPEN}
    st.fragment(_running, run_every=UPDATE_SECONDS if at_work else None)(read, standing, at_work)


def _running(read: Callable[[], Sequence[W]], standing: Callable[[W], None], at_work: set[str]) -> None:
    open_runs = [run for run in read() if run.state in OPEN]
    if {run.id for run in open_runs} != at_work:
        st.rerun()
    for run in open_runs:
        with st.container(border=True):
            st.markdown(f"**{literal(run.name)}**")
            standing(run)


def choose_ended(runs: Sequence[W], key: str) -> W | None:
    """Draw the choice of one that has ended, the newest by default, and return it; None if none has ended.

    runs: the newest first.
    """
    ended = {run.id: run for run in runs if run.state not in OPEN}
    if not ended:
        return None
    newest = next(iter(ended))  # in the key, so that a new one is selected when it ends
    titles = {run.id: f"{run.name}, {run.time:%d %b %H:%M}" for run in ended.values()}
    return ended[st.selectbox("Results of", list(ended), format_func=titles.__getitem__, key=f"{key}_{newest}")]
