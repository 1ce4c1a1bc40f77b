"""The nearest items of a text or an item, and items that contain some words."""

from dataclasses import dataclass, replace

from sqlalchemy import Engine

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.prepared import ShownPair, described_pairs
from allpairs.annotate.kit.jobs.requests import request_apart
from allpairs.db.domain import Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.items import item_of, item_texts, items_with
from allpairs.db.projects.jobs import SEARCH
from allpairs.db.results.job_results import Search
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item

LONGEST = 10_000  # characters in a typed text
MOST_ITEMS = 20  # items to show


@dataclass(frozen=True)
class NearItem:
    """An item that a search found, why it scores so, and the pair it forms with the searched item, if there is one."""

    item_id: int
    text: str
    score: float
    p: float | None
    reason: str
    pair: ShownPair | None


def request_text_search(engine: Engine, project_id: int, number: int, text: str, of_left: bool) -> str:
    """Request the search for the nearest items of a typed text under the matcher of this number; return the job's id.

    of_left: whether the text belongs to the left list. Several people may search at once. Raises InputError if the text
    is empty or too long.
    """
    if not text.strip():
        raise InputError("the search text is empty: type a text")
    if len(text) > LONGEST:
        raise InputError(f"the text has {len(text):,} characters, but the limit is {LONGEST:,}: shorten it")
    return request_apart(engine, project_id, SEARCH, number, text, None, of_left, right=Right.SEE)


def request_item_search(engine: Engine, project_id: int, number: int, item_id: int) -> str:
    """Request the search for the nearest items of this one; return the job's id. Raises InputError if it is gone."""
    with reading(engine) as session:
        item = item_of(session, project_id, item_id)
    is_left = item.side == Side.LEFT
    return request_apart(engine, project_id, SEARCH, number, item.text, item_id, is_left, right=Right.SEE)


def nearest_items(engine: Engine, project_id: int, kind: Kind, search: Search, shown_hits: slice) -> list[NearItem]:
    """Return some hits of a search, the nearest first, with what is known of the pairs they form."""
    hits = search.hits[shown_hits]
    ids = [hit.item_id for hit in hits]
    with reading(engine) as session:
        if search.item_id is None:
            texts = item_texts(session, ids)
            return [NearItem(hit.item_id, texts[hit.item_id], hit.score, hit.p, hit.why, None) for hit in hits]
        left = session.get_one(Item, search.item_id).side == Side.LEFT
        pairs = [_pair(search.item_id, id_, kind, left) for id_ in ids]
        rows = described_pairs(session, project_id, pairs, [hit.score for hit in hits], [hit.p for hit in hits])
    texts_of = [row.right if row.right_id == hit.item_id else row.left for hit, row in zip(hits, rows, strict=True)]
    return [
        NearItem(hit.item_id, text, hit.score, hit.p, hit.why, replace(row, why=hit.why))
        for hit, text, row in zip(hits, texts_of, rows, strict=True)
    ]


def _pair(item_id: int, other_id: int, kind: Kind, left: bool) -> tuple[int, int]:
    """Return the pair as it is stored."""
    if kind == Kind.SYMMETRIC:
        return min(item_id, other_id), max(item_id, other_id)
    return (item_id, other_id) if left else (other_id, item_id)


def items_by_words(engine: Engine, project_id: int, words: str) -> list[Item]:
    """Return the first 20 items of the project that contain all these words, in any order."""
    with reading(engine) as session:
        return items_with(session, project_id, words.split(), MOST_ITEMS) if words.split() else []
