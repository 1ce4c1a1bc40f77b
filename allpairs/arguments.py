"""What public functions take, checked at the door: a check returns the value in one form or raises InputError.

So nothing is computed or sent for a wrong argument, and no other library complains about it.
"""

from __future__ import annotations

import inspect
import math
import operator
import reprlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import wraps
from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from allpairs.db.errors import InputError
from allpairs.db.identity import identity

P = ParamSpec("P")
R = TypeVar("R")
Check = Callable[[Any, str], Any]
MOST = 2**31 - 1
CHECKS = "checks"  # the attribute of a checked function


def checked(**checks: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the arguments of these names before the function runs, which gets what the checks return."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            for name, value in bound.arguments.items():
                if name in checks:
                    bound.arguments[name] = checks[name](value, name)
            return function(*bound.args, **bound.kwargs)

        setattr(call, CHECKS, frozenset(checks))
        return call

    return decorated


def wrong(argument: str, value: Any, needed: str) -> InputError:
    """Return the error that shows the value, in one line, and says what is needed."""
    value_in_words = " ".join(reprlib.repr(value).split())
    return InputError(f"{argument} is {value_in_words} ({type(value).__name__}): {needed}")


def optional(check: Check) -> Check:
    """Return a check that lets None pass."""
    return lambda value, argument: None if value is None else check(value, argument)


def one_text(value: Any, argument: str) -> str:
    """Return the text."""
    if not isinstance(value, str):
        raise wrong(argument, value, "give a text")
    return value


def yes_or_no(value: Any, argument: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise wrong(argument, value, "give True or False")
    return value


def path_of(value: Any, argument: str) -> str:
    """Return the path, or a model's name, as text."""
    path = fspath(value) if isinstance(value, (str, PathLike)) else value
    if not isinstance(path, str) or not path or "\0" in path:
        raise wrong(argument, value, "give a path")
    return path


def whole(least: int = 0, most: int = MOST) -> Check:
    """Return the check of a whole number from `least` to `most`."""

    def check(value: Any, argument: str) -> int:
        try:
            number = None if isinstance(value, bool) else operator.index(value)
        except TypeError:
            number = None
        if number is None or not least <= number <= most:
            raise wrong(argument, value, f"give a whole number from {least} to {most}")
        return number

    return check


def finite(value: Any, argument: str) -> float:
    """Return the number."""
    if isinstance(value, bool) or not is_finite(value):
        raise wrong(argument, value, "give a number")
    return float(value)


def is_finite(value: Any) -> bool:
    """Return whether this is a number, neither NaN nor infinite."""
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:
        return False


def positive(value: Any, argument: str) -> float:
    """Return the number above 0."""
    if finite(value, argument) <= 0:
        raise wrong(argument, value, "give a number above 0")
    return float(value)


def values_of(value: Any, argument: str) -> list[Any]:
    """Return the values of a list, tuple, array, series or generator."""
    if isinstance(value, (str, bytes, bytearray)):
        raise InputError(f"give a list as {argument}, not a single text: [{reprlib.repr(value)}]")
    if isinstance(value, Mapping):
        raise wrong(argument, value, f"give a list, not a mapping: list({argument}.values())")
    if is_table(value) and not (hasattr(value, "to_pylist") or hasattr(value, "to_dicts")):
        raise wrong(argument, value, "give a list, such as one column of the table")
    for convert in ("to_pylist", "to_dicts", "tolist", "to_list"):
        if hasattr(value, convert):
            value = getattr(value, convert)()
            break
    if not isinstance(value, Iterable) or isinstance(value, (str, set, frozenset)):
        raise wrong(argument, value, "give a list")
    values = list(value)
    if not values and isinstance(value, Iterator):
        raise wrong(argument, value, "it yields nothing, perhaps since it was read before; give a list")
    return values


def list_of(check: Check) -> Check:
    """Return the check of a list whose values pass this check, at a place such as `left[3]`."""
    return lambda value, argument: [
        check(element, f"{argument}[{place}]") for place, element in enumerate(values_of(value, argument))
    ]


def texts(value: Any, argument: str) -> Any:
    """Return a list of texts, or a data frame."""
    if not is_table(value):
        return list_of(visible)(value, argument)
    names = list(getattr(value, "column_names", value.columns))  # Arrow's `columns` are arrays
    if len(set(names)) < len(names):
        raise InputError(f"{argument} has two columns of one name: rename one")
    return _frame(value)


def readable(value: Any, argument: str) -> str:
    """Return a text of whole characters."""
    if not isinstance(value, str):
        raise wrong(argument, value, "give a text; leave out what is missing, and turn numbers into texts")
    if "\0" in value:
        raise InputError(f"{argument} has a NUL character: remove it")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{argument} has half a character (a lone surrogate): write the whole one") from None
    return value


def visible(value: Any, argument: str) -> str:
    """Return a text of whole characters in which there is something to read."""
    if not identity(readable(value, argument)):
        raise InputError(f"{argument} is {value!r}, in which there is nothing to read: leave it out")
    return value  # type: ignore[no-any-return]


def texts_or_file(value: Any, argument: str) -> Any:
    """Return a path, a list of texts or a data frame."""
    return path_of(value, argument) if isinstance(value, (str, PathLike)) else texts(value, argument)


def pairs_or_file(value: Any, argument: str) -> Any:
    """Return a path, a data frame, or a list of pairs, each of two ids and perhaps a label."""
    if isinstance(value, (str, PathLike)):
        return path_of(value, argument)
    if is_table(value):
        return texts(value, argument)
    pairs = list(value) if isinstance(value, (set, frozenset)) else value  # pairs have no order
    return list_of(_pair)(pairs, argument)


def _pair(value: Any, argument: str) -> list[Any]:
    cells = values_of(value, argument)
    if len(cells) not in (2, 3):
        raise wrong(argument, value, "give two ids or positions, and perhaps a label")
    for cell in cells:
        if not (isinstance(cell, str) or is_finite(cell)):
            raise wrong(argument, value, "give two ids or positions, and perhaps a label")
    return cells


def group_names(value: Any, argument: str) -> list[Hashable]:
    """Return the name of each group, None where there is none."""
    return list_of(_group)(value, argument)  # type: ignore[no-any-return]


def _group(value: Any, argument: str) -> Hashable:
    if not isinstance(value, Hashable):
        raise wrong(argument, value, "name a group by a number or a text")
    return None if _is_missing(value) else value


def group_or_text(value: Any, argument: str) -> Any:
    """Return a text, or the values of a list as `group_names` does."""
    return value if isinstance(value, str) else group_names(value, argument)


def flag(value: Any, argument: str) -> bool:
    """Return True or False, for these or 1 and 0."""
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        raise wrong(argument, value, "give True for a text of the second list, else False")
    return bool(value)


def name_or_nothing(value: Any, argument: str) -> str | None:
    """Return the name, None for none."""
    if not isinstance(value, str) and not _is_missing(value):
        raise wrong(argument, value, "give a name, or None")
    return value if isinstance(value, str) else None


def mapping_of(key: Check, value: Check) -> Check:
    """Return the check of a mapping whose keys and values pass these checks."""

    def check(mapping: Any, argument: str) -> dict[Any, Any]:
        if not isinstance(mapping, Mapping):
            raise wrong(argument, mapping, "give a mapping")
        return {
            key(name, f"a key of {argument}"): value(item, f"{argument}[{name!r}]") for name, item in mapping.items()
        }

    return check


def text_or_record(value: Any, argument: str) -> Any:
    """Return a text, or a record as a mapping of columns to texts."""
    return value if isinstance(value, str) else mapping_of(one_text, one_text)(value, argument)


def cell_text(value: Any, row: str, column: str) -> str:
    """Return the value of a data frame's cell as text: empty if it is missing, a whole number without a point."""
    from allpairs.db.corpus.cells import as_text

    number = value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value  # of numpy
    text = value if isinstance(value, str) else as_text(number, Path(row), None, column)
    return readable(text, f"{row}, column {column!r}")


def filled_cell(value: Any, row: str, column: str) -> str:
    """Return the value of a cell that is a whole text, in which there is something to read."""
    return visible(cell_text(value, row, column), f"{row}, column {column!r}")


def is_table(value: object) -> bool:
    """Return whether this is a data frame or a table of Arrow, without loading pandas to ask."""
    return hasattr(value, "columns") and hasattr(value, "__len__") and not isinstance(value, type)


def _frame(value: Any) -> Any:
    """Return a table of pandas, Arrow or Polars as a data frame with its values as they are."""
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return value
    columns = value.to_pydict() if hasattr(value, "to_pydict") else value.to_dict(as_series=False)
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def _is_missing(value: Any) -> bool:
    """Return whether pandas calls the value missing."""
    from pandas import isna
    from pandas.api.types import is_scalar

    return bool(is_scalar(value) and isna(value))
