"""Checks of rows from a file that anybody may have written: what either database, or a page, would stumble over."""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial
from math import isfinite
from typing import Any, get_args, get_origin, get_type_hints

from sqlalchemy import BigInteger, Column, String

from allpairs.db.corpus.cells import MAX_CELL, shown, with_noun
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import LONGEST_NOTE, EventKind, Side
from allpairs.db.errors import InputError
from allpairs.db.rating import RaterSetup
from allpairs.db.schema.tables import (
    Answer,
    Base,
    CheckAnswer,
    Evaluation,
    GroupChange,
    Item,
    MachineRater,
    PairVerdict,
    Project,
    Publication,
)
from allpairs.db.schema.tables.raters import LIMITS

Wrong = Callable[[Any], str]  # what is wrong with a value; empty if nothing is

NOTES = {Answer.__tablename__, CheckAnswer.__tablename__, Publication.__tablename__}
# PostgreSQL's integers; ids get new ones before they are stored
INT32 = 2**31
INT64 = 2**63


def column_checks(model: type[Base]) -> dict[str, Wrong]:
    """Return the check of each of the table's columns: type, length, characters, and words where there are few."""
    hints = get_type_hints(model)
    table = Base.metadata.tables[model.__tablename__]
    return {column.name: _check(column, get_args(hints[column.name])[0]) for column in table.columns}


def wrong_in(row: object, checks: Mapping[str, Wrong]) -> tuple[str, str] | None:
    """Return the first column of the row that has something wrong, and what; columns that the row lacks may."""
    if not isinstance(row, dict):
        return "", f"the row is a {type(row).__name__}, not an object with named values"
    for name, check in checks.items():
        if name in row and (wrong := check(row[name])):
            return name, wrong
    return None


def wrong_text(text: str, most: int = MAX_CELL) -> str:
    """Return what is wrong with a text; empty if nothing is."""
    if len(text) > most:
        return f"it has {with_noun(len(text), 'character')}, but the limit is {most:,}"
    if "\0" in text:
        return "it has a NUL character"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return f"character {error.start + 1} is only half a character (a lone surrogate)"
    return ""


def stored_note(note: str) -> str | None:
    """Return the note as it is stored, None for none. Raises InputError if it cannot be: no note is cut."""
    if wrong := wrong_text(note.strip(), LONGEST_NOTE):
        raise InputError(f"the note cannot be stored: {wrong}")
    return note.strip() or None


def _check(column: Column[Any], annotation: Any) -> Wrong:
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    kind = annotation if get_origin(annotation) in (dict, list) or not kinds else kinds[0]
    check = _of_kind(column, get_origin(kind) or kind)
    if column.nullable:
        return lambda value: "" if value is None else check(value)
    return check


def _of_kind(column: Column[Any], kind: Any) -> Wrong:
    if (inside := _INSIDE.get((column.table.name, column.name))) is not None:
        return lambda value: _json_check(kind)(value) or inside(value)
    if kind is int:
        most = INT64 if column.primary_key or column.foreign_keys or isinstance(column.type, BigInteger) else INT32
        return lambda value: _wrong_integer(value, most)
    if kind is str or kind is EventKind:  # a later version may have more events; pages show their words as they are
        length = column.type.length if isinstance(column.type, String) else None
        most = LONGEST_NOTE if column.name == "note" and column.table.name in NOTES else length or MAX_CELL
        return lambda value: wrong_text(value, most) if isinstance(value, str) else _not("a text", value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        words = tuple(kind)
        return lambda value: "" if value in words else _not(f"one of {', '.join(words)}", value)
    return {float: _wrong_number, bool: _wrong_boolean, datetime: _wrong_time}.get(kind) or _json_check(kind)


def _wrong_integer(value: object, most: int) -> str:
    if type(value) is not int:
        return _not("a whole number", value)
    return "" if -most <= value < most else _not("a number that a table holds", value)


def _wrong_number(value: object) -> str:
    return "" if type(value) in (int, float) and _is_finite(value) else _not("a number", value)


def _wrong_boolean(value: object) -> str:
    return "" if isinstance(value, bool) else _not("true or false", value)


def _wrong_time(value: object) -> str:
    try:
        zone = datetime.fromisoformat(str(value)).tzinfo
    except ValueError:
        zone = None
    return "" if zone is not None else _not("a time with its zone", value)


def _json_check(kind: Any) -> Wrong:
    type_in_words = {dict: "an object", list: "a list"}.get(kind)  # elsewhere any value
    return lambda value: (
        _wrong_json(value) if type_in_words is None or isinstance(value, kind) else _not(type_in_words, value)
    )


def _wrong_estimates(value: dict[str, Any]) -> str:
    """Return what is wrong with the figures of a model, which the list of all projects shows."""
    for name, figure in value.items():
        if not figure:
            continue
        if not isinstance(figure, dict):
            return _not(f"an estimate of {shown(name)}", figure)
        if figure.get("value") is not None:
            wrong = next(filter(None, (_wrong_number(figure.get(key)) for key in ("value", "low", "high"))), "")
            if wrong or not isinstance(figure.get("method"), str):
                return wrong or _not("the method of an estimate", figure.get("method"))
    return ""


def _wrong_columns(value: dict[str, Any]) -> str:
    """Return what is wrong with the names and kinds of text columns, which the card of a pair shows."""
    named = all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in value.values())
    if not named:
        return _not("lists of names", value)
    try:
        text_columns = TextColumns.read(value)
    except ValueError as error:
        return str(error)
    as_many = text_columns is None or all(
        len(kinds) == len(text_columns.names[side]) for side, kinds in text_columns.kinds.items()
    )
    return "" if as_many else _not("as many kinds as names", value)


def _wrong_lengths(value: list[Any]) -> str:
    return "" if all(type(length) is int and 0 <= length <= MAX_CELL for length in value) else _not("lengths", value)


def _wrong_group_details(value: dict[str, Any]) -> str:
    """Return what is wrong with the groups and texts that a change names."""
    for name in ("from_groups", "to_groups"):
        if not isinstance(value.get(name), list) or any(type(number) is not int for number in value[name]):
            return _not(f"numbers of groups in {name}", value.get(name))
    for name in ("items_added", "items_removed"):
        if not isinstance(value.get(name), list) or not all(map(_is_named, value[name])):
            return _not(f"sides and ids in {name}", value.get(name))
    return ""


def _is_named(text: object) -> bool:
    return isinstance(text, list) and len(text) == 2 and text[0] in tuple(Side) and isinstance(text[1], str)


def _wrong_setup(value: dict[str, Any]) -> str:
    """Return what is wrong with a machine rater's setup."""
    try:
        RaterSetup.model_validate(value)
    except ValueError:  # of pydantic, over several lines
        return _not("a setup of a machine rater", value)
    return ""


def _wrong_amount(value: object, name: str) -> str:
    wrong = _wrong_number(value) if name == "cost" else _wrong_integer(value, INT32)
    return wrong or ("" if 0 <= float(str(value)) <= LIMITS[name] else _not(f"from 0 to {LIMITS[name]:,.0f}", value))


def _wrong_share(value: object) -> str:
    return _wrong_number(value) or ("" if 0 <= float(str(value)) <= 1 else _not("a share from 0 to 1", value))


# Objects and lists whose values a page uses without looking twice.
_INSIDE: dict[tuple[str, str], Wrong] = {
    (Evaluation.__tablename__, Evaluation.estimates.key): _wrong_estimates,
    (Project.__tablename__, Project.text_columns.key): _wrong_columns,
    (Item.__tablename__, Item.field_lengths.key): _wrong_lengths,
    (GroupChange.__tablename__, GroupChange.details.key): _wrong_group_details,
    (MachineRater.__tablename__, MachineRater.setup.key): _wrong_setup,
    (PairVerdict.__tablename__, PairVerdict.p.key): _wrong_share,
    **{(PairVerdict.__tablename__, name): partial(_wrong_amount, name=name) for name in LIMITS},
}


def _wrong_json(value: object) -> str:
    match value:
        case str():
            return wrong_text(value)
        case bool() | None:
            return ""
        case int() | float():
            return "" if _is_finite(value) else _not("a number that can be stored", value)
        case list():
            return next(filter(None, map(_wrong_json, value)), "")
        case dict():
            return next(filter(None, map(_wrong_json, (*value, *value.values()))), "")
    return _not("JSON", value)


def _is_finite(value: Any) -> bool:
    return isfinite(value) if isinstance(value, float) else -INT64 <= value < INT64


def _not(expected: str, value: object) -> str:
    return f"it is {'empty' if value is None else shown(value)}, not {expected}"
