"""The machine rater of a project on the page Settings: set up, asked, ended, resumed."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from allpairs.annotate.features.raters import rater_setup as services
from allpairs.annotate.features.raters.rater_state import RaterState, dry_run, in_words, read_raters, what_leaves
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.job_progress import job_progress
from allpairs.annotate.kit.jobs.requests import MOST_RATED, request_rating
from allpairs.annotate.kit.text.formatting import ago, literal, sentence
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.drafts import DRAFT
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.fields import help_of, in_rows
from allpairs.annotate.kit.ui.job_watch import watch
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.domain import RaterSetup
from allpairs.db.projects.jobs import RATE

TITLES = {
    "name": "Name",
    "url": "Address",
    "model": "Model",
    "key_name": "Variable with the key",
    "function": "Python function, in place of an endpoint",
    "samples": "Answers for each pair",
    "examples": "Examples in the prompt",
    "price_in": "Price of a million tokens of the prompt",
    "price_out": "Price of a million tokens of the answer",
    "budget": "Budget",
    "pairs_a_minute": "Maximum pairs a minute",
    "least_accuracy": "Pause below this accuracy",
}
WHICH = "Pairs that people answered, and pairs of the open batch; half of each, if there are enough."
USUAL = 100  # pairs to ask about


def rater(project_id: int) -> None:
    """Draw the rater in use and what can be done with it, and the form that sets one up."""
    st.subheader("Machine rater", anchor=False)
    st.write(
        "A language model that is asked whether pairs match. What it says is measured against people’s answers and "
        "kept apart from them, and nobody sees it while labelling. It trains nothing and chooses nothing, unless "
        "“Verdicts of the machine rater” in the group “Batches” says so."
    )
    found = read_raters(engine(), project_id)
    in_use = found[0] if found and found[0].in_use else None
    if in_use is not None:
        with st.container(border=True, key="rater_in_use"):
            _in_use(project_id, in_use)
    if earlier := [one for one in found if not one.in_use]:
        rated = ", ".join(f"{literal(one.setup.name)} ({counted(one.spent.pairs, 'pair')})" for one in earlier)
        st.caption(f"Ended: {rated}. Their verdicts stay in the record.")
    if may(Right.INSTALL):
        _form(project_id, in_use, f"rater_{project_id}_{len(found)}_{in_use is not None}")
    else:
        st.caption("An administrator of the installation sets it up, because texts and a key leave the machine.")


def _in_use(project_id: int, one: RaterState) -> None:
    setup = one.setup
    spent = one.spent
    where = setup.function or f"{setup.model}, {setup.url}"
    st.markdown(f"**{literal(setup.name)}** · {literal(where)}")
    budget = f" of {setup.budget:,.2f}" if setup.budget else ""
    st.caption(f"Set up {ago(one.row.at)}. {counted(spent.pairs, 'pair')} rated, cost {spent.cost:,.2f}{budget}.")
    if one.row.paused_at is not None:
        st.warning(literal(f"Paused: {one.row.paused_why}."), icon=":material/pause:")
        st.button(
            "Resume",
            key="rater_resume",
            icon=":material/play_arrow:",
            on_click=_clicked,
            args=(services.resume, project_id),
        )
    st.caption(literal(what_leaves(setup)))
    watch(partial(job_progress, engine(), project_id, RATE), "Asking: ", partial(_ask, project_id, one))
    with st.popover("End", icon=":material/stop:", key="rater_end"):
        st.write("It is asked nothing more. Its verdicts stay in the record.")
        st.button("End the machine rater", key="rater_ended", on_click=_clicked, args=(services.end, project_id))


def _ask(project_id: int, one: RaterState) -> None:
    """Draw how many pairs to ask about, what that takes, and the button that asks."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        most = st.number_input("Pairs", 1, MOST_RATED, USUAL, key="rater_pairs", width=160, help=WHICH)
        looks = st.button("Estimate", key="rater_estimate", icon=":material/calculate:")
        paused = one.row.paused_at is not None
        asks = st.button("Ask", key="rater_ask", type="primary", icon=":material/smart_toy:", disabled=paused)
    if looks:
        st.info(sentence(in_words(dry_run(engine(), project_id, most))), icon=":material/calculate:")
    if asks and _act(request_rating, project_id, most):
        st.rerun()


def _form(project_id: int, in_use: RaterState | None, key: str) -> None:
    """Draw the form that sets a rater up, filled with the setup in use. key: what the keys of its fields begin with."""
    title = "Set up a machine rater" if in_use is None else "Change the setup"
    with st.expander(title, key="rater_form"):
        if in_use is not None:
            st.caption("A changed setup is a new rater: it is asked about each pair again, and its budget is new.")
        initial = in_use.setup.model_dump() if in_use else RaterSetup(name="Local model").model_dump()
        entered = in_rows(list(TITLES), lambda name: _field(f"{key}_{name}", name, initial[name]), align="top")
        asked = st.button("Save the machine rater", key="rater_save", icon=":material/save:")
    if asked and _act(lambda at, of: services.set_up(at, of, services.checked_setup(entered)), project_id):
        st.rerun()


def _field(key: str, name: str, initial: Any) -> Any:
    common: dict[str, Any] = {"key": key, "help": help_of(RaterSetup.model_fields[name]), "persist_state": DRAFT}
    if isinstance(initial, str):
        return st.text_input(TITLES[name], initial, **common)
    step, form = (1, None) if isinstance(initial, int) else (0.05, "%.2f")
    return st.number_input(TITLES[name], value=initial, step=step, format=form, **common)


def _act(act: Callable[..., object], project_id: int, *more: object) -> bool:
    """Do something with the rater and return True, or say why it cannot be done."""
    with told():
        act(engine(), project_id, *more)
        return True
    return False


def _clicked(act: Callable[..., None], project_id: int) -> None:
    """Do something with the rater, or say why it cannot be done."""
    with told(st.toast):  # ended in another browser, meanwhile
        act(engine(), project_id)
