"""A new version of a project's list: read as the one before, compared with it, taken over, and what is new in it."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from allpairs.annotate.features.clean.overview import find_doubles
from allpairs.annotate.features.clean.project_list import NO_LIST, groups_of_rows
from allpairs.annotate.features.groups.open_groups import open_near_misses
from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.features.texts.change_texts import Act, Outcome, TextFile
from allpairs.db.corpus.cells import shown
from allpairs.db.corpus.corpus import Columns
from allpairs.db.corpus.files import TO_BE_FOUND, FileFormat, column_names, opened
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import MATCHES, OPEN, last_job
from allpairs.db.projects.lists import current_list, standing_rows
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import reading
from allpairs.db.texts.versions import new_rows, new_texts

UNSURE = (0.1, 0.9)  # the probabilities between which a link is unsure
CHUNK = 1 << 20  # bytes
KINDS = {
    "new": ("new", "equal"),
    "changed": ("changed", "updated"),
    "gone": ("withdrawn",),
    "the same": ("same",),
}


class MissingColumns(InputError):
    """A new version lacks columns that are compared, or the one with the ids. names: of the file's columns."""

    def __init__(self, path: Path, missing: list[str], names: list[str]) -> None:
        listed = ", ".join(map(shown, missing))
        super().__init__(f"{path.name}: the file lacks columns of the list, {listed}: say what they are called now")
        self.missing = missing
        self.names = names


@dataclass(frozen=True)
class NewRows:
    """The rows that the newest version of a list brought. unsure: those in unsure groups, or with a near miss."""

    total: int
    unsure: int

    @property
    def share(self) -> float:
        """The share that is unsure, 0 without new rows."""
        return self.unsure / self.total if self.total else 0.0


def version_file(engine: Engine, project_id: int, path: Path, side: Side, renamed: Mapping[str, str]) -> TextFile:
    """Return the file as what replaces a list, read as that was. renamed: the file's names of the list's columns.

    Raises MissingColumns, InputError for a file that cannot be read, and if the list's rows are not kept.
    """
    with reading(engine) as session:
        version = current_list(session, project_id, side)
        if version is None:
            raise InputError(NO_LIST)
        before = FileFormat(**version.format)
        columns = [version.id_column, *version.compared]
    id_column, *compared = [renamed.get(name, name) for name in columns]
    remembered = FileFormat(before.separator, "" if _is_utf_8(path) else before.encoding, before.sheet)
    for stated in (remembered, TO_BE_FOUND):
        try:
            names = column_names(path, stated)
        except InputError:
            if stated == TO_BE_FOUND:
                raise
            continue
        missing = [name for name in columns if name and renamed.get(name, name) not in names]
        if not missing:
            return TextFile(path, Act.REPLACE, side, Columns(id_column, tuple(compared), stated=stated))
    raise MissingColumns(path, missing, names)


def _is_utf_8(path: Path) -> bool:
    """Return whether the file is text in UTF-8, whatever the list before was in."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with opened(path) as stream:
            while chunk := stream.read(CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
    except (OSError, EOFError, UnicodeDecodeError):
        return False
    return True


def preview_version(engine: Engine, project_id: int, file: TextFile) -> Outcome:
    """Return what a new version changes. Raises InputError as `preview_change`."""
    return change_texts.preview_change(engine, _name(engine, project_id), file)


def replace_list_with(engine: Engine, project_id: int, file: TextFile) -> Outcome:
    """Store a new version, all of it or nothing. Raises InputError as `apply`."""
    return change_texts.apply(engine, _name(engine, project_id), file)


def search_again(engine: Engine, project_id: int) -> str:
    """Request the search for doubles by the newest model; return its id, or that of the one that is under way.

    Raises InputError while there is no model.
    """
    with reading(engine) as session:
        last = last_job(session, project_id, [MATCHES])
    return last.id if last is not None and last.state in OPEN else find_doubles(engine, project_id)


def counts_in_words(outcome: Outcome) -> str:
    """Return how many rows are new, changed, gone and the same."""
    return ", ".join(f"{sum(outcome.counts[kind] for kind in kinds):,} {word}" for word, kinds in KINDS.items())


def count_new_rows(engine: Engine, project_id: int, side: Side) -> NewRows:
    """Return how many rows the newest version of the list brought, and how many of them are unsure.

    A row is unsure in a group whose weakest link has a probability between 0.1 and 0.9, or none; and beside a near
    miss, a text that was not joined with a probability of at least 0.1. A row with the text of an older one is sure.
    """
    low, high = UNSURE
    with reading(engine) as session:
        item_of_row = new_rows(session, project_id, side)
        if not item_of_row:
            return NewRows(0, 0)
        new_items = new_texts(session, project_id)
        near = {item for pair, p in open_near_misses(session, project_id) if p >= low for item in pair}
        groups = groups_of_rows(session, project_id, side)
        unsure = 0
        for place, name, _ in session.execute(standing_rows(project_id, side), execution_options={"yield_per": 1_000}):
            if item_of_row.get(name) in new_items:
                group = groups.get(place)
                in_doubt = group is not None and (group.sure is None or low <= group.sure <= high)
                unsure += in_doubt or item_of_row[name] in near
    return NewRows(len(item_of_row), unsure)


def _name(engine: Engine, project_id: int) -> str:
    with reading(engine) as session:
        return project_of(session, project_id).name
