"""Errors whose message is for users, and the error that stops cancelled work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

# Absolute paths, and those from a person's home; not addresses: neither of other machines nor of this API.
_PART = r"""[^\s/\\'"“”`,;:()]+"""
PLACES = re.compile(rf"(?<![\w/.:\\…-])(?!/api/)(?:~[\w.-]*|[A-Za-z]:)?[/\\](?:{_PART}[/\\]+)+(?P<name>{_PART})[/\\]*")


class InputError(Exception):
    """Bad input from a person or a file; the message is one line that says what, where and what to do next.

    values: what stands at the places that the text names in braces, so that a page can say it in another language.
    """

    def __init__(self, text: str = "", **values: object) -> None:
        super().__init__(text.format_map(values) if values else text)
        self.text = text
        self.values = values


class Busy(InputError):
    """There is too much to do already; the same may be asked again after so many seconds."""

    def __init__(self, text: str, seconds: int) -> None:
        super().__init__(text)
        self.seconds = seconds


class Cancelled(Exception):
    """A person cancelled the work."""


def without_places(text: str) -> str:
    """Return the text with the last name alone of each path on this machine, for readers elsewhere."""
    return PLACES.sub(r"\g<name>", text)


def first_wrong(error: ValidationError, named: Callable[[str], str] = str, model: type[BaseModel] | None = None) -> str:
    """Return the first wrong value in a line: its place, as `named` puts it, what is wrong, and the value.

    model: what the values were checked against; an unknown key is then answered with the nearest known one.
    """
    first = error.errors()[0]
    place = named(".".join(map(str, first["loc"])))
    message = first["msg"]
    if model and first["type"] == "extra_forbidden":
        return f"{place}: there is no such key; {nearest_of(str(first['loc'][-1]), _keys(model, first['loc'][:-1]))}"
    input_in_words = "" if first["type"] == "missing" else f", not {first['input']!r}"
    return f"{place}: {message[:1].lower()}{message[1:]}{input_in_words}"


def nearest_of(name: str, known: Iterable[str]) -> str:
    """Return the known name that this one was probably meant to be, as a question, else all of them."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else f"use one of {', '.join(names)}"


def _keys(model: type[BaseModel], place: Iterable[int | str]) -> list[str]:
    """Return the keys that there are at this place of the model's values."""
    for name in place:
        if name in model.model_fields:
            model = next(_models(model.model_fields[str(name)].annotation), model)
    return list(model.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a value of this type may be, or hold."""
    if hasattr(annotation, "model_fields"):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def as_option(name: str) -> str:
    """Return the option of the command line that sets this."""
    return f"--{name.replace('_', '-')}"
