"""A project's newest batch and its next step, for the sidebar and the page Overview."""

from collections.abc import Set

import streamlit as st

from allpairs.annotate.features.projects.next_step import NextStep, Standing
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.ui.job_status import KINDS, progress_in_words, share_done
from allpairs.annotate.kit.ui.language import _, localized_number, words

TEXTS = (
    (
        later("Label"),
        later(
            "Decide for each pair whether it matches. "
            "By default the model chooses those that it is least certain about."
        ),
    ),
    (
        later("Train"),
        later("The model trains on all answers so far and chooses the next batch: by default when one is complete."),
    ),
    (
        later("Measure"),
        later("The page Monitor estimates precision and recall over all pairs, not only over the labelled ones."),
    ),
    (later("Export"), later("The page Export gives you the matches and the labels, the page Monitor the model.")),
)


def steps(standing: Standing) -> None:
    """Draw the steps side by side. The last one is never ticked: exporting leaves no trace."""
    are_done = (
        bool(standing.rounds) or standing.batch.complete,
        bool(standing.rounds),
        bool(standing.rounds) and standing.measured,
        False,
    )
    columns = st.columns(len(TEXTS))
    for position, (column, (title, text), is_done) in enumerate(zip(columns, TEXTS, are_done, strict=True), 1):
        mark = ":green[:material/check_circle:]" if is_done else f"{position}"
        with column.container(border=True, height="stretch"):
            st.markdown(f"**{mark} {_(title)}**")
            st.caption(_(text))


ICON = ":material/arrow_forward:"


def batch_bar(standing: Standing) -> None:
    """Draw the progress of the newest batch, or of the job that prepares the first one."""
    batch = standing.batch
    job = standing.running
    if batch.number:
        st.progress(min(1.0, batch.answered / batch.size) if batch.size else 1.0, batch_in_words(standing))
    elif job is not None:
        progress = _("First batch: {progress}", progress=progress_in_words(job, words()))
        st.progress(share_done(job), progress)


def batch_in_words(standing: Standing) -> str:
    """Return how many pairs of the newest batch are answered."""
    batch = standing.batch
    counts = {
        "number": batch.number,
        "answered": localized_number(batch.answered),
        "size": localized_number(batch.size),
    }
    if batch.extra:
        return _("Batch {number}: {answered} of {size} answered + {n} extra", n=localized_number(batch.extra), **counts)
    return _("Batch {number}: {answered} of {size} answered", **counts)


def job_in_words(standing: Standing) -> str:
    """Return what runs now, and how long it will take; empty where nothing runs."""
    job = standing.running
    return f"{_(KINDS.get(job.kind, job.kind))}: {progress_in_words(job, words())}" if job is not None else ""


def step_link(step: NextStep, visible_pages: Set[str]) -> None:
    """Draw the link to the page of the next step, unless it is a page that the person does not see."""
    if step.act and step.page in visible_pages:
        st.page_link(f"../pages/{step.page}.py", label=step.act, icon=ICON)
