"""Items, their identifiers and gold pairs: bulk storage, counts and look-ups."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, func, insert, select
from sqlalchemy.orm import Session

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.gold import GoldPair
from allpairs.db.corpus.item import CorpusItem
from allpairs.db.domain import Side, Split
from allpairs.db.errors import InputError
from allpairs.db.identity import ById
from allpairs.db.progress import Progress, no_progress
from allpairs.db.schema.tables import Base, Gold, Identifier, IdentifierChange, Item

CHUNK = 10_000  # rows in one statement
MOST_WORDS = 20  # of a search
LONGEST_SEARCH = 1_000  # characters of a search
Id = TypeVar("Id", int, str)


def add_corpus(session: Session, project_id: int, corpus: Corpus, progress: Progress = no_progress) -> None:
    """Store the items, identifiers and gold pairs of the corpus, a chunk at a time.

    Item ids ascend in the order of the corpus, so that left < right also holds for stored pairs.
    """
    n = len(corpus.items)
    add_rows(session, Item, (_item(project_id, item) for item in _reported(corpus.items, n, progress, "storing texts")))
    stored = select(Item.id).where(Item.project_id == project_id).order_by(Item.id)
    ids = array("q", session.scalars(stored.execution_options(yield_per=CHUNK)))  # 8 bytes each
    add_rows(session, Identifier, _identifiers(project_id, ids, _reported(corpus.items, n, progress, "storing ids")))
    add_rows(session, Gold, (_gold(project_id, ids, pair) for pair in corpus.gold))


def _reported(items: Iterable[CorpusItem], n: int, progress: Progress, stage: str) -> Iterator[CorpusItem]:
    for i, item in enumerate(items):
        if i % CHUNK == 0:
            progress(stage, i / n)
        yield item


def _item(project_id: int, item: CorpusItem) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "side": item.side,
        "split": item.split,
        "text": item.text,
        "field_lengths": list(item.lengths) or None,
    }


def _identifiers(project_id: int, ids: Sequence[int], items: Iterable[CorpusItem]) -> Iterator[dict[str, Any]]:
    for id_, item in zip(ids, items, strict=True):
        for name in item.ids:
            yield {"project_id": project_id, "side": item.side, "external_id": name, "item_id": id_}


def _gold(project_id: int, ids: Sequence[int], pair: GoldPair) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "left_id": ids[pair.left],
        "right_id": ids[pair.right],
        "positive": pair.positive,
        "closure": pair.closure,
    }


def add_rows(session: Session, table: type[Base], rows: Iterable[dict[str, Any]]) -> None:
    """Insert the rows, a chunk at a time."""
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        session.execute(insert(table.__table__), chunk)  # type: ignore[arg-type]


def present(project_id: int) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for the texts of the project that have not been withdrawn."""
    return Item.project_id == project_id, Item.withdrawn_at.is_(None)


def item_counts(session: Session, project_id: int) -> dict[tuple[Side, Split], int]:
    """Return how many items of the project have each side and split, without withdrawn ones."""
    counted = select(Item.side, Item.split, func.count()).where(*present(project_id))
    rows = session.execute(counted.group_by(Item.side, Item.split))
    return {(Side(side), Split(split)): count for side, split, count in rows}


def gold_label_counts(session: Session, project_id: int) -> dict[bool, int]:
    """Return how many gold pairs of the project are positive (True) and negative (False)."""
    counted = select(Gold.positive, func.count()).where(Gold.project_id == project_id)
    counts = {bool(positive): count for positive, count in session.execute(counted.group_by(Gold.positive))}
    return {label: counts.get(label, 0) for label in (True, False)}


def items_by_identifier(session: Session, project_id: int, side: Side) -> Mapping[str, int]:
    """Return the item of each imported id of one side, whichever way the id is spelt in Unicode."""
    named = select(Identifier.external_id, Identifier.item_id).where(Identifier.project_id == project_id)
    return ById(session.execute(named.where(Identifier.side == side)).tuples())


def identifiers_of(session: Session, item_ids: Iterable[int]) -> dict[int, list[str]]:
    """Return all imported ids of each of these items, ascending: identical texts are one item."""
    return _named(session, Identifier.item_id, Identifier.external_id, item_ids)


def known_identifiers(session: Session, item_ids: Iterable[int]) -> dict[int, list[str]]:
    """Return all imported ids of each of these items; of withdrawn ones, those that they had."""
    item_ids = set(item_ids)
    present_ids = identifiers_of(session, item_ids)
    columns = IdentifierChange.before_id, IdentifierChange.external_id
    return present_ids | _named(session, *columns, item_ids - present_ids.keys())


def _named(session: Session, item: Any, name: Any, item_ids: Iterable[int]) -> dict[int, list[str]]:
    named: dict[int, list[str]] = {}
    for chunk in chunks(item_ids):
        rows = select(item, name).where(item.in_(chunk)).distinct().order_by(name)
        for id_, external_id in session.execute(rows):
            named.setdefault(id_, []).append(external_id)
    return named


def id_counts(session: Session, project_id: int) -> dict[int, int]:
    """Return how many ids each item of the project has that has several."""
    counts = select(Identifier.item_id, func.count()).where(Identifier.project_id == project_id)
    return dict(session.execute(counts.group_by(Identifier.item_id).having(func.count() > 1)).tuples().all())


def item_texts(session: Session, item_ids: Iterable[int]) -> dict[int, str]:
    """Return the text of each of these items."""
    return {
        id_: text
        for chunk in chunks(item_ids)
        for id_, text in session.execute(select(Item.id, Item.text).where(Item.id.in_(chunk)))
    }


def items_with(session: Session, project_id: int, words: Sequence[str], n: int, side: Side | None = None) -> list[Item]:
    """Return the first n items of the project, or of one side, whose texts contain all these words, ignoring case.

    Withdrawn ones are not among them. Raises InputError as `containing`.
    """
    conditions = [*present(project_id), *([Item.side == side] if side else [])]
    return list(session.scalars(select(Item).where(*conditions, *containing(words)).order_by(Item.id).limit(n)))


def containing(words: Sequence[str]) -> list[ColumnElement[bool]]:
    """Return the conditions that an item's text contains all these words. Raises InputError for very many or long ones.

    The database compares each word with each text.
    """
    length = sum(map(len, words))
    if len(words) > MOST_WORDS or length > LONGEST_SEARCH:
        problem = f"the search has {len(words):,} words of {length:,} characters"
        raise InputError(f"{problem}, but the limits are {MOST_WORDS} and {LONGEST_SEARCH:,}: search for fewer")
    return [Item.text.icontains(word, autoescape=True) for word in words]


def item_of(session: Session, project_id: int, item_id: int) -> Item:
    """Return the item. Raises InputError if the project has no such item, or if it has been withdrawn."""
    item = session.get(Item, item_id)
    if item is None or item.project_id != project_id or item.withdrawn_at is not None:
        raise InputError("this text is not in the project any more: choose another one")
    return item


def chunks(ids: Iterable[Id]) -> Iterator[list[Id]]:
    """Yield the ids once each, ascending, as many as one statement takes at a time."""
    ids = iter(sorted(set(ids)))
    while chunk := list(islice(ids, CHUNK)):
        yield chunk
