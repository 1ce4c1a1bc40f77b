"""The nearest items of a text or an item: requested, awaited, shown; and items found by their words."""

from dataclasses import dataclass, replace

from sqlalchemy import Engine

from allpairs.annotate.kit.jobs.job_progress import JobProgress
from allpairs.annotate.kit.jobs.prepared import ShownPair, shown
from allpairs.annotate.kit.jobs.requests import request_search
from allpairs.db.domain import Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.items import item_of, item_texts, items_with
from allpairs.db.projects.jobs import job_of, live_workers
from allpairs.db.results.explorations import Search, read_search
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


def ask_text(engine: Engine, project_id: int, number: int, text: str, of_left: bool) -> str:
    """Request the search for this text under the matcher of this number; return the job's id. Raises InputError."""
    if not text.strip():
        raise InputError("the search text is empty: type a text")
    if len(text) > LONGEST:
        raise InputError(f"the text has {len(text):,} characters, but the limit is {LONGEST:,}: shorten it")
    return request_search(engine, project_id, number, text, None, of_left)


def ask_item(engine: Engine, project_id: int, number: int, item_id: int) -> str:
    """Request the search for the nearest items of this one; return the job's id. Raises InputError if it is gone."""
    with reading(engine) as session:
        item = item_of(session, project_id, item_id)
    return request_search(engine, project_id, number, item.text, item_id, item.side == Side.LEFT)


def work(engine: Engine, project_id: int, job_id: str) -> JobProgress:
    """Return the progress of the project's search, or of another job that somebody waits for."""
    with reading(engine) as session:
        return JobProgress(job_of(session, project_id, job_id), bool(live_workers(session)))


def search_result(project_id: int, job_id: str) -> Search | None:
    """Return the result of the search; None if there is none yet, or no longer."""
    return read_search(project_id, job_id)


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
        rows = shown(session, project_id, pairs, [hit.score for hit in hits], [hit.p for hit in hits])
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
