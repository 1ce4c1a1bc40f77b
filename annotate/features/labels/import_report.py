"""Problems with rows of a file of labels: counts, examples, and all of them in a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from allpairs.db.corpus.csv_writer import csv_line

FIRST = 5  # rows of each kind that a report shows


class Trouble(StrEnum):
    """Why a row of the file was not stored."""

    UNKNOWN = "unknown id"
    UNUSABLE = "unusable"  # an unknown label, not a pair, a name that is too long
    CONTRADICTION = "contradiction"  # with another row of the file
    CONFLICT = "conflict"  # with the project's current label
    DOUBLE = "double"  # of another row, or of what is stored
    UNLABELLED = "without a label"


HARMLESS = (Trouble.DOUBLE, Trouble.CONFLICT, Trouble.UNLABELLED)  # not necessarily mistakes of the file


class ImportProblem(NamedTuple):
    """A row that was not stored."""

    row: int
    trouble: Trouble
    what: str
    id1: str
    id2: str
    label: str
    annotator: str


@dataclass
class ImportReport:
    """The number of stored labels, and of the other rows by kind, with the first of each."""

    stored: int = 0
    counts: dict[Trouble, int] = field(default_factory=dict)
    first: dict[Trouble, list[ImportProblem]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of rows that were not stored."""
        return sum(self.counts.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        first = {trouble: [problem._asdict() for problem in problems] for trouble, problems in self.first.items()}
        return {"stored": self.stored, "problems": dict(self.counts), "first": first}


class Recorder:
    """Records problems in a report and, if there is one, in a CSV file."""

    def __init__(self, report: ImportReport, stream: TextIO | None = None) -> None:
        self.report = report
        self.stream = stream

    def add(self, problem: ImportProblem) -> None:
        """Count the problem, and keep it as an example if it is among the first."""
        self.report.counts[problem.trouble] = self.report.counts.get(problem.trouble, 0) + 1
        first = self.report.first.setdefault(problem.trouble, [])
        if len(first) < FIRST:
            first.append(problem)
        if self.stream is not None:
            self.stream.write(csv_line(problem))


@contextmanager
def recording(report: ImportReport, path: Path | None) -> Iterator[Recorder]:
    """Yield a recorder that also writes all problems to the CSV file, if a path is given."""
    if path is None:
        yield Recorder(report)
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(csv_line(ImportProblem._fields))
        yield Recorder(report, stream)
