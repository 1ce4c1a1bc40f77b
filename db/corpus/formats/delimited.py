"""Text files with separated cells, line by line, with errors that name row and column."""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from allpairs.db.corpus.cells import MAX_CELL, MAX_LINE, TableRow, bad, shown, too_long, with_noun
from allpairs.db.corpus.formats.dialect import (
    ENCODINGS,
    SEPARATORS,
    Dialect,
    Letters,
    as_utf8,
    find_dialect,
    is_encoding,
    is_of_mac,
    quotes_enclose,
    unicode_encoding,
)
from allpairs.db.corpus.formats.table import CellReader, FileFormat
from allpairs.db.errors import InputError
from allpairs.db.identity import INVISIBLE


class Lines:
    """The decoded lines of a file; keeps the lines of the current record."""

    def __init__(self, path: Path, stream: IO[bytes], dialect: Dialect, translated: bool = False) -> None:
        self.path = path
        self.stream = stream
        self.dialect = dialect
        self.letters = Letters(translated)
        self.bom = False  # whether the file begins with the mark of UTF-8
        self.names: list[str] = []  # the header, once it is read
        self.number = 0  # of the last line read
        self.offset = 0  # bytes before the next line
        self.record: list[str] = []  # lines of the current record

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        raw = self.stream.readline(MAX_LINE)
        if not raw:
            raise StopIteration
        self.number += 1
        if self.number == 1 and raw.startswith(BOM_UTF8):
            raw = raw.removeprefix(BOM_UTF8)
            self.offset = len(BOM_UTF8)
            self.bom = True
        cut = len(raw) == MAX_LINE and not raw.endswith(b"\n")
        line = raw.decode(errors="replace") if cut else self._decoded(raw)
        self.record.append(line)
        if cut:
            raise self.wide_cell()
        self.offset += len(raw)
        return line

    @property
    def start(self) -> int:
        """The number of the record's first line."""
        return self.number - len(self.record) + 1

    def next_record(self) -> None:
        """Start a new record with the next line."""
        self.record.clear()

    def _decoded(self, raw: bytes) -> str:
        try:
            return self.letters.decoded(raw, self.number)
        except UnicodeDecodeError as error:
            self.record.append(raw[: error.start].decode(errors="replace"))
            problem = f"byte 0x{raw[error.start]:02X} at offset {self.offset + error.start:,} is not {error.reason}"
            raise self.error(f"{problem}; save the file as UTF-8", self._cells() - 1) from None

    def error(self, problem: str, column: int | None) -> InputError:
        """Return an error in the current record, in the column of that position."""
        known = column is not None and column < len(self.names)
        return bad(problem, self.path, self.start, self.names[column] if known and column is not None else None)

    def wide_cell(self) -> InputError:
        """Return the error for the first cell of the record that is too long."""
        for column, (length, _) in enumerate(self.spans()):
            if length > MAX_CELL:
                name = self.names[column] if column < len(self.names) else None
                return too_long(length, self.path, self.start, name, at_least=True)
        return self.error(f"the line has more than {MAX_LINE:,} bytes; split the file into rows", None)

    def _cells(self) -> int:
        return sum(1 for _ in self.spans())

    def spans(self) -> Iterator[tuple[int, bool]]:
        """Yield (length, properly quoted) for each cell of the record as far as it is read."""
        text = "".join(self.record)
        end = -1
        quoted = '("[^"]*(?:""[^"]*)*("?))?' if self.dialect.quoted else ""
        cell = re.compile(f"(?:{quoted or '()()'})([^{re.escape(self.dialect.separator)}]*)")
        while end < len(text):
            match = cell.match(text, end + 1)
            if match is None:
                return
            well = not match[1] or (bool(match[2]) and not match[3].strip("\r\n"))
            yield match.end() - match.start(), well
            end = match.end()


class DelimitedTable:
    """A text file with separated cells. usual: the separator if none is clear."""

    def __init__(self, path: Path, stream: IO[bytes], usual: str, stated: FileFormat) -> None:
        self.path = path
        self.stream = stream
        self.stated = stated
        if stated.encoding and not is_encoding(stated.encoding):
            problem = f"no encoding is called {shown(stated.encoding)}; name one of {', '.join(ENCODINGS)}"
            raise bad(problem, path)
        self.guarded = False
        self.unicode = unicode_encoding(stream)
        self.encoding = stated.encoding or ("mac-roman" if is_of_mac(stream) else "")
        dialect = find_dialect(self._utf8(), usual)
        self.dialect = replace(dialect, separator=stated.separator or dialect.separator)
        if self.dialect.separator == "\t":
            quoted = quotes_enclose(self._below_statement().stream, "\t")
            self.dialect = replace(self.dialect, quoted=quoted)
        self.lines = self._below_statement()

    @property
    def format(self) -> FileFormat:
        """How the file turned out to hold the table."""
        encoding = self.encoding or ("cp1252" if self.lines.letters.doubtful else self.unicode)
        return replace(
            self.stated, separator=self.dialect.separator, encoding=encoding, bom=self.lines.bom, guarded=self.guarded
        )

    @property
    def notes(self) -> Sequence[str]:
        """A note on the encoding, if it is not Unicode by a guess."""
        if self.lines.letters.doubtful is None:
            return ()
        row, text = self.lines.letters.doubtful
        problem = f"{self.path.name} is not UTF-8 and was read as {ENCODINGS[self.format.encoding]}"
        return (
            f"{problem} (row {row:,}: {shown(text)}): if letters are wrong, choose the encoding or save it as UTF-8.",
        )

    def _utf8(self) -> IO[bytes]:
        return as_utf8(self.path, self.stream, self.encoding)

    def _below_statement(self) -> Lines:
        """Return the lines from the start, without a first one that states the separator."""
        guessed = bool(self.encoding) and not self.stated.encoding
        lines = Lines(self.path, self._utf8(), self.dialect, guessed)
        if self.dialect.stated:
            next(lines)
            lines.next_record()
        return lines

    def names(self, _enough: Sequence[str] = ()) -> list[str]:
        """Return the column names in the first line."""
        self.lines = self._below_statement()
        return _header(_records(self.lines), self.lines)

    def rows(
        self, columns: Sequence[str], _lenient: Mapping[str, CellReader], _optional: Sequence[str] = ()
    ) -> Iterator[TableRow]:
        """Yield the rows below the header with these columns; in CSV files without the apostrophe before a formula."""
        lines = self.lines = self._below_statement()
        records = _records(lines)
        header = _header(records, lines)
        unnamed = (position for position, name in enumerate(header) if not name)
        positions = [header.index(column) if column else next(unnamed) for column in columns]
        for number, cells in records:
            if len(cells) < len(header) or any(cells[len(header) :]):
                raise bad(_ragged(len(cells), len(header), lines.dialect), lines.path, number)
            values = tuple(cells[position] for position in positions)
            restored = tuple(map(lines.dialect.restored, values))
            self.guarded = self.guarded or restored != values
            yield TableRow(number, restored)


def _ragged(cells: int, columns: int, dialect: Dialect) -> str:
    problem = f"the row has {with_noun(cells, 'cell')}, but the header has {columns:,}"
    if cells < columns:
        return f"{problem}; add the cells that are missing"
    name = SEPARATORS.get(dialect.separator, dialect.separator)
    return f"{problem}; put cells that contain the separator, a {name}, in quotes"


def _header(records: Iterator[tuple[int, list[str]]], lines: Lines) -> list[str]:
    _, cells = next(records, (0, []))
    if any("\0" in cell for cell in cells):
        raise bad("the header has NUL characters; save the file as UTF-8", lines.path, 1)
    lines.names = [lines.dialect.restored(INVISIBLE.sub("", cell).strip()) for cell in cells]
    while lines.names and not lines.names[-1]:  # separators at the end of the lines
        lines.names.pop()
    return lines.names


def _records(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    parsed = _quoted(lines) if lines.dialect.quoted else _unquoted(lines)
    for cells in parsed:
        if any(map(str.strip, cells)) or len(cells) == len(lines.names) == 1:  # an empty row may be separators alone
            yield lines.start, cells
        lines.next_record()


def _unquoted(lines: Lines) -> Iterator[list[str]]:
    # Quotes are literal text here, as in the released files of WikiQA.
    for line in lines:
        text = line.removesuffix("\n").removesuffix("\r")
        yield text.split(lines.dialect.separator) if text else []


def _quoted(lines: Lines) -> Iterator[list[str]]:
    reader = csv.reader(lines, delimiter=lines.dialect.separator, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _explained(lines, str(error)) from None
        yield cells


def _explained(lines: Lines, message: str) -> InputError:
    """Translate the csv module's message for the owner of the file."""
    if "new-line" in message:
        return lines.error("a carriage return in the middle of a line; save the file with ordinary line endings", None)
    broken = next((column for column, (_, well) in enumerate(lines.spans()) if not well), None)
    if "field limit" in message:
        if len(lines.record) == 1:
            return lines.wide_cell()
        problem = f"a quote opens a cell of more than {csv.field_size_limit():,} characters here, but the limit is"
        return lines.error(f"{problem} {MAX_CELL:,}; close the quote or shorten the text", broken)
    problem = "broken quoting: a quote opens a cell here but is not closed at the end of the cell"
    return lines.error(f'{problem}; close it, and double each quote inside the text ("")', broken)
