"""Widgets for the fields of a pydantic model. The type decides the kind; description and bounds make the help."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from allpairs.annotate.kit.text.formatting import sentence

SMALL = 1e-3  # smaller numbers are written with an exponent
BOUNDS = {"Ge": "at least", "Gt": "more than", "Le": "at most", "Lt": "less than"}


def widget(label: str, field: FieldInfo, initial: Any, step: float | None = None, **common: Any) -> Any:
    """Draw the field's widget and return its value. common: key, help and the like; step: for numbers with decimals.

    A list of numbers or words is edited as text with commas, a list of phrases as text with a line for each. A dict of
    phrases has lines of `name = phrase`. An empty field gives None where the field allows it.
    """
    # Every run passes the initial value. Set in the session state, it would reach the browser in one run only; a click
    # further up the page can cut that run off, and the browser would then show zeros and send them back.
    kind, optional = _kind(field.annotation)
    if kind is bool:
        return st.toggle(label, initial, **common)
    if kind is int:
        return st.number_input(label, value=initial, step=1, **common)
    if kind is float:
        form, usual = ("%.1e", 1e-6) if 0 < abs(field.default or 0) < SMALL else ("%.2f", 0.05)
        value = None if initial is None else float(initial)
        return st.number_input(label, value=value, format=form, step=step or usual, **common)
    if get_origin(kind) is dict:
        text = st.text_area(label, "\n".join(f"{name} = {phrase}" for name, phrase in initial.items()), **common)
        return dict(_named(line) for line in _parts(text, "\n"))
    if get_origin(kind) is list:
        if any(" " in str(item) for item in initial):
            return _parts(st.text_area(label, "\n".join(initial), **common), "\n")
        return _parts(st.text_input(label, ", ".join(map(str, initial)), **common), ",")
    if options := get_args(kind):
        return st.selectbox(label, options, options.index(initial), **common)
    entered = st.text_input(label, initial or "", **common)
    return None if optional and not entered.strip() else entered


def _parts(text: str, between: str) -> list[str]:
    return [part.strip() for part in text.split(between) if part.strip()]


def _named(line: str) -> tuple[str, str | None]:
    """Return the name and its phrase. Without `=` the phrase is None, which every model refuses."""
    name, sign, phrase = (part.strip() for part in line.partition("="))
    return name, phrase if sign else None


def _kind(annotation: Any) -> tuple[Any, bool]:
    """Return the type of the values, and whether None is allowed."""
    parts = get_args(annotation)
    if type(None) not in parts:
        return annotation, False
    return next(part for part in parts if part is not type(None)), True


def in_rows(
    names: Sequence[str], draw: Callable[[str], Any], align: Literal["top", "bottom"] = "bottom"
) -> dict[str, Any]:
    """Call `draw` for each name, in rows of two columns, and return what it gave by name."""
    entered: dict[str, Any] = {}
    for start in range(0, len(names), 2):
        for column, name in zip(st.columns(2, vertical_alignment=align), names[start : start + 2], strict=False):
            with column:
                entered[name] = draw(name)
    return entered


def help_of(field: FieldInfo, default: str = "") -> str:
    """Return the field's description, its default in the given words, if any, and its bounds."""
    bounds = [
        f"{BOUNDS[kind]} {getattr(bound, kind.lower()):,}"
        for bound in field.metadata
        if (kind := type(bound).__name__) in BOUNDS
    ]
    limits = ", ".join(bounds)
    description = field.description or ""
    if default:
        return f"{description} Default: {default}{f' ({limits})' if limits else ''}."
    return f"{description} {sentence(limits)}" if limits else description


def value_in_words(value: Any) -> str:
    """Return the value of a field: `on`, `none`, `1,000`, `0.25`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None or value == "":
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def problem_line(label: str, details: Mapping[str, Any]) -> str:
    """Return one line that says what is wrong with the field of this label, from pydantic's error."""
    if details["type"] == "value_error":  # raised by the model's own validator
        return f"{label}: {details['ctx']['error']}."
    requirement = re.sub(r"^(Input|String|Value|List) should", "should", details["msg"])
    return f"{label}: {requirement}, not {details['input']!r}."
