"""The words in which two texts or records differ, for highlighting."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby, pairwise
from operator import itemgetter

from allpairs.db.corpus.field_values import day_of, is_missing, number_of
from allpairs.db.identity import identity


class Mark(StrEnum):
    """How a piece of a text is drawn."""

    SAME = "same"
    NEAR = "near"  # another spelling of a word of the other text: a plural, or one letter more
    DIFFERS = "differs"
    STRONG = "strong"  # a number, a model code or a unit that differs
    LIKELY = "likely"  # in a passage, the sentence that probably answers


class Likeness(StrEnum):
    """How alike two values of a record are."""

    SAME = "same"
    SIMILAR = "similar"
    DIFFERENT = "different"
    UNKNOWN = ""  # one of them is missing


Segment = tuple[str, Mark]
Cells = tuple[list[list[Segment]], list[list[Segment]]]  # left and right

LONGEST = 20_000  # characters shown of a text
SHARE = 0.5  # of a text's characters, at most, are marked
LONGEST_VALUE = 100  # characters of a number or a date
MISSPELT = 0.8  # share of the letters that stand in the same order
LONGEST_NAME = 100  # letters of a name
ALIKE = 0.6  # of a value's characters, at least, that are also in a similar one
SPELLED = 4  # letters of a word, at least, that may be spelled in two ways
SYMBOLS = "%°$€£¥"
UNITS = frozenset(
    (
        "kb",
        "mb",
        "gb",
        "tb",
        "hz",
        "khz",
        "mhz",
        "ghz",
        "g",
        "kg",
        "mg",
        "lb",
        "lbs",
        "oz",
        "mm",
        "cm",
        "m",
        "km",
        "inch",
        "ft",
        "v",
        "kv",
        "w",
        "kw",
        "mw",
        "mah",
        "wh",
        "ml",
        "l",
    )
)
SEPARATORS = "|~^`"  # besides punctuation

# Chinese and Japanese do not separate words by spaces, so each character is a unit.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"\s+|[{_UNSPACED}]|\d+(?:[.,]\d+)+|(?:(?![{_UNSPACED}])\w)+|[{SYMBOLS}]|[^\w\s{SYMBOLS}]+")
_LETTERS = re.compile(r"[^\W\d_]{4,}")  # more than a currency or a unit
_THOUSANDS = re.compile(r",(?=\d{3}\b)")
_ZEROS = re.compile(r"(\.\d*?)0+$")


@dataclass(slots=True)
class _Word:
    text: str
    key: str  # by which it is compared; empty: white space and punctuation, which are never compared
    mark: Mark = Mark.SAME
    is_code: bool = False  # a number, a model code or a unit


def highlight(left: str, right: str) -> tuple[list[Segment], list[Segment]]:
    """Return both texts as runs of shared and different words.

    A word is shared if the other text has it anywhere, as often; case, accents, punctuation and white space do not
    count, nor does whether two words are written as one. At most half of a text is marked: where more differs, only
    its numbers, model codes and units are, and nothing if those are too many.
    """
    a, b = highlight_cells([(left, right)])
    return a[0], b[0]


def highlight_cells(cells: Sequence[tuple[str, str]]) -> Cells:
    """Return the left and right values of two records as runs: each value is compared with the one opposite.

    A value opposite an empty one is not marked, nor are two forms of one number or date. At most half of a record is
    marked, as in `highlight`.
    """
    left, right = ([_words(shortened(cell[side])) for cell in cells] for side in (0, 1))
    for cell, a, b in zip(cells, left, right, strict=True):
        if a and b and _plain(cell[0]) != _plain(cell[1]):
            _compare(a, b)
    return _drawn(left), _drawn(right)


def likeness(left: str, right: str) -> Likeness:
    """Return how alike two values are: case, accents, punctuation, and the form of a number or date do not count.

    Of e-mail addresses the names decide, since many people share what follows.
    """
    if is_missing(left.strip()) or is_missing(right.strip()):
        return Likeness.UNKNOWN
    a = _words(shortened(left))
    b = _words(shortened(right))
    if _keys(a) == _keys(b) or _plain(left) == _plain(right):
        return Likeness.SAME
    if "@" in left and "@" in right:
        a, b = (_words(value.partition("@")[0]) for value in (left, right))
    _compare(a, b)
    is_near = max(_shared(a), _shared(b)) >= ALIKE or _is_misspelt(_keys(a), _keys(b))
    return Likeness.SIMILAR if is_near else Likeness.DIFFERENT


def _keys(words: list[_Word]) -> str:
    """Return the keys as one, since a word may be written as two; the texts of words that are signs alone."""
    return "".join(word.key for word in words) or "".join(word.text for word in words)


def _is_misspelt(a: str, b: str) -> bool:
    """Return whether a word may be the other one with a letter or two changed; numbers never are."""
    if len(a) > LONGEST_NAME or len(b) > LONGEST_NAME or any(map(str.isdigit, a + b)):
        return False
    return SequenceMatcher(None, a, b).ratio() >= MISSPELT


def _plain(value: str) -> object:
    """Return the day, or the number, that a value is; else its normal form."""
    if len(value) > LONGEST_VALUE:
        return identity(value)
    day = day_of(value)
    number = number_of(value) if len(value.split()) <= 2 and not _LETTERS.search(value) else None
    return ("day", day) if day is not None else identity(value) if number is None else number


def _shared(words: list[_Word]) -> float:
    """Return the share of the characters that the other value has too, in another spelling perhaps."""
    compared = [word for word in words if word.key]
    alike = sum(len(word.key) for word in compared if word.mark in (Mark.SAME, Mark.NEAR))
    return alike / max(1, sum(len(word.key) for word in compared))


def shortened(text: str) -> str:
    """Return the text, cut to the length that is shown."""
    rest = len(text) - LONGEST
    return text if rest <= 0 else f"{text[:LONGEST]} … ({rest:,} more characters are not shown)"


def _words(text: str) -> list[_Word]:
    """Return the text split into words, punctuation and white space; joined, they are the text again."""
    pieces: list[str] = []
    for piece in _WORD.findall(text):
        # A combining mark stays with the letter before it; in separate runs they would not be drawn as one.
        if pieces and (_joins(piece[0]) or _joins(pieces[-1][-1])) and not piece.isspace():
            pieces[-1] += piece
        else:
            pieces.append(piece)
    words = [_Word(piece, _key(piece)) for piece in pieces]
    _find_codes(words)
    return words


def _joins(char: str) -> bool:
    return char > "\u02ff" and (char in "\u200c\u200d" or unicodedata.category(char)[0] == "M")


def _key(piece: str) -> str:
    if piece.isspace() or all(map(_separates, piece)):
        return ""
    if not piece.isalnum() and piece[0].isdigit():
        piece = _ZEROS.sub(r"\1", _THOUSANDS.sub("", piece)).rstrip(".")
    if piece.isascii():
        return piece.lower()
    parts = unicodedata.normalize("NFKD", piece.casefold())
    # Only accents of Latin, Greek and Cyrillic letters: the marks of other scripts are vowels.
    return "".join(char for char in parts if not "\u0300" <= char <= "\u036f") or piece


def _separates(char: str) -> bool:
    if char.isalnum():
        return False
    return char in SEPARATORS or (unicodedata.category(char)[0] == "P" and char not in "#%&@")


def _find_codes(words: list[_Word]) -> None:
    """Note which words are numbers, model codes, currency signs, or the unit after a number."""
    compared = [word for word in words if word.key]
    for word in compared:
        word.is_code = word.key in SYMBOLS or any(map(str.isdigit, word.key))
    for number, unit in pairwise(compared):
        unit.is_code |= number.is_code and unit.key in UNITS


def _compare(a: list[_Word], b: list[_Word]) -> None:
    """Mark the words of both that the other one lacks."""
    rest_a = _unshared(a, b)
    rest_b = _unshared(b, a)
    keys_a, keys_b = ({word.key for word in rest} for rest in (rest_a, rest_b))
    for rest, other_keys in ((rest_a, keys_b), (rest_b, keys_a)):
        near = other_keys | {shorter for key in other_keys for shorter in _spellings(key)}
        for word in rest:
            is_near = word.key in near or not other_keys.isdisjoint(_spellings(word.key))
            word.mark = Mark.STRONG if word.is_code else Mark.NEAR if is_near else Mark.DIFFERS


def _unshared(words: list[_Word], other_words: list[_Word]) -> list[_Word]:
    """Return the words that the others lack, also as a part of a word or in two words."""
    own_keyed, other_keyed = ([word for word in side if word.key] for side in (words, other_words))
    left_over = Counter(word.key for word in other_keyed)
    rest = []
    for word in own_keyed:
        left_over[word.key] -= 1
        if left_over[word.key] < 0:
            rest.append(word)
    if not rest:
        return rest
    keys = {word.key for word in other_keyed}
    joined = {a.key + b.key for a, b in pairwise(other_keyed) if _may_join(a, b)}
    in_one = {id(half) for a, b in pairwise(own_keyed) if _may_join(a, b) and a.key + b.key in keys for half in (a, b)}
    return [word for word in rest if word.key not in joined and id(word) not in in_one]


def _may_join(a: _Word, b: _Word) -> bool:
    return not (a.key[-1].isdigit() and b.key[0].isdigit())


def _spellings(key: str) -> set[str]:
    """Return the word with one letter less, other than the first; empty if it is short or has other characters."""
    if len(key) <= SPELLED or not key.isalpha():
        return set()
    return {key[:position] + key[position + 1 :] for position in range(1, len(key))}


def _drawn(cells: list[list[_Word]]) -> list[list[Segment]]:
    """Return the cells of one side as runs, with at most a share of their characters marked."""
    for visible in (set(Mark), {Mark.STRONG}):
        runs = [_runs(words, visible) for words in cells]
        lengths = [(len(text), mark) for cell in runs for text, mark in cell]
        if sum(n for n, mark in lengths if mark != Mark.SAME) <= SHARE * sum(n for n, _ in lengths):
            return runs
    return [_runs(words, set()) for words in cells]


def _runs(words: list[_Word], visible: set[Mark]) -> list[Segment]:
    marks = [word.mark if word.mark in visible else Mark.SAME for word in words]
    for i in range(1, len(words) - 1):  # what stands between two marked words is marked with them
        if not words[i].key and marks[i - 1] == marks[i + 1]:
            marks[i] = marks[i - 1]
    marked = zip((word.text for word in words), marks, strict=True)
    return [("".join(text for text, _ in run), mark) for mark, run in groupby(marked, key=itemgetter(1))]
