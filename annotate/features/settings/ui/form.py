"""The form of a project's settings: a widget for each field of `Settings`, what it does, and its errors in words."""

from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st
from pydantic import ValidationError
from streamlit.delta_generator import DeltaGenerator

from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.drafts import DRAFT
from allpairs.annotate.kit.ui.fields import help_of, in_rows, problem_line, value_in_words, widget
from allpairs.db.domain import PAPER_SETTINGS, Settings
from allpairs.learner.light.catalog import STRATEGIES

GROUPS: dict[str, dict[str, str]] = {
    "Question": {"question": "Question", "guidelines": "Guidelines"},
    "Annotators": {
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
        "first_batch": "Pairs before the first training",
        "growth": "Growth",
        "growth_kind": "Kind of growth",
        "neighbours": "Neighbours per text",
        "search": "Neighbour search",
        "auto_train": "Train when a batch is complete",
        "keep_groups": "Keep groups up to date",
        "per_text": "Maximum pairs per text",
        "control_share": "Share drawn at random",
        "rater_use": "Verdicts of the machine rater",
    },
    "Evaluation": {
        "evaluation_share": "Share of evaluation texts",
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
        "second_stage": "Second stage",
        "implied": "Train on implied pairs",
    },
}
LABELS = {name: label for group in GROUPS.values() for name, label in group.items()}
ADVANCED = {  # the groups that start folded, and what each is about
    "Annotators": "several people on a pair, hidden tests, warnings",
    "Batches": "which pairs are chosen, how many, and when to train",
    "Evaluation": "what is kept for measuring, and the target",
    "Training": "the encoder, and how it learns",
}
STEPS = {"growth": 0.1}


def follow_others(stored: Mapping[str, Any], key: str) -> None:
    """Show what others have stored since the form was drawn, in the fields that were not edited here."""
    drawn = st.session_state.get(f"{key}_drawn", stored)
    for name, value in stored.items():
        field = f"{key}_{name}"
        before = _as_typed(name, drawn[name])
        if value != drawn[name] and field in st.session_state and st.session_state[field] == before:
            st.session_state[field] = _as_typed(name, value)
    st.session_state[f"{key}_drawn"] = stored


def question_form(values: Mapping[str, Any], key: str = "settings", **more: Any) -> dict[str, Any]:
    """Draw question and guidelines; return what was entered. more: options of both widgets, by the field's name."""
    question = st.text_input(
        LABELS["question"], values["question"], key=f"{key}_question", persist_state=DRAFT, **more.get("question", {})
    )
    _below("question", question, default=False)
    guidelines = st.text_area(
        LABELS["guidelines"],
        values["guidelines"],
        height=220,
        key=f"{key}_guidelines",
        persist_state=DRAFT,
        **more.get("guidelines", {}),
    )
    _below("guidelines", guidelines, default=False)
    return {"question": question, "guidelines": guidelines}


def advanced_form(
    values: Mapping[str, Any],
    key: str = "settings",
    fixed: Collection[str] = (),
    places: dict[str, DeltaGenerator] | None = None,
) -> dict[str, Any]:
    """Draw all other fields in folded groups; return the entered values by field, unchecked (see `setting_problems`).

    `values` fill the form when it is first drawn; `fixed` fields are shown but cannot be changed. `places` receives a
    container below each group, by the group's name, for elements that need all entered values. The form has a button
    of its own, so it cannot be inside an `st.form`.
    """
    entered: dict[str, Any] = {}
    st.subheader("Advanced", anchor=False)
    st.caption("The defaults suit most projects. Each field says what it does.")
    for group, description in ADVANCED.items():
        with st.expander(f"**{group}**: {description}", key=f"{key}_{group}"):
            if group == "Batches":
                _paper_button(key)
            entered |= _group({name: _as_typed(name, values[name]) for name in GROUPS[group]}, key, fixed)
            if places is not None:
                places[group] = st.container()
    return entered


def setting_problems(values: Mapping[str, Any]) -> list[str]:
    """Return one line for each field whose value is invalid, in the order of the form."""
    try:
        Settings.model_validate(values)
    except ValidationError as error:
        lines = {
            str(detail["loc"][0]): problem_line(LABELS.get(str(detail["loc"][0]), str(detail["loc"][0])), detail)
            for detail in error.errors()
        }
        return [lines[name] for name in (*LABELS, *lines.keys() - LABELS.keys()) if name in lines]
    return []


def shown_value(name: str, value: Any) -> str:
    """Return the value of a setting in words."""
    return STRATEGIES[value].title if name == "strategy" and value in STRATEGIES else value_in_words(value)


def _paper_button(key: str) -> None:
    values = ", ".join(f"{LABELS[name].lower()} {value}" for name, value in PAPER_SETTINGS.items())
    st.button(
        "Use the paper's values",
        key=f"{key}_paper",
        icon=":material/menu_book:",
        on_click=fill_form,
        args=(key, PAPER_SETTINGS),
        help=f"Mussmann, Jia and Liang (2020), Quora: {values}.",
    )


def fill_form(key: str, values: Mapping[str, Any]) -> None:
    """Enter these values into the form."""
    for name, value in values.items():
        st.session_state[f"{key}_{name}"] = _as_typed(name, value)


def _group(initial: dict[str, Any], key: str, fixed: Collection[str]) -> dict[str, Any]:
    def draw(name: str) -> Any:
        value = _widget(name, f"{key}_{name}", name in fixed, initial[name])
        _below(name, value)
        return value

    wide = {name: draw(name) for name in initial if name == "strategy"}
    return wide | in_rows([name for name in initial if name not in wide], draw, "top")


def _widget(name: str, key: str, disabled: bool, initial: Any) -> Any:
    """Draw the field's widget, chosen by the field's type, and return its value."""
    common: dict[str, Any] = {"key": key, "disabled": disabled, "persist_state": DRAFT}
    if name == "strategy":
        return _strategy(common, initial)
    return widget(LABELS[name], Settings.model_fields[name], initial, STEPS.get(name), **common)


def _below(name: str, value: Any, default: bool = True) -> None:
    """Draw what the field does, its default, and what is wrong with its value."""
    field = Settings.model_fields[name]
    st.caption(literal(help_of(field, shown_value(name, field.default) if default else "")))
    for line in setting_problems({name: value}):
        st.error(literal(line))


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
