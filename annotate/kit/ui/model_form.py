"""A form made from a configuration model: one widget for each field, one expander for each part."""

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeGuard

import streamlit as st
from pydantic import BaseModel, ValidationError

from allpairs.annotate.kit.ui.drafts import DRAFT
from allpairs.annotate.kit.ui.fields import help_of, in_rows, problem_line, widget
from allpairs.learner.light.catalog.section import Section


def model_form(
    model: type[BaseModel], key: str, without: Collection[str] = (), values: BaseModel | None = None
) -> dict[str, Any]:
    """Draw the form, filled with these values; return the entered ones by field, unchecked (see `form_problems`).

    values: the defaults, if none are given.
    """
    fields = {name: field for name, field in model.model_fields.items() if name not in without}
    plain = [name for name in fields if not _is_part(fields[name].annotation)]
    initial = (values or model()).model_dump()

    def draw(name: str) -> Any:
        field = fields[name]
        return widget(
            field.title or field_title(name),
            field,
            initial[name],
            key=f"{key}_{name}",
            help=help_of(field),
            persist_state=DRAFT,
        )

    entered = in_rows(plain, draw)
    for name in fields:
        part = fields[name].annotation
        if _is_part(part):
            with st.expander(fields[name].title or field_title(name)):
                st.caption(inspect.getdoc(part) or "")
                entered[name] = model_form(part, f"{key}_{name}")
    return entered


def form_problems(model: type[Section], values: Mapping[str, Any]) -> list[str]:
    """Return one line for each field whose value is invalid."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        return [problem_line(", ".join(_where(model, details["loc"])), details) for details in error.errors()]
    return []


def field_title(name: str) -> str:
    """Return a field's name as a person reads it."""
    return name.replace("_", " ").capitalize()


def _where(model: type[Section], location: Sequence[int | str]) -> list[str]:
    """Return the titles of the fields that lead to the value. Places in a list are counted from 1."""
    if not location:
        return []
    name, *rest = location
    if not isinstance(name, str) or name not in model.model_fields:
        return [f"value {part + 1}" if isinstance(part, int) else part for part in location]
    field = model.model_fields[name]
    part = field.annotation if _is_part(field.annotation) else Section
    return [field.title or field_title(name), *_where(part, rest)]


def _is_part(annotation: Any) -> TypeGuard[type[Section]]:
    return isinstance(annotation, type) and issubclass(annotation, Section)
