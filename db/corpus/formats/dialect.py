"""How a text file holds a table: its encoding, the ends of its lines, what separates its cells, and its quotes."""

import codecs
import csv
import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from allpairs.db.corpus.cells import MAX_LINE, bad
from allpairs.db.corpus.formula import unguarded

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
HEAD = 64 * 1024  # bytes that are looked at
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
NO_TEXT = {
    b"PK\x03\x04": "a workbook or a zip archive",
    b"\xd0\xcf\x11\xe0": "a workbook",
    b"\x1f\x8b": "a gzip file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
}
ENCODINGS = {
    "utf-8": "Unicode (UTF-8)",
    "utf-16": "Unicode (UTF-16)",
    "cp1252": "Western European (Windows-1252)",
    "mac-roman": "Western European (Mac)",
    "cp1250": "Central European (Windows-1250)",
    "cp1251": "Cyrillic (Windows-1251)",
    "cp1253": "Greek (Windows-1253)",
    "cp1254": "Turkish (Windows-1254)",
    "shift_jis": "Japanese (Shift JIS)",
    "gb18030": "Chinese (GB 18030)",
}
WESTERN = "Windows-1252"
_FOREIGN = re.compile(rb"[\xc0-\xff]{4}")  # no western word has four such letters in a row; a Cyrillic or Greek one has
_MAC = re.compile(rb"[A-Za-z][\x87-\x91\x9d\x9f][a-z]")  # ä, é, ü … of a Mac: signs that never stand within a word
_STATED = re.compile(r'"?sep=(.)\1*"?\r?', re.IGNORECASE)  # Excel's first line
_IN_QUOTES = re.compile(r'"[^"]*"')
_CLOSED = re.compile(rb'"(?:[^"]|"")*"')


@dataclass(frozen=True)
class Dialect:
    """What separates the cells, and whether quotes may enclose them; stated: by the first line, `sep=;`."""

    separator: str
    quoted: bool = True
    stated: bool = False

    def restored(self, cell: str) -> str:
        """Return the cell without the apostrophe before a formula, which tab-separated text has not."""
        return cell if self.separator == "\t" else unguarded(cell)


def as_utf8(path: Path, stream: IO[bytes], encoding: str = "") -> IO[bytes]:
    """Return the stream from its start: one of UTF-16, or of lines that end in carriage returns, translated.

    encoding: to translate from, whatever the file looks like. Raises InputError for a file that is no text.
    """
    head = _head(stream)
    kind = next((kind for start, kind in NO_TEXT.items() if head.startswith(start)), None)
    if kind is not None:
        raise bad(f"this is {kind}, not text as its name says; save it as CSV, or correct the end of its name", path)
    read_as = encoding or unicode_encoding(stream)
    unquoted = _IN_QUOTES.sub("", head.decode(read_as, errors="replace"))
    carriage_returns = "\r" in unquoted and "\n" not in unquoted
    if not encoding and read_as == "utf-8" and not carriage_returns:
        return stream
    return io.BufferedReader(_Translated(path, stream, read_as, carriage_returns, strict=bool(encoding)))


def _head(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    head = stream.read(HEAD)
    stream.seek(0)
    return head


def is_encoding(name: str) -> bool:
    """Return whether Python knows an encoding of this name."""
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True


def is_of_mac(stream: IO[bytes]) -> bool:
    """Return whether the head of the file has words as an old Mac writes them."""
    head = _head(stream)
    return unicode_encoding(stream) == "utf-8" and not is_utf8(head) and bool(_MAC.search(head))


def is_utf8(head: bytes) -> bool:
    """Return whether the head of a file is UTF-8, but for a letter that it cuts."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def unicode_encoding(stream: IO[bytes]) -> str:
    """Return UTF-16 if the file has its mark, or begins with a sign that it writes with a zero; else UTF-8."""
    head = _head(stream)
    if head.startswith(UTF16_MARKS):
        return "utf-16"
    zeros = head[:2].find(0) if any(head[:2]) else -1
    return ("utf-8", "utf-16-be", "utf-16-le")[zeros + 1]


class _Translated(io.RawIOBase):
    """A stream as UTF-8 with ordinary ends of lines."""

    def __init__(self, path: Path, stream: IO[bytes], encoding: str, carriage_returns: bool, strict: bool) -> None:
        self.path = path
        self.stream = stream
        self.encoding = encoding
        self.decoder = codecs.getincrementaldecoder(encoding)() if strict or encoding != "utf-8" else None
        self.carriage_returns = carriage_returns

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data and (raw := self.stream.read(len(buffer) // 3)):  # UTF-8 may be three times as long
            data = self._translated(raw)
        if not data and self.decoder is not None:
            self._decoded(b"", final=True)
        buffer[: len(data)] = data
        return len(data)

    def _translated(self, raw: bytes) -> bytes:
        data = self._decoded(raw) if self.decoder is not None else raw
        return data.replace(b"\r", b"\n") if self.carriage_returns else data

    def _decoded(self, raw: bytes, final: bool = False) -> bytes:
        assert self.decoder is not None
        try:
            return self.decoder.decode(raw, final).encode()
        except UnicodeError:
            name = ENCODINGS.get(self.encoding, self.encoding.upper())
            problem = f"the file is not {name} throughout; is it complete? Save it as UTF-8"
            raise bad(problem, self.path) from None


def find_dialect(stream: IO[bytes], usual: str) -> Dialect:
    """Return how the cells of a stream of UTF-8 are separated, from its head; usual: the separator if none is clear.

    A first line `sep=;` decides. Otherwise the rows decide: the separator that gives the most of them as many cells as
    the header. Reads the stream.
    """
    head = stream.read(HEAD)
    text = head.removeprefix(BOM_UTF8).decode(errors="replace")
    if len(head) == HEAD:
        text = text[: text.rfind("\n") + 1] or text
    stated = _STATED.fullmatch(text.partition("\n")[0])
    if stated is not None:
        return Dialect(stated[1], stated=True)
    fits = {separator: fit for separator in SEPARATORS if (fit := _fit(text, separator, usual)) is not None}
    return Dialect(max(fits, key=fits.__getitem__, default=usual))


def _fit(text: str, separator: str, usual: str) -> tuple[float, bool, int, bool] | None:
    """Return how well the separator fits: larger is better; None if it does not."""
    rows = list(_filled_rows(text, separator))
    columns = _last_filled(rows[0]) if rows else 0
    if columns < 2:
        return None
    fitting = [len(cells) == len(rows[0]) or _last_filled(cells) <= columns <= len(cells) for cells in rows]
    share = sum(fitting) / len(rows)
    if share < 0.5 and separator != usual:
        return None
    header = text.lstrip().partition("\n")[0]
    prose = f"{separator} " in header and f" {separator}" not in header  # a comma in the name of a column
    return share, not prose, columns, separator == usual


def _last_filled(cells: list[str]) -> int:
    """Return the number of cells without the empty ones at the end."""
    return max(number for number, cell in enumerate(cells, 1) if cell.strip())


def _filled_rows(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the cells of each row that has any."""
    rows = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator)
    try:
        yield from (cells for cells in rows if any(map(str.strip, cells)))
    except csv.Error:  # the reader of the whole file says what is wrong
        return


def quotes_enclose(stream: IO[bytes], separator: str) -> bool:
    """Return whether quotes enclose cells, as in Excel's tab-separated text, rather than being part of texts.

    They are part of texts if a cell of a whole row opens with one that it does not close, and another row follows.
    Reads the stream.
    """
    between = separator.encode()
    tabs = -1
    has_quotes = False
    pending = False
    while line := stream.readline(MAX_LINE):
        line = line.rstrip(b"\r\n")
        if not line:
            continue
        tabs = line.count(between) if tabs < 0 else tabs
        whole = line.count(between) == tabs
        if pending and whole:
            return False
        opening = [cell for cell in line.split(between) if cell.startswith(b'"')] if b'"' in line else []
        has_quotes = has_quotes or bool(opening)
        pending = whole and not all(map(_CLOSED.fullmatch, opening))
    return has_quotes and not pending


class Letters:
    """Decodes lines; all of them are UTF-8, or none that has other letters than ASCII is.

    translated: whether the lines were another encoding by a guess. doubtful: the first line that is Windows-1252, or
    was translated, and its text; None if there is none.
    """

    def __init__(self, translated: bool = False) -> None:
        self.translated = translated
        self.doubtful: tuple[int, str] | None = None
        self._is_utf8 = False

    def decoded(self, raw: bytes, number: int) -> str:
        """Return the text of a line. Raises UnicodeDecodeError, whose reason is what the byte is not."""
        if raw.isascii():
            return raw.decode("ascii")
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            return self._western(raw, number, error)
        if self.translated:
            self.doubtful = self.doubtful or (number, text.strip())
        elif self.doubtful is not None:
            start = next(position for position, byte in enumerate(raw) if byte > 127)
            raise UnicodeDecodeError("cp1252", raw, start, start + 1, f"{WESTERN}, as row {self.doubtful[0]:,} is")
        self._is_utf8 = True
        return text

    def _western(self, raw: bytes, number: int, error: UnicodeDecodeError) -> str:
        if self._is_utf8:
            error.reason = "UTF-8"
            raise error
        if foreign := _FOREIGN.search(raw):
            raise UnicodeDecodeError("cp1252", raw, foreign.start(), foreign.end(), f"UTF-8 or {WESTERN}")
        try:
            text = raw.decode("cp1252")
        except UnicodeDecodeError as undefined:
            undefined.reason = f"UTF-8 or {WESTERN}"
            raise
        self.doubtful = self.doubtful or (number, text.strip())
        return text
