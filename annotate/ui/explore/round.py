"""The choice of the round to explore, and its preparation, which the other views of the page Explore need."""

from functools import partial

import streamlit as st

from allpairs.annotate.explore import prepared
from allpairs.annotate.explore.prepared import Round
from allpairs.annotate.monitor.rounds import round_name
from allpairs.annotate.text.formatting import duration, literal
from allpairs.annotate.text.measures import counted
from allpairs.annotate.ui.common.job_watch import watch
from allpairs.annotate.ui.state import engine
from allpairs.db.errors import InputError


def choose_round(project_id: int, rounds: list[Round], label: str = "Round", key: str = "explore_round") -> Round:
    """Draw the choice of a round, the newest by default, and return it."""
    by_number = {one.matcher.number: one for one in rounds}
    number = st.selectbox(
        label, list(by_number), format_func=round_name, key=f"{key}_{project_id}", persist_state="session"
    )
    return by_number[number]


def preparation(project_id: int, chosen: Round) -> None:
    """Draw what is prepared of the round, the button that prepares it, and the progress."""
    watch(partial(prepared.work, engine(), project_id), "Preparing: ", partial(offer, project_id, chosen))


def offer(project_id: int, chosen: Round) -> None:
    """Draw the button that prepares the round, and what to know before pressing it."""
    name = round_name(chosen.matcher.number)
    with st.container(horizontal=True, vertical_alignment="center"):
        title, kind = (f"Prepare {name[0].lower()}{name[1:]}", "primary")
        if chosen.exploration:
            title, kind = ("Prepare again", "tertiary")
        asked = st.button(title, key=f"prepare_{chosen.matcher.number}", icon=":material/manage_search:", type=kind)  # type: ignore[arg-type]
        st.caption(_prepared(project_id, chosen) if chosen.exploration else f"Nothing is prepared yet. {cost(chosen)}")
    if not asked:
        return
    try:
        prepared.ask(engine(), project_id, chosen.matcher.number)
    except InputError as problem:
        st.warning(literal(str(problem)))
    else:
        st.rerun()


def _prepared(project_id: int, chosen: Round) -> str:
    """Return what is prepared, and what has changed since, in words."""
    found = chosen.exploration
    assert found is not None
    whole = found.kept == found.pairs
    what = f"All {found.pairs:,} pairs" if whole else f"The best {found.kept:,} of {found.pairs:,} pairs"
    since = prepared.answers_since(engine(), project_id, found)
    news = f" {counted(since, 'answer')} came later. Prepare again to include them in the mistakes." if since else ""
    return f"{what} and {counted(found.known, 'known pair')} are prepared (it took {_time(found.seconds)}).{news}"


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 1 else "less than a second"


def cost(chosen: Round) -> str:
    """Return what preparing or searching the round takes, in words."""
    seconds = chosen.matcher.details.get("seconds", {}).get("encode")
    if prepared.vectors_are_kept(chosen.matcher):
        return "The vectors of this round are stored, so only the pairs are searched."
    took = f" The first time took {_time(seconds)}." if seconds else ""
    which = "its model" if chosen.matcher.folder else "the pre-trained encoder, unless its vectors are stored"
    return f"All texts are encoded again with {which}.{took}"
