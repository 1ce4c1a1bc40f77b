"""The last step of a new project: what will be created, and the bar with the button that does it."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from allpairs.annotate.features.new_project.ui.contents import (
    known_in_words,
    page_progress,
    pairs_in_words,
    texts_in_words,
)
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.features.settings.ui.form import ADVANCED, GROUPS, LABELS, shown_value
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.state import engine
from allpairs.annotate.kit.uploads import Findings, Source, load
from allpairs.db.domain import Settings

NEXT = (
    "*Create* stores the texts and opens the page Label. There a job loads the encoder, turns every text into a "
    "vector, and picks the first pairs. A bar shows how far it is and, once the pace is known, how long it takes."
)


def summary(name: str, findings: Findings | None, entered: Mapping[str, Any]) -> None:
    """Draw what will be created."""
    contents = "no files yet"
    if findings is not None and not findings.problems:
        contents = f"{texts_in_words(findings)} ({pairs_in_words(findings)}), {known_in_words(findings)}"
    defaults = Settings.model_validate({})
    changed = [
        f"{LABELS[field]} {shown_value(field, entered[field])}"
        for group in ADVANCED
        for field in GROUPS[group]
        if entered[field] != getattr(defaults, field)
    ]
    lines = {
        "Name": name.strip() or "none yet",
        "Files": contents,
        "Question": entered["question"],
        "Guidelines": "written" if entered["guidelines"].strip() else "none",
        "Advanced settings": ", ".join(changed) or "all defaults",
    }
    st.subheader("Summary", anchor=False)
    st.markdown("\n".join(f"- **{title}**: {literal(words)}" for title, words in lines.items()))
    st.caption(NEXT)


def bar(step: str, steps: Sequence[str], missing: Sequence[str], ready: str) -> bool:
    """Draw the bar that stays in view; return whether *Create* was pressed. ready: what is said if nothing is missing.

    step: the key of the tabs, which *Back* and *Next* change.
    """
    place = steps.index(st.session_state[step])
    with st.container(horizontal=True, vertical_alignment="center", key="create_bar"):
        st.caption(literal(_first_of(missing)) if missing else ready, width="stretch")
        with st.container(horizontal=True, width="content"):  # on a phone, below the line
            for words, way in (("Back", -1), ("Next", 1)):
                goal_place = place + way
                possible = 0 <= goal_place < len(steps)
                goal = steps[goal_place] if possible else ""
                st.button(words, key=f"step_{words}", disabled=not possible, on_click=_go, args=(step, goal))
            return st.button("Create", key="create", type="primary", icon=":material/add:", disabled=bool(missing))


def _first_of(missing: Sequence[str]) -> str:
    return missing[0] + (f" And {len(missing) - 1} more." if len(missing) > 1 else "")


def _go(step: str, goal: str) -> None:
    st.session_state[step] = goal


def create(name: str, source: Source, entered: Mapping[str, Any]) -> None:
    """Create the project and open its first pairs, with a bar; or draw what is wrong."""
    with told():
        with page_progress("Reading the files …") as progress:
            corpus = load(source, progress)
            project_id = create_project(engine(), name, corpus, Settings.model_validate(entered), progress)
            request_round(engine(), project_id)
        st.session_state["project"] = name.strip()
        st.switch_page("../pages/label.py", query_params={"project": name.strip()})
