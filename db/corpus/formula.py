"""Escape CSV cells that a spreadsheet would run as a formula, so that reading restores them.

A formula begins with = + - @, in any width, also after spaces, tabs and line breaks, as OWASP's page on CSV injection
lists. It may begin inside a cell, too: a spreadsheet that splits a comma file at semicolons or tabs begins a cell after
each, and a row after each line break. An apostrophe is put before each such sign, and one more before a sign that
already has apostrophes, so that every text is restored.
"""

import re
from collections.abc import Callable
from typing import Any

_SIGNS = "=+\\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋﬩"
_ENDS = ";|\t\r\n"  # of cells and rows
_BLANK = rf"[{_ENDS}\s\ufeff\u200b-\u200f\u2060]"
_NUMBER = rf"[+-](?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?=[{_ENDS}]|\Z)"
# All that is blank is taken whether or not a formula follows, so that long blank texts take linear time.
_BEGINNING = re.compile(
    rf"(?P<blank>\A;(?='*+[\t\r\n])|[{_ENDS}]{_BLANK}*+)"
    rf"(?:(?!{_NUMBER})(?P<apostrophes>'*+)(?=[{_SIGNS}\t\r\n]))?"
)
_SIGN = re.compile(rf"[{_SIGNS}]|\A'*+[\t\r\n]")


def guarded(cell: Any) -> Any:
    """Return the cell for a CSV file: a text that could be a formula gets an apostrophe, a number stays as it is."""
    return _replaced(cell, _with_apostrophe) if isinstance(cell, str) else cell


def unguarded(cell: str) -> str:
    """Return the original text of a CSV file's cell."""
    return _replaced(cell, _without_apostrophe) if "'" in cell else cell


def _replaced(cell: str, replacement: Callable[[re.Match[str]], str]) -> str:
    return _BEGINNING.sub(replacement, f";{cell}")[1:] if _SIGN.search(cell) else cell


def _with_apostrophe(match: re.Match[str]) -> str:
    blank = match["blank"]
    apostrophes = match["apostrophes"]
    return blank if apostrophes is None else f"{blank}'{apostrophes}"


def _without_apostrophe(match: re.Match[str]) -> str:
    blank = match["blank"]
    apostrophes = match["apostrophes"] or ""
    return blank + apostrophes[1:]
