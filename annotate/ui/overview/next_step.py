"""A project's newest batch and its next step, for the sidebar and the page Overview."""

from collections.abc import Set

import streamlit as st

from allpairs.annotate.kit.ui.job_status import KINDS, progress_in_words, share_done
from allpairs.annotate.kit.ui.language import _, number, words
from allpairs.annotate.projects.next_step import NextStep, Standing

ICON = ":material/arrow_forward:"


def batch_bar(found: Standing) -> None:
    """Draw the progress of the newest batch, or of the job that prepares the first one."""
    batch, job = found.batch, found.running
    if batch.number:
        st.progress(min(1.0, batch.answered / batch.size) if batch.size else 1.0, batch_in_words(found))
    elif job is not None:
        said = _("First batch: {progress}", progress=progress_in_words(job, words()))
        st.progress(share_done(job), said)


def batch_in_words(found: Standing) -> str:
    """Return how many pairs of the newest batch are answered."""
    batch = found.batch
    counts = {"number": batch.number, "answered": number(batch.answered), "size": number(batch.size)}
    if batch.extra:
        return _("Batch {number}: {answered} of {size} answered + {n} extra", n=number(batch.extra), **counts)
    return _("Batch {number}: {answered} of {size} answered", **counts)


def job_in_words(found: Standing) -> str:
    """Return what runs now, and how long it will take; empty where nothing runs."""
    job = found.running
    return f"{_(KINDS.get(job.kind, job.kind))}: {progress_in_words(job, words())}" if job is not None else ""


def step_link(step: NextStep, seen: Set[str]) -> None:
    """Draw the link to the page of the next step, unless it is a page that the person does not see."""
    if step.act and step.page in seen:
        st.page_link(f"../pages/{step.page}.py", label=step.act, icon=ICON)
