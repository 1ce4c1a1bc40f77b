"""Guesses what the columns of a file are, from their names and first values; people can change each guess."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from allpairs.db.corpus.corpus import MAX_ID, Columns
from allpairs.db.corpus.field_kinds import guess_kind
from allpairs.db.corpus.files import FileFormat, preview
from allpairs.db.domain import FieldKind, Side

Rows = Sequence[Sequence[str]]  # the values of the first rows

ID_NAME = re.compile(r"(?i)^(.*[_\W])?(q|p|doc|item|row|corpus|query)?(id|key|uuid)\d?$|^id[_\W]|^id\d$")
CAMEL_ID = re.compile(r"^id[A-Z]|[a-z]I[dD]$")  # idAmazon, productId
NUMBERED = re.compile(r"^(.*?)[_\W]?([12])$")  # question1, question2
LABEL = re.compile(r"(?i)^(is_?)?(label|duplicate|match|positive)$")
QUESTIONS = ("question", "query", "utterance")
PASSAGES = ("passage", "sentence", "answer", "paragraph", "document", "context", "content", "body", "text")
TITLES = ("title", "subject", "headline")
FIRSTS = ("id1", "left", "qid1")
SECONDS = ("id2", "right", "qid2")
SEVERAL = 3  # columns beside ids: of records, unless one of them is a question or a passage
FEW_WORDS = 5  # on average: a column with fewer is no passage, whatever its name
LOOKED_AT = 200  # rows of a file to guess from
LEAST_VARIED = 0.1  # distinct values for each value: below that a column names groups, such as splits
LONGEST_CODE = 40  # characters of an id in a column that is not called one


@dataclass(frozen=True)
class _Column:
    name: str
    values: tuple[str, ...]  # of the first rows, maybe none

    @cached_property
    def filled(self) -> list[str]:
        return [value for value in map(str.strip, self.values) if value]

    @property
    def is_called_id(self) -> bool:
        return bool(ID_NAME.search(self.name) or CAMEL_ID.search(self.name))

    @property
    def could_be_id(self) -> bool:
        return len(set(self.filled)) == len(self.values) and all(len(value) <= MAX_ID for value in self.filled)

    @property
    def has_codes(self) -> bool:
        """Whether every value is one short word, all of them different: an id under any name."""
        short = all(len(value) <= LONGEST_CODE and not re.search(r"[\s.,]", value) for value in self.filled)
        return bool(self.filled) and self.could_be_id and short

    @property
    def is_field(self) -> bool:
        """Whether it tells records apart: it has values, and is neither an id nor a label."""
        is_empty = bool(self.values) and not self.filled
        return not (self.is_called_id or LABEL.search(self.name) or is_empty)

    @property
    def is_price(self) -> bool:
        """Whether the values are prices."""
        return guess_kind(self.name, self.values) == FieldKind.PRICE

    @property
    def words(self) -> float:
        """How many words the values have, on average."""
        return sum(len(value.split()) for value in self.filled) / max(1, len(self.filled))

    @property
    def is_text(self) -> bool:
        """Whether most values have words, and there are many different ones unless the name says that it is text."""
        if not self.is_field:
            return False
        words = sum(len(re.findall(r"[^\W\d_]", value)) * 2 > len(value.split()) for value in self.filled)
        links = sum("://" in value for value in self.filled)
        varied = len(set(self.filled)) >= max(min(2, len(self.values)), LEAST_VARIED * len(self.filled))
        is_varied = varied or has_word(self.name, (*QUESTIONS, *PASSAGES))
        return not self.values or ((words - links) * 2 >= max(1, len(self.filled)) and is_varied)


def guess_columns(names: Sequence[str], rows: Rows = (), side: Side = Side.LEFT) -> Columns:
    """Return the likely id column, empty if there is none, and the likely text columns of a list.

    side: a file of questions and passages can be both lists; the left one is then taken for the questions.
    """
    columns = _columns(names, rows)
    id_ = _id(columns)
    rest = [column for column in columns if column.name != id_] or columns
    return Columns(id_, _texts(rest, side) or (rest[0].name,))


def columns_of_file(
    path: Path, side: Side, id_: str | None, texts: Sequence[str] | None, stated: FileFormat, notes: list[str]
) -> Columns:
    """Return the columns of a list, guessed where they are None; note which are not compared. Raises InputError."""
    head = preview(path, LOOKED_AT, stated)
    guess = guess_columns(head.names, [row.values for row in head.rows], side)
    id_ = ("id" if "id" in head.names else guess.id) if id_ is None else id_
    compared = tuple(texts or (("text",) if "text" in head.names else guess.texts))
    if left_out := [name for name in head.names if name not in (id_, *compared)]:
        notes.append(f"{path.name}: not compared, but kept: {', '.join(left_out)}.")
    return Columns(id_, compared, stated=stated)


def guess_gold_columns(names: Sequence[str], rows: Rows = ()) -> tuple[str, str, str]:
    """Return the likely id columns and label column; an empty name means no label column."""
    called = [column.name for column in _columns(names, rows) if column.is_called_id]
    twin = next(((a, b) for a, b in pairwise(called) if NUMBERED.match(a) and NUMBERED.match(b)), None)
    left, right = twin or (called[:2] if len(called) > 1 else (None, None))
    left = left or _first(names, FIRSTS) or names[0]
    rest = [name for name in names if name != left] or list(names)
    right = right or _first(rest, SECONDS) or rest[0]
    return left, right, next((name for name in rest if name != right and LABEL.search(name)), "")


def _columns(names: Sequence[str], rows: Rows) -> list[_Column]:
    return [_Column(name, tuple(row[i] for row in rows)) for i, name in enumerate(names)]


def _id(columns: Sequence[_Column]) -> str:
    called = [column for column in columns if column.is_called_id and column.could_be_id]
    called.sort(key=lambda column: column.name.lower() != "id")
    if called:
        return called[0].name
    return columns[0].name if columns[0].has_codes and any(column.is_text for column in columns[1:]) else ""


def _texts(columns: Sequence[_Column], side: Side) -> tuple[str, ...]:
    """Return the columns to compare: one of a pair, or the question, or the passage with its title.

    Otherwise they are records: all of them but ids and labels, if there are several, and else texts and prices.
    """
    texts = [column for column in columns if column.is_text]
    ends = [match for column in texts if (match := NUMBERED.match(column.name))]
    if twins := [end[0] for end in ends if sum(end_[1] == end[1] for end_ in ends) == 2]:
        return (twins[-1 if side == Side.RIGHT else 0],)
    fields = [column for column in columns if column.is_field]
    preferred = (*PASSAGES, *QUESTIONS) if side == Side.RIGHT else (*QUESTIONS, *PASSAGES)
    main = next((column for word in preferred for column in texts if has_word(column.name, (word,))), None)
    if main is None or (main.words < FEW_WORDS and len(fields) > SEVERAL and not has_word(main.name, QUESTIONS)):
        are_records = len(texts) > 1 or (texts and len(fields) >= SEVERAL)
        return tuple(field.name for field in fields if are_records or (texts and (field in texts or field.is_price)))
    title = next((column for column in texts if column.name.lower() in TITLES), None)
    if title is None or has_word(main.name, QUESTIONS) or len(title.filled) * 2 <= len(title.values):
        return (main.name,)
    return title.name, main.name


def has_word(name: str, words: Sequence[str]) -> bool:
    """Return whether one of the words is in the name of the column, between spaces and signs."""
    return not set(words).isdisjoint(re.split(r"[_\W]+", name.lower()))


def _first(names: Sequence[str], candidates: Sequence[str]) -> str | None:
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name] for name in candidates if name in lower), None)
