"""The released file of Quora's question pairs, line by line: tab-separated, quoted where a text contains quotes."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from allpairs.db.corpus.cells import MAX_CELL, bad
from allpairs.db.corpus.files import file_errors_explained, opened

COLUMNS = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")


class QuestionPair(NamedTuple):
    """One row: two ids, two questions (with single blanks), and "1" or "0"."""

    qid1: str
    qid2: str
    question1: str
    question2: str
    label: str


def read_quora(path: Path) -> tuple[list[QuestionPair], int]:
    """Read the rows of a file with the columns of COLUMNS, and count the lines that made no row.

    A question may span lines. Raises InputError if the file is not one.
    """
    rows: list[QuestionPair] = []
    lines = broken = 0
    with file_errors_explained(path), opened(path) as stream:
        header = _cells(_decoded(stream.readline(), path, 1))
        if tuple(header) != COLUMNS:
            raise bad(f"the columns are not {', '.join(COLUMNS)}: name quora_duplicate_questions.tsv", path, 1)
        texts = (_decoded(line, path, number) for number, line in enumerate(stream, 2))
        for cells in _rows(texts):
            if len(cells) == len(COLUMNS):
                rows.append(QuestionPair(*cells[1:]))
            else:
                broken += 1
            lines += 1
    if not rows:
        raise bad("there is a header but no row below it", path)
    return rows, broken


def _rows(lines: Iterator[str]) -> Iterator[list[str]]:
    """Yield the cells of each row; a line with too few cells is joined with those that follow, if that completes it."""
    pending = ""
    for line in lines:
        cells = _cells(pending + line)
        if pending and (len(cells) > len(COLUMNS) or len(pending) > MAX_CELL):
            yield _cells(pending)
            pending = ""
            cells = _cells(line)
        if len(cells) < len(COLUMNS):
            pending += line
            continue
        pending = ""
        yield cells
    if pending.strip():
        yield _cells(pending)


def _cells(text: str) -> list[str]:
    return [_unquoted(" ".join(cell.split())) for cell in text.split("\t")]


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"').strip() if quoted else cell


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise bad(f"byte {error.start + 1} is not UTF-8; fetch the file again", path, number) from None
