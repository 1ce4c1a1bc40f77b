"""A form made from a configuration's model: a widget for each field, an expander for each part."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard
from zlib import crc32

import streamlit as st
from pydantic import ValidationError

from annotate.components.fields import help_of, in_rows, problem_line, widget
from learner.catalog.section import Section


def model_form(model: type[Section], key: str, initial: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the person has entered, by field; to be checked with `problems`.

    initial: fills the form at first, in place of the model's defaults. Where the model has other defaults for its parts
    with what is entered above them, the parts have those.
    """
    fields, values = model.model_fields, initial or model().model_dump()
    plain = [name for name in fields if not _is_part(fields[name].annotation)]

    def draw(name: str) -> Any:
        field = fields[name]
        return widget(field.title or title_of(name), field, values[name], key=f"{key}_{name}", help=help_of(field))

    entered = in_rows(plain, draw)
    usual = _usual(model, entered) if initial is None else {}
    for name in fields:
        part = fields[name].annotation
        if _is_part(part):
            with st.expander(fields[name].title or title_of(name)):
                st.caption(inspect.getdoc(part) or "")
                entered[name] = model_form(part, f"{key}_{name}{_mark(usual.get(name), values[name])}", usual.get(name))
    return entered


def _usual(model: type[Section], entered: Mapping[str, Any]) -> dict[str, Any]:
    """The model's values where only these are entered; nothing where they are not possible."""
    try:
        return model.model_validate(entered).model_dump()
    except ValidationError:
        return {}


def _mark(usual: Mapping[str, Any] | None, default: Mapping[str, Any]) -> str:
    """What tells widgets with other first values from those with the defaults: the same key would keep the old ones."""
    return "" if usual in (None, default) else f"_{crc32(repr(usual).encode()):x}"


def problems(model: type[Section], values: Mapping[str, Any]) -> list[str]:
    """One line for each field whose value is not possible."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        return [problem_line(", ".join(_where(model, found["loc"])), found) for found in error.errors()]
    return []


def title_of(name: str) -> str:
    """A field's name as a person reads it."""
    return name.replace("_", " ").capitalize()


def _where(model: type[Section], location: Sequence[int | str]) -> list[str]:
    """The titles of the fields on the way to the value; a place in a list is counted from 1."""
    if not location:
        return []
    name, *rest = location
    if not isinstance(name, str) or name not in model.model_fields:
        return [f"value {part + 1}" if isinstance(part, int) else part for part in location]
    field = model.model_fields[name]
    part = field.annotation if _is_part(field.annotation) else Section
    return [field.title or title_of(name), *_where(part, rest)]


def _is_part(annotation: Any) -> TypeGuard[type[Section]]:
    return isinstance(annotation, type) and issubclass(annotation, Section)
