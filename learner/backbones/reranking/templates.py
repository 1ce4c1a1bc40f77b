"""What a re-ranker reads and writes: the templates of Ju, Yang and Wang (2021), Table 2, as texts and as tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from allpairs.db.identity import identity

QUERY = "{query}"
PASSAGE = "{passage}"
TRUE = "true"
FALSE = "false"
Tokens = list[int]


@dataclass(frozen=True)
class SourceView:
    """Templates of source and target; without a target it is `true` or `false`, by the pair's label."""

    source: str
    target: str | None = None


VIEWS = {
    "rank": SourceView("Query: {query} Document: {passage} Relevant:"),
    "rank-swap": SourceView("Relevant: Query: {query} Document: {passage}"),
    "rank-positives": SourceView("Query: {query} Document: {passage} Relevant:", TRUE),  # the paper's Rank*
    "p2q": SourceView("Document: {passage} Translate Document to Query:", QUERY),
    "p2q-swap": SourceView("Translate Document to Query: Document: {passage}", QUERY),
    "q2p": SourceView("Query: {query} Translate Query to Document:", PASSAGE),
}


def source_of(view: str, query: str, passage: str) -> str:
    """Return the source text of this view."""
    return _filled(VIEWS[view].source, query, passage)


def _filled(template: str, query: str, passage: str) -> str:
    """Fill in the template; braces within the texts are not placeholders."""
    places = {QUERY: query, PASSAGE: passage}
    return " ".join(places.get(word, word) for word in template.split(" "))


class Template:
    """A view's source as tokens. Texts are tokenized once, then truncated and joined as often as needed.

    The tokenizers of BERT, BART and T5 split at white space first, so the tokens of the parts are those of the whole.
    """

    def __init__(self, view: str, tokenizer: Any, limit: int) -> None:
        """Prepare the view; limit: the number of tokens of the whole source."""
        self.before, self.after = around(tokenizer)
        self.parts: list[Tokens | str] = []
        words: list[str] = []
        for word in [*VIEWS[view].source.split(" "), ""]:
            if word not in (QUERY, PASSAGE, ""):
                words.append(word)
                continue
            if words:
                [ids] = pieces(tokenizer, [" ".join(words)], first=not self.parts)
                self.parts.append(ids)
                words = []
            if word:
                self.parts.append(word)
        fixed = sum(len(part) for part in self.parts if not isinstance(part, str))
        self.room = max(0, limit - fixed - len(self.before) - len(self.after))

    def tokens(self, query: Tokens, passage: Tokens) -> Tokens:
        """Return the source's tokens; if too long, truncate the passage, and the query only where that is not enough.

        query, passage: as `pieces` returns them.
        """
        query_tokens = query[: self.room] if QUERY in self.parts else []
        texts = {QUERY: query_tokens, PASSAGE: passage[: self.room - len(query_tokens)]}
        inner = [id_ for part in self.parts for id_ in (texts[part] if isinstance(part, str) else part)]
        return [*self.before, *inner, *self.after]


def pieces(tokenizer: Any, texts: Sequence[str], first: bool = False) -> list[Tokens]:
    """Return the tokens of each text as part of a longer one, without special tokens; first: as its beginning."""
    if not len(texts):
        return []
    spaced = [identity(text) if first else f" {identity(text)}" for text in texts]
    return list(tokenizer(spaced, add_special_tokens=False, verbose=False)["input_ids"])


def distinct_pieces(tokenizer: Any, texts: Iterable[str]) -> dict[str, Tokens]:
    """Return the tokens of every distinct text."""
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, pieces(tokenizer, distinct), strict=True))


def around(tokenizer: Any) -> tuple[Tokens, Tokens]:
    """Return the special tokens before and after a text."""
    whole, bare = (list(tokenizer("a", add_special_tokens=special)["input_ids"]) for special in (True, False))
    start = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return whole[:start], whole[start + len(bare) :]
