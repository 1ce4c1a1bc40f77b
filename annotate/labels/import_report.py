"""What is wrong with rows of a file of labels: counted, the first ones shown, all of them in a file."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from db.corpus.formula import guarded

FIRST = 5  # rows of each kind that a report shows


class Trouble(StrEnum):
    """Why a row of the file was not stored."""

    UNKNOWN = "unknown id"
    UNUSABLE = "unusable"  # no such label, no pair, a name that is too long
    CONTRADICTION = "contradiction"  # with another row of the file
    CONFLICT = "conflict"  # with the label that counts in the project
    DOUBLE = "double"  # of another row, or of what is stored


HARMLESS = (Trouble.DOUBLE, Trouble.CONFLICT)  # what no mistake of the file need be behind


class Problem(NamedTuple):
    """A row that was not stored."""

    row: int
    trouble: Trouble
    what: str
    id1: str
    id2: str
    label: str
    annotator: str


@dataclass
class Report:
    """How many labels were stored, and the other rows: how many of each kind, and the first ones."""

    stored: int = 0
    counts: dict[Trouble, int] = field(default_factory=dict)
    first: dict[Trouble, list[Problem]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of rows that were not stored."""
        return sum(self.counts.values())

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        first = {trouble: [problem._asdict() for problem in problems] for trouble, problems in self.first.items()}
        return {"stored": self.stored, "problems": dict(self.counts), "first": first}


class Recorder:
    """Takes problems down for a report and, where there is one, into a CSV file."""

    def __init__(self, report: Report, writer: Any = None) -> None:
        self.report, self.writer = report, writer

    def add(self, problem: Problem) -> None:
        """Nothing; the problem is counted."""
        self.report.counts[problem.trouble] = self.report.counts.get(problem.trouble, 0) + 1
        first = self.report.first.setdefault(problem.trouble, [])
        if len(first) < FIRST:
            first.append(problem)
        if self.writer is not None:
            self.writer.writerow(map(guarded, problem))


@contextmanager
def recording(report: Report, path: Path | None) -> Iterator[Recorder]:
    """A recorder; all problems are in the CSV file afterwards, where a path is given."""
    if path is None:
        yield Recorder(report)
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(Problem._fields)
        yield Recorder(report, writer)
