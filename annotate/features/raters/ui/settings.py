"""The machine rater of a project on the page Settings: set up, asked, ended, resumed."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from allpairs.annotate.features.raters import project_raters as services
from allpairs.annotate.features.raters.project_raters import (
    RaterDetails,
    dry_run,
    rating_in_words,
    read_raters,
    what_leaves,
)
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.open_jobs import newest_progress
from allpairs.annotate.kit.jobs.requests import MOST_RATED, request_rating
from allpairs.annotate.kit.text.formatting import ago, literal, sentence
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import watch
from allpairs.annotate.kit.ui.model_form import model_form
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.projects.jobs import RATE
from allpairs.db.rating import RaterSetup

PAIRS_HELP = "Pairs that people answered, and pairs of the open batch; half of each, if there are enough."
USUAL_PAIRS = 100


def rater_settings(project_id: int) -> None:
    """Draw the rater in use and what can be done with it, and the form that sets one up."""
    st.subheader("Machine rater", anchor=False)
    st.write(
        "A language model that is asked whether pairs match. What it says is measured against people’s answers and "
        "kept apart from them, and nobody sees it while labelling. It trains nothing and chooses nothing, unless "
        "“Verdicts of the machine rater” in the group “Batches” says so."
    )
    raters = read_raters(engine(), project_id)
    rater = raters[0] if raters and raters[0].in_use else None
    if rater is not None:
        with st.container(border=True, key="rater_in_use"):
            _in_use(project_id, rater)
    if earlier := [rater for rater in raters if not rater.in_use]:
        rated = ", ".join(f"{literal(rater.setup.name)} ({counted(rater.pairs, 'pair')})" for rater in earlier)
        st.caption(f"Ended: {rated}. Their verdicts stay in the record.")
    if may(Right.INSTALL):
        _form(project_id, rater, f"rater_{project_id}_{len(raters)}_{rater is not None}")
    else:
        st.caption("An administrator of the installation sets it up, because texts and a key leave the machine.")


def _in_use(project_id: int, rater: RaterDetails) -> None:
    setup = rater.setup
    source = setup.function or f"{setup.model}, {setup.url}"
    st.markdown(f"**{literal(setup.name)}** · {literal(source)}")
    budget = f" of {setup.budget:,.2f}" if setup.budget else ""
    st.caption(f"Set up {ago(rater.at)}. {counted(rater.pairs, 'pair')} rated, cost {rater.cost:,.2f}{budget}.")
    if rater.paused_at is not None:
        st.warning(literal(f"Paused: {rater.paused_why}."), icon=":material/pause:")
        st.button(
            "Resume",
            key="rater_resume",
            icon=":material/play_arrow:",
            on_click=_clicked,
            args=(services.resume, project_id),
        )
    st.caption(literal(what_leaves(setup)))
    watch(partial(newest_progress, engine(), project_id, RATE), "Asking: ", partial(_ask, project_id, rater))
    with st.popover("End", icon=":material/stop:", key="rater_end"):
        st.write("It is asked nothing more. Its verdicts stay in the record.")
        args = (services.retire_rater, project_id)
        st.button("End the machine rater", key="rater_ended", on_click=_clicked, args=args)


def _ask(project_id: int, rater: RaterDetails) -> None:
    """Draw how many pairs to ask about, what that takes, and the button that asks."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pairs = st.number_input("Pairs", 1, MOST_RATED, USUAL_PAIRS, key="rater_pairs", width=160, help=PAIRS_HELP)
        estimates = st.button("Estimate", key="rater_estimate", icon=":material/calculate:")
        paused = rater.paused_at is not None
        asks = st.button("Ask", key="rater_ask", type="primary", icon=":material/smart_toy:", disabled=paused)
    if estimates:
        st.info(sentence(rating_in_words(dry_run(engine(), project_id, pairs))), icon=":material/calculate:")
    if asks and _act(partial(request_rating, engine(), project_id, pairs)):
        st.rerun()


def _form(project_id: int, rater: RaterDetails | None, key: str) -> None:
    """Draw the form that sets a rater up, filled with the setup in use. key: what the keys of its fields begin with."""
    title = "Set up a machine rater" if rater is None else "Change the setup"
    with st.expander(title, key="rater_form"):
        if rater is not None:
            st.caption("A changed setup is a new rater: it is asked about each pair again, and its budget is new.")
        setup = RaterSetup(name="Local model") if rater is None else rater.setup
        values = model_form(RaterSetup, key, ["kind"], setup)
        saves = st.button("Save the machine rater", key="rater_save", icon=":material/save:")
    if saves and _act(lambda: services.set_up(engine(), project_id, services.checked_setup(values))):
        st.rerun()


def _act(act: Callable[[], object]) -> bool:
    """Do something with the rater and return True, or say why it cannot be done."""
    with told():
        act()
        return True
    return False


def _clicked(act: Callable[..., None], project_id: int) -> None:
    """Do something with the rater, or say why it cannot be done."""
    with told(st.toast):  # ended in another browser, meanwhile
        act(engine(), project_id)
