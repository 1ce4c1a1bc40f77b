"""CSV and TSV files, line by line, with errors that name row and column."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from allpairs.db.corpus.cells import MAX_CELL, MAX_LINE, Row, bad, too_long
from allpairs.db.corpus.formula import unguarded
from allpairs.db.errors import InputError

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Lines:
    """The decoded lines of a file; keeps the lines of the current record."""

    def __init__(self, path: Path, stream: IO[bytes], delimiter: str) -> None:
        self.path = path
        self.stream = stream
        self.delimiter = delimiter
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
        if self.number == 1:
            raw = self._without_mark(raw)
        line = self._decoded(raw)
        self.record.append(line)
        if len(raw) == MAX_LINE and not raw.endswith(b"\n"):
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

    def _without_mark(self, raw: bytes) -> bytes:
        if raw.startswith(UTF16_MARKS):
            raise bad("the file is in UTF-16; save it as UTF-8", self.path, 1)
        if raw.startswith(UTF8_MARK):
            self.offset = len(UTF8_MARK)
        return raw.removeprefix(UTF8_MARK)

    def _decoded(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            if error.end == len(raw) == MAX_LINE:  # where the line was cut, not a fault of the file
                return raw[: error.start].decode()
            self.record.append(raw[: error.start].decode())
            what = f"byte 0x{raw[error.start]:02X} at offset {self.offset + error.start:,} is not UTF-8"
            raise self.error(f"{what}; save the file as UTF-8", self._cells() - 1) from None

    def error(self, what: str, column: int | None) -> InputError:
        """Return an error in the current record, in the column of that position."""
        known = column is not None and column < len(self.names)
        return bad(what, self.path, self.start, self.names[column] if known and column is not None else None)

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
        text, end = "".join(self.record), -1
        quoted = "" if self.delimiter == "\t" else '("[^"]*(?:""[^"]*)*("?))?'
        cell = re.compile(f"(?:{quoted or '()()'})([^{self.delimiter}]*)")
        while end < len(text):
            match = cell.match(text, end + 1)
            if match is None:
                return
            well = not match[1] or (bool(match[2]) and not match[3].strip("\r\n"))
            yield match.end() - match.start(), well
            end = match.end()


def csv_delimiter(stream: IO[bytes]) -> str:
    """Return what separates the columns of a CSV file: semicolons if its header has some and no comma, else commas."""
    header = stream.readline(MAX_LINE)
    stream.seek(0)
    return ";" if b";" in header and b"," not in header else ","


def names(path: Path, stream: IO[bytes], delimiter: str) -> list[str]:
    """Return the column names in the first line."""
    lines = Lines(path, stream, delimiter)
    return _header(_records(lines), lines)


def rows(path: Path, stream: IO[bytes], delimiter: str, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows below the header with these columns; in CSV files without the apostrophe before a formula."""
    lines = Lines(path, stream, delimiter)
    records = _records(lines)
    header = _header(records, lines)
    wanted = [header.index(column) for column in columns]
    for number, cells in records:
        if len(cells) != len(header):
            what = f"the row has {len(cells)} cells, but the header has {len(header)}"
            raise bad(what if delimiter == "\t" else f"{what}; quote cells that contain the separator", path, number)
        values = tuple(cells[position] for position in wanted)
        yield Row(number, values if delimiter == "\t" else tuple(map(unguarded, values)))


def _header(records: Iterator[tuple[int, list[str]]], lines: Lines) -> list[str]:
    _, cells = next(records, (0, []))
    if any("\0" in cell for cell in cells):
        raise bad("the header has NUL characters; save the file as UTF-8", lines.path, 1)
    restored = str if lines.delimiter == "\t" else unguarded
    lines.names = [restored(cell.strip()) for cell in cells]
    return lines.names


def _records(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    parsed = _tab_separated(lines) if lines.delimiter == "\t" else _quoted(lines)
    for cells in parsed:
        if cells:
            yield lines.start, cells
        lines.next_record()


def _tab_separated(lines: Lines) -> Iterator[list[str]]:
    # Quotes are literal text here, as in the released files of WikiQA.
    for line in lines:
        text = line.removesuffix("\n").removesuffix("\r")
        yield text.split("\t") if text else []


def _quoted(lines: Lines) -> Iterator[list[str]]:
    reader = csv.reader(lines, delimiter=lines.delimiter, strict=True)
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
        what = f"a quote opens a cell of more than {csv.field_size_limit():,} characters here, but the limit is"
        return lines.error(f"{what} {MAX_CELL:,}; close the quote or shorten the text", broken)
    what = "broken quoting: a quote opens a cell here but is not closed at the end of the cell"
    return lines.error(f'{what}; close it, and double each quote inside the text ("")', broken)
