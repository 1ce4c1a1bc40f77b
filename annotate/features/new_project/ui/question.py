"""The second step of a new project: the task, the question and the guidelines."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from allpairs.annotate.features.new_project.templates import TEMPLATES, fitting
from allpairs.annotate.features.new_project.ui.contents import propose
from allpairs.annotate.features.new_project.ui.files import ChosenFiles
from allpairs.annotate.features.settings.ui.form import question_form

USUAL = next(iter(TEMPLATES))
FIELDS = ("question", "guidelines")
LONGEST = 2_000  # characters of guidelines that the address keeps for a reload: proxies refuse long addresses


def ask_question(files: ChosenFiles, key: str) -> dict[str, Any]:
    """Draw the choice of a template, question and guidelines; return what was entered."""
    _follow(files)
    chosen = st.radio(
        "Template",
        list(TEMPLATES),
        format_func=lambda name: TEMPLATES[name].title,
        key="new_task",
        captions=[template.description for template in TEMPLATES.values()],
        horizontal=True,
        bind="query-params",
    )
    template = {name: getattr(TEMPLATES[chosen], name) for name in FIELDS}
    for name in FIELDS:
        propose(f"{key}_{name}", template[name], [getattr(template, name) for template in TEMPLATES.values()])
    options = {"bind": "query-params"}
    short = len(st.session_state.get(f"{key}_guidelines", "")) <= LONGEST
    entered = question_form(template, key, question=options, guidelines=options if short else {})
    if entered != template:
        st.button(
            "Use the template's text",
            key="use_template",
            icon=":material/undo:",
            on_click=_use,
            args=(key, template),
            help="Replaces question and guidelines.",
        )
    with st.expander("How annotators will read the guidelines", key="guidelines_preview"):
        st.markdown(entered["guidelines"])
    return entered


def _follow(files: ChosenFiles) -> None:
    """Choose the template that fits the files, unless a person chose another one than was proposed before."""
    fits = USUAL
    if files.lists:
        left, *right = files.lists
        fits = fitting(left.columns, right[0].columns, left.texts, right[0].texts) if right else fitting(left.columns)
    before = st.session_state.get("task_proposed", USUAL)
    if fits != before and st.session_state.get("new_task", USUAL) == before:
        st.session_state["new_task"] = fits
    st.session_state["task_proposed"] = fits


def _use(key: str, template: Mapping[str, str]) -> None:
    for name, text in template.items():
        st.session_state[f"{key}_{name}"] = text
