"""What a tool is given of a messy list and what it hands back: CSV and JSON in, a group for each row out.

A task's folder holds `records.csv` (UTF-8, every column), `records-truth.csv` and `task.json`. The truth answers in a
person's place, as often as the task says. Needs numpy alone.
"""

import csv
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

RECORDS = "records.csv"
TRUTH = "records-truth.csv"
ABOUT = "task.json"


@dataclass(frozen=True)
class ListTask:
    """One list to clean.

    columns: what each compared column holds; labels: after how many answers groups are wanted, ascending; truth: (n,)
    the thing that each row is; asked: how many pairs have been asked about.
    """

    folder: Path
    seed: int
    id_column: str
    columns: Mapping[str, str]
    labels: Sequence[int]
    records: Sequence[Mapping[str, str]]
    truth: np.ndarray
    results: list[dict[str, Any]] = field(default_factory=list)
    begun: float = field(default_factory=time.process_time)

    def answer(self, left: int, right: int) -> bool:
        """Return whether two rows are the same thing, as a person would say."""
        return bool(self.truth[left] == self.truth[right])

    def keep(self, labels: int, group: np.ndarray, matches: int = 0) -> None:
        """Keep the group of each row, (n,) int64, after so many answers, of which `matches` were yes."""
        assert group.shape == self.truth.shape
        np.save(self.folder / f"groups-{labels}.npy", group)
        seconds = round(time.process_time() - self.begun, 1)
        self.results.append({"labels": labels, "matches": matches, "cpu_seconds": seconds})

    def finish(self, settings: Mapping[str, Any], versions: Mapping[str, str]) -> None:
        """Write what was set, and with which versions."""
        report = {"settings": settings, "versions": versions, "budgets": self.results}
        (self.folder / "report.json").write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")


def read_list_task(folder: Path | None = None) -> ListTask:
    """Read the task in the folder, by default the command's only argument."""
    folder = folder or Path(sys.argv[1])
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    truth = [int(row["group"]) for row in read_table(folder / TRUTH)]
    return ListTask(folder, **about, records=read_table(folder / RECORDS), truth=np.array(truth, dtype=np.int64))


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file in UTF-8, with a mark or without, by column."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
