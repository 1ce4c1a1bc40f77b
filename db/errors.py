"""Errors whose message is for users, and the error that stops cancelled work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class InputError(Exception):
    """Bad input from a person or a file; the message is one line that says what, where and what to do next.

    values: what stands at the places that the text names in braces, so that a page can say it in another language.
    """

    def __init__(self, text: str = "", **values: object) -> None:
        super().__init__(text.format_map(values) if values else text)
        self.text, self.values = text, values


class Cancelled(Exception):
    """A person cancelled the work."""


def first_wrong(error: ValidationError, named: Callable[[str], str] = str) -> str:
    """Return the first wrong value in a line: its place, as `named` puts it, what is wrong, and the value."""
    first = error.errors()[0]
    place, what = named(".".join(map(str, first["loc"]))), first["msg"]
    given = "" if first["type"] == "missing" else f", not {first['input']!r}"
    return f"{place}: {what[:1].lower()}{what[1:]}{given}"


def as_option(name: str) -> str:
    """Return the option of the command line that sets this."""
    return f"--{name.replace('_', '-')}"
