"""The choice of the round to explore, and its preparation, which starts by itself."""

from functools import partial

import streamlit as st

from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.kit.jobs import prepared
from allpairs.annotate.kit.jobs.prepared import ExploredRound
from allpairs.annotate.kit.text.formatting import duration
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import watch
from allpairs.annotate.kit.ui.state import engine

STARTED = "prepared_rounds"  # in the session: the matchers whose preparation this page has started by itself
LEFT = {"failed": "Try again", "cancelled": "Prepare it"}  # what to offer after a preparation that ended so


def choose_round(
    project_id: int, rounds: list[ExploredRound], label: str = "Round", key: str = "explore_round"
) -> ExploredRound:
    """Draw the choice of a round, the newest by default, and return it."""
    by_number = {round_.matcher.number: round_ for round_ in rounds}
    number = st.selectbox(
        label, list(by_number), format_func=round_name, key=f"{key}_{project_id}", persist_state="session"
    )
    return by_number[number]


def start_preparation(chosen: ExploredRound) -> None:
    """Start preparing the round if it is not prepared: once, and not after a preparation that failed."""
    started: set[int] = st.session_state.setdefault(STARTED, set())
    if chosen.matcher.id not in started and prepared.is_due(
        chosen, prepared.preparation_progress(engine(), chosen.matcher)
    ):
        started.add(chosen.matcher.id)
        _ask(chosen)


def preparation(project_id: int, chosen: ExploredRound) -> None:
    """Start preparing the round if that is due; draw the progress, then what is prepared or why nothing is."""
    start_preparation(chosen)
    watch(
        partial(prepared.preparation_progress, engine(), chosen.matcher),
        "Preparing: ",
        partial(_ended, project_id, chosen),
    )


def _ended(project_id: int, chosen: ExploredRound) -> None:
    """Draw what is prepared, and the button that prepares the round again if there is news, or at all if it failed."""
    exploration = chosen.exploration
    since = prepared.answers_since(engine(), project_id, exploration) if exploration else 0
    last = prepared.preparation_progress(engine(), chosen.matcher).job
    title = LEFT.get(last.state, "Prepare it") if last is not None and not exploration else "Prepare again"
    with st.container(horizontal=True, vertical_alignment="center"):
        if not exploration or since:
            st.button(
                title,
                key=f"prepare_{chosen.matcher.number}",
                icon=":material/manage_search:",
                on_click=_ask,
                args=(chosen,),
                type="tertiary" if exploration else "primary",
            )
        st.caption(_prepared(chosen, since) if exploration else f"This round is not prepared. {cost(chosen)}")


def _ask(chosen: ExploredRound) -> None:
    with told(st.toast):  # somebody else was faster, and the page shows the progress; or the project is gone
        prepared.request_exploration(engine(), chosen.matcher.project_id, chosen.matcher.number)


def _prepared(chosen: ExploredRound, since: int) -> str:
    """Return what is prepared, and what has changed since, in words."""
    exploration = chosen.exploration
    assert exploration is not None
    whole = exploration.kept == exploration.pairs
    pairs = f"{exploration.pairs:,} pairs"
    contents = f"All {pairs}" if whole else f"The best {exploration.kept:,} of {pairs}"
    news = f" {counted(since, 'answer')} came later. Prepare again to include them in the mistakes." if since else ""
    contents = f"{contents} and {counted(exploration.known, 'known pair')}"
    return f"{contents} are prepared (it took {_time(exploration.seconds)}).{news}"


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 1 else "less than a second"


def cost(chosen: ExploredRound) -> str:
    """Return what preparing or searching the round takes, in words."""
    seconds = chosen.matcher.details.get("seconds", {}).get("encode")
    if prepared.vectors_are_kept(chosen.matcher):
        return "The texts are encoded already, so this takes seconds."
    took = f" The first time took {_time(seconds)}." if seconds else ""
    model = "its model" if chosen.matcher.folder else "the pre-trained encoder, unless its vectors are stored"
    return f"All texts are encoded again with {model}.{took}"
