"""What a peer is given and what it hands back: CSV and JSON in, scores of pairs out. Needs numpy alone.

A task's folder holds `left.csv` and `right.csv` (row, text, the columns, `part`: train, evaluation or both),
`matches.csv` (left, right: the matches among training pairs, from which the answers come) and `task.json`. The answers
of evaluation pairs are not there. Records are numbered from 0 in each list. If there is one list only, both files hold
it, and a pair has its lower row on the left.
"""

import csv
import json
import resource
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Record = dict[str, str]
STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Task:
    """One piece of work: lists of records, those to label from and those to measure on, and the budgets.

    labels: how many answers may be asked for, ascending, 0 among them if the peer can do without.
    """

    data: str
    seed: int
    columns: Sequence[str]
    labels: Sequence[int]
    one_list: bool
    left: list[Record]
    right: list[Record]
    matches: frozenset[tuple[int, int]]
    asked: dict[tuple[int, int], bool] = field(default_factory=dict)

    @property
    def train(self) -> np.ndarray:
        """The rows of `left` to label from, ascending int64."""
        return rows_of(self.left, "train")

    @property
    def train_right(self) -> np.ndarray:
        """The rows of `right` to label with, ascending int64."""
        return rows_of(self.right, "train")

    @property
    def evaluation(self) -> np.ndarray:
        """The rows of `left` to measure on, ascending int64."""
        return rows_of(self.left, "evaluation")

    @property
    def evaluation_right(self) -> np.ndarray:
        """The rows of `right` to measure with, ascending int64."""
        return rows_of(self.right, "evaluation")

    def answer(self, left: int, right: int) -> bool:
        """Return whether two records match, as the annotator; the pair counts as a label once.

        Raises ValueError for a record that is kept for measuring, and for a pair of one list with its rows exchanged.
        """
        if "evaluation" in (self.left[left]["part"], self.right[right]["part"]):
            raise ValueError(f"records {left} and {right}: one is kept for measuring; ask about training records alone")
        if self.one_list and left >= right:
            raise ValueError(f"records {left} and {right}: the lower row comes first")
        return self.asked.setdefault((left, right), (left, right) in self.matches)


class Answers:
    """Collects what a peer hands back at each budget, with the computing that somebody with that budget needs."""

    def __init__(self, folder: Path, one_list: bool) -> None:
        self.folder = folder
        self.one_list = one_list
        self.rows = list[dict[str, Any]]()
        self._not_counted = 0.0

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Count the computing inside for the budget that is handed back inside, and for no later one."""
        begun = cpu_seconds()
        yield
        self._not_counted += cpu_seconds() - begun

    def dense(self, labels: int, matches: int, scores: np.ndarray) -> None:
        """Keep the scores of all pairs of evaluation records, (evaluation, evaluation_right)."""
        np.savez(self._path(labels), scores=scores.astype(np.float32))
        rows, columns = scores.shape
        self._row(labels, matches, rows * (rows - 1) // 2 if self.one_list else rows * columns)

    def sparse(self, labels: int, matches: int, left: np.ndarray, right: np.ndarray, score: np.ndarray) -> None:
        """Keep the scores of some pairs, each once: left, right: positions in `evaluation`, `evaluation_right`."""
        np.savez(self._path(labels), left=left, right=right, score=score.astype(np.float32))
        self._row(labels, matches, len(score))

    def every(self, labels: int, scores: np.ndarray) -> None:
        """Keep what a peer that blocks would score if it did not, as in `dense`; after `finish`, it costs nothing."""
        np.savez(self.folder / f"every-{labels}.npz", scores=scores.astype(np.float32))

    def finish(self, settings: dict[str, Any], versions: dict[str, str]) -> None:
        """Write what was set, with which versions, the most memory so far in MiB, and a row for each budget."""
        peak = peak_kib() // 1024
        report = {"settings": settings, "versions": versions, "peak_mib": peak, "budgets": self.rows}
        (self.folder / "report.json").write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")

    def _path(self, labels: int) -> Path:
        return self.folder / f"scores-{labels}.npz"

    def _row(self, labels: int, matches: int, scored: int) -> None:
        seconds = round(cpu_seconds() - self._not_counted, 1)
        row = {"labels": labels, "matches": matches, "scored": scored, "cpu_seconds": seconds}
        self.rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)


def cpu_seconds() -> float:
    """Return the processor's seconds of this process and its children so far."""
    return sum(one.ru_utime + one.ru_stime for one in _usage())


def peak_kib() -> int:
    """Return the most memory of this process so far, or of one of its children, in KiB.

    On Linux a process's ru_maxrss begins with what its parent held, so its own peak is read from /proc.
    """
    own, children = _usage()
    lines = STATUS.read_text(encoding="utf-8").splitlines() if STATUS.is_file() else []
    peaks = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")] or [own.ru_maxrss]
    return max(*peaks, children.ru_maxrss)


def _usage() -> list[resource.struct_rusage]:
    """Return what this process has used, and what its children have."""
    return [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def begun() -> tuple[Task, Answers]:
    """Return the task whose folder is the command's only argument, and where its answers go."""
    folder = Path(sys.argv[1])
    task = read_task(folder)
    return task, Answers(folder, task.one_list)


def read_task(folder: Path) -> Task:
    """Read a task's folder."""
    about = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    left, right, matches = (_rows(folder / f"{name}.csv") for name in ("left", "right", "matches"))
    pairs = frozenset((int(row["left"]), int(row["right"])) for row in matches)
    return Task(**about, left=left, right=right, matches=pairs)


def rows_of(records: Sequence[Record], part: str) -> np.ndarray:
    """Return the rows of the records that are in a part or in both, ascending int64."""
    return np.flatnonzero([record["part"] in (part, "both") for record in records])


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file of a task."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def _rows(path: Path) -> list[Record]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
