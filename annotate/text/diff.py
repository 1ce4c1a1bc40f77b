"""The words in which two texts differ, for highlighting."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

# A run of text, and whether it differs from the other text.
Segment = tuple[str, bool]

LONGEST = 20_000  # characters shown of a text
MOST_WORDS = 1_500  # of both texts together; aligning more would keep the annotator waiting

# Chinese and Japanese do not separate words by spaces, so each character is a unit.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"\s+|[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|[^\w\s]+")


@lru_cache(maxsize=512)  # the page asks again for the same 40 pairs after every answer
def highlight(left: str, right: str) -> tuple[list[Segment], list[Segment]]:
    """Return both texts as runs of equal and different words. Differences of case and white space do not count."""
    a, b = _words(shortened(left)), _words(shortened(right))
    same_a, same_b = _common(_keys(a), _keys(b))
    return _segments(a, same_a), _segments(b, same_b)


def shortened(text: str) -> str:
    """Return the text, cut to the length that is shown."""
    rest = len(text) - LONGEST
    return text if rest <= 0 else f"{text[:LONGEST]} … ({rest:,} more characters are not shown)"


def _words(text: str) -> list[str]:
    """Return the text split into words, punctuation and white space; joined, they are the text again."""
    words: list[str] = []
    for word in _WORD.findall(text):
        # A combining mark stays with the letter before it; in separate runs they would not be drawn as one.
        if words and (_joins(word[0]) or _joins(words[-1][-1])) and not word.isspace():
            words[-1] += word
        else:
            words.append(word)
    return words


def _joins(char: str) -> bool:
    return char > "\u02ff" and (char in "\u200c\u200d" or unicodedata.category(char)[0] == "M")


def _keys(words: list[str]) -> list[tuple[int, str]]:
    """Return the position of each word and the key it is compared by, without white space."""
    return [(i, word.casefold()) for i, word in enumerate(words) if not word.isspace()]


def _common(a: list[tuple[int, str]], b: list[tuple[int, str]]) -> tuple[set[int], set[int]]:
    """Return the positions of the words that both texts share: in the same order, unless the texts are very long."""
    words_a, words_b = [word for _, word in a], [word for _, word in b]
    if len(a) + len(b) > MOST_WORDS:
        both = set(words_a) & set(words_b)
        return {i for i, word in a if word in both}, {i for i, word in b if word in both}
    blocks = SequenceMatcher(None, words_a, words_b, autojunk=False).get_matching_blocks()
    return (
        {a[block.a + k][0] for block in blocks for k in range(block.size)},
        {b[block.b + k][0] for block in blocks for k in range(block.size)},
    )


def _segments(words: list[str], same: set[int]) -> list[Segment]:
    marked = zip(words, _different(words, same), strict=True)
    return [("".join(word for word, _ in run), differs) for differs, run in groupby(marked, key=itemgetter(1))]


def _different(words: list[str], same: set[int]) -> Iterator[bool]:
    """Yield for each word whether it differs. White space differs if the words on both sides do."""
    for i, word in enumerate(words):
        around: Iterable[int] = (i - 1, i + 1) if word.isspace() else (i,)
        yield all(0 <= j < len(words) and j not in same for j in around)
