"""The form of a project's settings: one widget for each field of `Settings`, and its errors in words."""

from collections.abc import Collection
from typing import Any

import streamlit as st
from pydantic import ValidationError
from streamlit.delta_generator import DeltaGenerator

from allpairs.annotate.text.formatting import literal
from allpairs.annotate.ui.common.fields import help_of, in_rows, problem_line, widget
from allpairs.db.domain import PAPER_SETTINGS, Settings
from allpairs.learner.catalog import STRATEGIES

GROUPS: dict[str, dict[str, str]] = {
    "Annotators": {
        "question": "Question",
        "guidelines": "Guidelines",
        "overlap": "Share with multiple annotators",
        "votes": "Annotators per shared pair",
        "double_check": "Double-check matches",
        "gold_share": "Hidden test pairs",
        "repeat_share": "Repeated pairs",
        "fast_answers": "Fast identical answers before a warning",
    },
    "Batches": {
        "strategy": "Strategy",
        "first": "First batch",
        "growth": "Growth",
        "growth_kind": "Kind of growth",
        "neighbours": "Neighbours per text",
        "search": "Neighbour search",
        "auto_train": "Train when a batch is complete",
        "per_text": "Maximum pairs per text",
        "per_neighbourhood": "Maximum pairs per neighbourhood",
        "control_share": "Share drawn at random",
        "reranker": "Re-ranker of batches",
        "batch_order": "Re-ranker order",
    },
    "Evaluation": {
        "evaluation_share": "Share of evaluation items",
        "audit_every": "Pairs per audit pair",
        "target_precision": "Target precision",
    },
    "Training": {
        "encoder": "Encoder",
        "epochs": "Epochs",
        "learning_rate": "Learning rate",
        "batch_size": "Pairs per training step",
        "group_pairs": "Group pairs that share a text",
        "initialization": "Initial output layer",
        "seed": "Seed",
        "warm_start": "Continue from the last round",
        "batch_norm": "Batch norm before the output layer",
        "hubness": "Hubness correction",
        "lexical": "Use lexical features",
        "implied": "Train on implied pairs",
    },
}
LABELS = {name: label for group in GROUPS.values() for name, label in group.items()}
WIDE = {"question", "guidelines", "strategy"}
STEPS = {"growth": 0.1}


def settings_form(
    values: dict[str, Any],
    key: str = "settings",
    fixed: Collection[str] = (),
    places: dict[str, DeltaGenerator] | None = None,
) -> dict[str, Any]:
    """Draw the form and return the entered values by field, unchecked (see `problems`).

    `values` fill the form when it is first drawn; `fixed` fields are shown but cannot be changed. `places` receives a
    container below each group, by the group's name, for elements that need all entered values. The form has a button
    of its own, so it cannot be inside an `st.form`.
    """
    initial = Settings.model_validate({}).model_dump() | values
    entered: dict[str, Any] = {}
    for group, fields in GROUPS.items():
        st.subheader(group, anchor=False)
        if group == "Batches":
            _paper_button(key)
        entered |= _group({name: _as_typed(name, initial[name]) for name in fields}, key, fixed)
        if places is not None:
            places[group] = st.container()
    return entered


def problems(values: dict[str, Any]) -> list[str]:
    """Return one line for each field whose value is invalid, in the order of the form."""
    try:
        Settings.model_validate(values)
    except ValidationError as error:
        lines = {str(found["loc"][0]): problem_line(LABELS.get(str(found["loc"][0]), str(found["loc"][0])), found)
                 for found in error.errors()}  # fmt: skip
        return [lines[name] for name in (*LABELS, *lines.keys() - LABELS.keys()) if name in lines]
    return []


def _paper_button(key: str) -> None:
    values = ", ".join(f"{LABELS[name].lower()} {value}" for name, value in PAPER_SETTINGS.items())
    st.button(
        "Use the paper's values",
        key=f"{key}_paper",
        icon=":material/menu_book:",
        on_click=_use_paper_values,
        args=(key,),
        help=f"Mussmann, Jia and Liang (2020), Quora: {values}.",
    )


def _use_paper_values(key: str) -> None:
    for name, value in PAPER_SETTINGS.items():
        st.session_state[f"{key}_{name}"] = _as_typed(name, value)


def _group(initial: dict[str, Any], key: str, fixed: Collection[str]) -> dict[str, Any]:
    def draw(name: str) -> Any:
        return _widget(name, f"{key}_{name}", name in fixed, initial[name])

    entered = {name: draw(name) for name in initial if name in WIDE}
    return entered | in_rows([name for name in initial if name not in WIDE], draw)


def _widget(name: str, key: str, disabled: bool, initial: Any) -> Any:
    """Draw the field's widget, chosen by the field's type, and return its value."""
    field = Settings.model_fields[name]
    common: dict[str, Any] = {"key": key, "help": help_of(field), "disabled": disabled}
    if name == "guidelines":
        return st.text_area(LABELS[name], initial, height=160, **common)
    if name == "strategy":
        return _strategy(common, initial)
    return widget(LABELS[name], field, initial, STEPS.get(name), **common)


def _strategy(common: dict[str, Any], initial: str) -> str:
    """Draw the choice of a strategy, each explained in a line; return its name. Only live strategies are offered."""
    current = st.session_state.get(common["key"], initial)
    options = [name for name, entry in STRATEGIES.items() if entry.live or name == current]
    captions = [literal(STRATEGIES[name].description) for name in options]
    index = options.index(initial) if initial in options else 0
    return str(st.radio(LABELS["strategy"], options, index, format_func=_title, captions=captions, **common))


def _title(strategy: str) -> str:
    return STRATEGIES[strategy].title


def _as_typed(name: str, value: Any) -> Any:
    """Return the value in the type of its widget: a number from JSON may be whole where the field is not."""
    return float(value) if Settings.model_fields[name].annotation is float else value
