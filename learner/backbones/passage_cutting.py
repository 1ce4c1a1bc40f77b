"""Passages of whole sentences, and the windows in which a longer text is read."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from allpairs.learner.models.likely_sentence import sentences

Span = tuple[int, int]  # the first, and the one after the last


class Window(NamedTuple):
    """The tokens from begin to end are read; of these, keep_from to keep_to are kept."""

    begin: int
    end: int
    keep_from: int
    keep_to: int


def passages_of(text: str, limit: int, count: Callable[[str], int]) -> list[Span]:
    """Return the spans of the text's passages: from the left, as many whole sentences as the limit has tokens for.

    count: returns the number of tokens of a text. A sentence longer than the limit is a passage of its own, which
    `split_at` splits. Source: Jia, Lewis and Zettlemoyer (2022), appendix A.1.
    """
    spans: list[Span] = []
    for start, end in sentences(text):
        if spans and count(text[spans[-1][0] : end]) <= limit:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def windows(tokens: int, size: int, step: int) -> list[Window]:
    """Return the windows of a text of that many tokens, each `step` after the one before; the last ends with the text.

    Of two overlapping windows each keeps its half, so that every token is kept once. Source: the code released by Jia,
    Lewis and Zettlemoyer (2022).
    """
    begins = list(range(0, max(1, tokens - size + step), step)) if tokens > size else [0]
    spans = [(begin, min(begin + size, tokens)) for begin in begins]
    borders = [0, *((later[0] + earlier[1]) // 2 for earlier, later in pairwise(spans)), tokens]
    return [Window(*span, *limits) for span, limits in zip(spans, pairwise(borders), strict=True)]


def split_at(span: Span, tokens: list[Span], text: str, limit: int) -> list[Span]:
    """Split the span between words such that no part has more tokens than the limit.

    tokens: the span in the text of each of its tokens. A word longer than the limit is split too.
    """
    parts = []
    first = 0
    while len(tokens) - first > limit:
        after = first + limit
        cut = next((i for i in range(after, first, -1) if text[tokens[i][0] - 1].isspace()), after)
        parts.append((tokens[first][0], tokens[cut - 1][1]))
        first = cut
    return [*parts, (tokens[first][0] if parts else span[0], span[1])]
