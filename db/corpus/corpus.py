"""A corpus: the items and gold pairs of a project, read from files and checked as a whole."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappush, heappushpop
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from allpairs.db.corpus.cells import MAX_CELL, bad, shown, with_noun
from allpairs.db.corpus.field_kinds import LOOKED_AT, guess_kind, note_on_values
from allpairs.db.corpus.fields import joined, joined_values
from allpairs.db.corpus.files import TO_BE_FOUND, FileFormat, NoColumn, ReadFile, read_rows
from allpairs.db.corpus.gold import USUAL_COLUMNS, GoldColumns, GoldPair, read_gold
from allpairs.db.corpus.item import CorpusItem
from allpairs.db.corpus.staging import ImportedList, StagedPlaces, Staging
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import FieldKind, Kind, Side, Split, Stated
from allpairs.db.errors import InputError
from allpairs.db.identity import ById, identity
from allpairs.db.progress import Progress, no_progress

__all__ = [
    "Columns",
    "Corpus",
    "CorpusItem",
    "GoldPair",
    "load_corpus",
    "make_corpus",
    "read_items",
    "stage_corpus",
]

MAX_ID = 500  # characters of an id
NO_IDS = "; or number the rows of a file without ids, by --id-column ''"


@dataclass(frozen=True)
class Corpus:
    """Items (left ones first), gold pairs as positions in `items`, and notes for the user.

    columns: the text columns; None if every side has only one. stated: which known pairs figures on known pairs are
    of. rows: those of the files, with all columns, if they are kept.
    """

    kind: Kind
    items: Sequence[CorpusItem]  # a list, or on disk
    gold: list[GoldPair]
    notes: list[str] = field(default_factory=list)
    columns: TextColumns | None = None
    stated: Stated = Stated.CLOSED
    rows: Staging | None = field(default=None, compare=False)

    def positions(self, side: Side) -> Mapping[str, int]:
        """Return the position of the item of each id of one side."""
        if isinstance(self.items, Staging):
            return StagedPlaces(self.items, side)
        return ById((name, i) for i, item in enumerate(self.items) if item.side == side for name in item.ids)

    def count(self, side: Side) -> int:
        """Return the number of items of one side."""
        left = bisect_left(self.items, True, key=lambda item: item.side == Side.RIGHT)
        return left if side == Side.LEFT else len(self.items) - left

    def shares(self) -> Counter[tuple[Side, Split | None]]:
        """Return the number of items of each side and split."""
        return Counter((item.side, item.split) for item in self.items)


class Columns(NamedTuple):
    """The columns of an item file. Without an id column (""), the numbers of the rows are the ids.

    kinds: of the text columns; guessed if there are none. stated: what people say of how the file holds them.
    """

    id: str = "id"
    texts: tuple[str, ...] = ("text",)
    kinds: tuple[FieldKind, ...] = ()
    stated: FileFormat = TO_BE_FOUND


def load_corpus(
    left: Path,
    right: Path | None = None,
    gold: Path | None = None,
    *,
    id_column: str = "id",
    text_columns: Sequence[str] = ("text",),
    right_columns: Columns | None = None,
    gold_columns: GoldColumns = USUAL_COLUMNS,
    stated: Stated = Stated.CLOSED,
    fewest: int = 2,
) -> Corpus:
    """Load the corpus of these files into memory: bipartite if there is a right file; gold of one list is closed.

    The right file has the columns of the left one unless `right_columns` says otherwise. fewest: different texts of a
    single list. Raises InputError.
    """
    columns = Columns(id_column, tuple(text_columns))
    corpus = stage_corpus(left, columns, right, right_columns, gold, gold_columns, fewest=fewest)
    return replace(corpus, items=list(corpus.items), stated=stated)


def stage_corpus(
    left: Path,
    columns: Columns,
    right: Path | None = None,
    right_columns: Columns | None = None,
    gold: Path | None = None,
    gold_columns: GoldColumns = USUAL_COLUMNS,
    progress: Progress = no_progress,
    fewest: int = 2,
    keeps_rows: bool = False,
) -> Corpus:
    """Load the corpus with its items on disk, so that memory does not grow with the number of texts.

    keeps_rows: whether all columns of all rows are kept for a project.
    """
    items = Staging(keeps_rows)
    notes = list[str]()
    read_items(items, left, Side.LEFT, columns, notes, at_least=fewest if right is None else 1, progress=progress)
    if right is not None:
        read_items(items, right, Side.RIGHT, right_columns or columns, notes, progress=progress)
    return make_corpus(items, right is None, gold, gold_columns, notes)


def make_corpus(
    items: Staging, symmetric: bool, gold: Path | None, gold_columns: GoldColumns, notes: list[str]
) -> Corpus:
    """Return the corpus of these items, with the gold pairs of a file. Raises InputError."""
    kind = Kind.SYMMETRIC if symmetric else Kind.BIPARTITE
    several = any(len(names) > 1 for names in items.columns.values())
    columns = TextColumns(items.columns, items.kinds) if several else None
    corpus = Corpus(kind, items, [], notes, columns, rows=items if items.lists else None)
    if gold is not None:
        first = corpus.positions(Side.LEFT)
        known = first, first if symmetric else corpus.positions(Side.RIGHT)
        corpus.gold.extend(read_gold(gold, known, symmetric, gold_columns, notes))
    return corpus


class _Merger:
    """Collects the rows of one side; identical texts become one item."""

    def __init__(self, items: Staging, path: Path, side: Side, columns: Columns) -> None:
        self.items = items
        self.path = path
        self.side = side
        self.columns = columns
        self.start = len(items)
        self.looked_at = list[tuple[int, Sequence[str]]]()  # rows to guess from, with digests that order never changes

    def add(self, row: int, name: str, values: Sequence[str]) -> None:
        put = heappush if len(self.looked_at) < LOOKED_AT else heappushpop
        put(self.looked_at, (-crc32("\0".join(values).encode("utf-8", "surrogatepass")), values))
        text, lengths = joined(values)
        key = identity(text)
        self._check(row, name, text, key)
        if (before := self.items.add(self.side, name, row, text, key, lengths)) is not None:
            same = "the same" if before.place == self.items.place_of(self.side, key) else "another"
            problem = f"the id {shown(name)} is already in row {before.row}, with {same} text; ids must be unique"
            raise bad(problem, self.path, row, self.columns.id)

    def kinds(self) -> tuple[FieldKind, ...]:
        """Return what the columns are, as somebody says or by a guess."""
        rows = [values for _, values in self.looked_at]
        return self.columns.kinds or tuple(map(guess_kind, self.columns.texts, zip(*rows, strict=True)))

    def value_notes(self) -> Iterator[str]:
        """Yield what people should know of how several columns are read."""
        for place, (name, kind) in enumerate(zip(self.columns.texts, self.items.kinds[self.side], strict=False)):
            if note := note_on_values(kind, partial(self._values, place)):
                yield f"{self.path.name}, column {shown(name)}: {note}."

    def _values(self, place: int) -> Iterator[str]:
        return (joined_values(item.text, item.lengths)[place] for item in self.items.since(self.start))

    def _check(self, row: int, name: str, text: str, key: str) -> None:
        if not name:
            raise bad("the id is empty; give every row an id", self.path, row, self.columns.id)
        if len(name) > MAX_ID:
            problem = f"the id has {len(name):,} characters, but the limit is {MAX_ID}; shorten it"
            raise bad(problem, self.path, row, self.columns.id)
        columns = " + ".join(self.columns.texts)
        if not key:
            problem = "has only signs that do not show" if text else "is empty"
            raise bad(f"the text {problem}; fill it or remove the row", self.path, row, columns)
        if len(text) > MAX_CELL:  # each of its columns may be as long
            problem = f"the text has {len(text):,} characters, but the limit is {MAX_CELL:,}; shorten it or join less"
            raise bad(problem, self.path, row, columns)

    def note(self) -> str | None:
        """Return a note on texts that occur more than once, or None."""
        merged, ids, first = self.items.shared(self.start)
        if not merged:
            return None
        return (
            f"{self.path.name}: {ids:,} rows share their text with another row and became "
            f"{with_noun(merged, 'item')} with several ids (first: {' and '.join(map(shown, first))})."
        )


def read_items(
    items: Staging,
    path: Path,
    side: Side,
    columns: Columns,
    notes: list[str],
    at_least: int = 1,
    progress: Progress = no_progress,
) -> None:
    """Add the items of one side, with identical texts merged; the notes say how many.

    Raises InputError, also for fewer than `at_least` items.
    """
    if not columns.texts:
        raise InputError(f"{path.name}: no text column is chosen; name at least one")
    merger = _Merger(items, path, side, columns)
    items.columns[side] = columns.texts
    named = [columns.id] if columns.id else []
    wanted_columns = *named, *columns.texts
    about = ReadFile(notes=notes)
    try:
        for number, values in read_rows(
            path, wanted_columns, progress, stated=columns.stated, about=about, whole=items.keeps_rows
        ):
            name = values[0].strip() if named else str(number)
            merger.add(number, name, values[len(named) : len(wanted_columns)])
            if items.keeps_rows:
                items.add_row(side, name, values[len(wanted_columns) :])
    except NoColumn as error:
        raise InputError(f"{error}{NO_IDS if error.column == columns.id else ''}") from None
    if items.keeps_rows:
        items.lists[side] = ImportedList(path.name, tuple(about.names), columns.id, columns.texts, about.format)
    items.kinds[side] = merger.kinds()
    if (note := merger.note()) is not None:
        notes.append(note)
    if (count := len(items) - merger.start) < at_least:
        raise InputError(f"{path.name}: {count} distinct text is too few for a pair; provide at least {at_least}")
    if len(columns.texts) > 1:
        notes.extend(merger.value_notes())
