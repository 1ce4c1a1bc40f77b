"""Items staged on disk between files and a project, so that memory does not limit the number of texts."""

import hashlib
import json
import sqlite3
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, overload

from allpairs.db.corpus.formats.table import FileFormat
from allpairs.db.corpus.item import CorpusItem
from allpairs.db.domain import FieldKind, Side
from allpairs.db.identity import same_id

CACHE = 32 * 1024  # KiB of the file that are kept in memory
TABLES = """
CREATE TABLE texts (place INTEGER PRIMARY KEY, side TEXT, digest BLOB, text TEXT, lengths TEXT);
CREATE UNIQUE INDEX texts_by_digest ON texts (side, digest);
CREATE TABLE names (
    side TEXT, key TEXT, name TEXT, row INTEGER, place INTEGER, PRIMARY KEY (side, key)
) WITHOUT ROWID;
CREATE INDEX names_by_place ON names (place, row);
CREATE TABLE rows (place INTEGER PRIMARY KEY, side TEXT, name TEXT, cells TEXT);
"""
ITEMS = """
SELECT place, texts.side, text, lengths, name FROM texts JOIN names USING (place) WHERE place >= ? ORDER BY place, row
"""


class Named(NamedTuple):
    """The place where an id was first seen."""

    row: int  # of the file
    place: int  # of the item


@dataclass(frozen=True)
class ImportedList:
    """A file of one side as it came in. columns: the names of all, the id's among them, which is empty without one."""

    file: str
    columns: tuple[str, ...]
    id_column: str
    compared: tuple[str, ...]
    format: FileFormat


class StagedRow(NamedTuple):
    """A row of a file as it was written, with its id."""

    name: str
    cells: list[str]


class Staging(Sequence[CorpusItem]):
    """Items in the order in which they were added, in a file that is deleted with this object.

    keeps_rows: whether the rows of the files are kept beside them.
    """

    def __init__(self, keeps_rows: bool = False) -> None:
        self.keeps_rows = keeps_rows
        self.lists: dict[Side, ImportedList] = {}  # whose rows are kept
        self.file = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self.columns: dict[Side, tuple[str, ...]] = {}  # the names of the text columns
        self.kinds: dict[Side, tuple[FieldKind, ...]] = {}  # what their values are
        weakref.finalize(self, self.file.close)
        self.file.executescript(f"PRAGMA cache_size = -{CACHE}; PRAGMA journal_mode = OFF; {TABLES} BEGIN")
        self._size = 0

    def add(self, side: Side, name: str, row: int, text: str, key: str, lengths: Sequence[int] = ()) -> Named | None:
        """Let the id name the item of this side with this identity, which is added if it is new.

        lengths: of the text columns' values in the text.

        Returns where the id was seen before, if it was; the items are then unusable.
        """
        values = (self._size, side.value, _digest(key), text, json.dumps(lengths) if lengths else None)
        added = self.file.execute("INSERT INTO texts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", values).rowcount
        place = self._size if added else self.place_of(side, key)
        self._size += added
        try:
            self.file.execute("INSERT INTO names VALUES (?, ?, ?, ?, ?)", (side.value, same_id(name), name, row, place))
        except sqlite3.IntegrityError:
            return self.named(side, name)
        return None

    def add_row(self, side: Side, name: str, cells: Sequence[str]) -> None:
        """Keep a row as it was written, after those before it."""
        values = (side.value, name, json.dumps(cells))
        self.file.execute("INSERT INTO rows (side, name, cells) VALUES (?, ?, ?)", values)

    def rows_of(self, side: Side) -> Iterator[StagedRow]:
        """Yield the rows of a side as they were added."""
        rows = self.file.execute("SELECT name, cells FROM rows WHERE side = ? ORDER BY place", (side,))
        return (StagedRow(name, json.loads(cells)) for name, cells in rows)

    def named(self, side: Side, name: str) -> Named | None:
        """Return where this id of this side was first seen, or None."""
        query = "SELECT row, place FROM names WHERE side = ? AND key = ?"
        row = self.file.execute(query, (side, same_id(name))).fetchone()
        return row and Named(*row)

    def place_of(self, side: Side, key: str) -> int | None:
        """Return the position of the item of this side with this identity, or None."""
        query = "SELECT place FROM texts WHERE side = ? AND digest = ?"
        row = self.file.execute(query, (side, _digest(key))).fetchone()
        return row and int(row[0])

    def shared(self, start: int) -> tuple[int, int, list[str]]:
        """Return, from this position on: how many items have several ids, how many ids, and the first two of those."""
        several = "SELECT place, count(*) AS n FROM names WHERE place >= ? GROUP BY place HAVING n > 1"
        counted = f"SELECT count(*), coalesce(sum(n), 0), min(place) FROM ({several})"
        items, ids, first = self.file.execute(counted, (start,)).fetchone()
        names = self.file.execute("SELECT name FROM names WHERE place = ? ORDER BY row LIMIT 2", (first,))
        return items, ids, [name for (name,) in names]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[CorpusItem]:
        return self.since(0)

    @overload
    def __getitem__(self, index: int) -> CorpusItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[CorpusItem]: ...
    def __getitem__(self, index: int | slice) -> CorpusItem | list[CorpusItem]:
        if isinstance(index, slice):
            return [self[i] for i in range(self._size)[index]]
        return next(self.since(range(self._size)[index]))

    def since(self, place: int) -> Iterator[CorpusItem]:
        """Yield the items from this position on."""
        for _, group in groupby(self.file.execute(ITEMS, (place,)), key=itemgetter(0)):
            rows = list(group)
            _, side, text, lengths, _ = rows[0]
            names = tuple(name for *_, name in rows)
            yield CorpusItem(names, Side(side), text, lengths=tuple(json.loads(lengths)) if lengths else ())


class StagedPlaces(Mapping[str, int]):
    """The position of the item of each id of one side, looked up on disk."""

    def __init__(self, items: Staging, side: Side) -> None:
        self._items = items
        self._side = side

    def __getitem__(self, name: str) -> int:
        position = self._items.named(self._side, name)
        if position is None:
            raise KeyError(name)
        return position.place

    def __iter__(self) -> Iterator[str]:
        rows = self._items.file.execute("SELECT name FROM names WHERE side = ? ORDER BY place, row", (self._side,))
        return (name for (name,) in rows)

    def __len__(self) -> int:
        return int(self._items.file.execute("SELECT count(*) FROM names WHERE side = ?", (self._side,)).fetchone()[0])


def _digest(key: str) -> bytes:
    # 128 bits: among a billion different texts, two would share it with a probability of 10⁻²¹.
    return hashlib.blake2b(key.encode(), digest_size=16).digest()
