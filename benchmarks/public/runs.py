"""The runs that are kept: a line of JSON each, in a file for each data set; every run's headline in another one."""

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import ROOT
from benchmarks.public.run import Run

KEPT = ROOT / "docs" / "comparison"
HISTORY = "history.jsonl"


def read_runs(data: str, folder: Path = KEPT) -> list[Run]:
    """Return the runs of a data set, by peer and seed."""
    return read_lines(folder / f"{data}.jsonl")


def read_history(folder: Path = KEPT) -> list[Run]:
    """Return the headlines of all runs, in the order in which they were made."""
    return read_lines(folder / HISTORY)


def keep(run: Run, folder: Path = KEPT) -> None:
    """Keep the run in place of the same peer's and seed's, and add its headline to the history."""
    others = [other for other in read_runs(run["data"], folder) if _key(other) != _key(run)]
    write_lines(folder / f"{run['data']}.jsonl", sorted([*others, run], key=_key))
    write_lines(folder / HISTORY, [*read_history(folder), headline(run)])


def headline(run: Run) -> Run:
    """Return what the history keeps: who, when, and average precision by labels."""
    ap = {str(row["labels"]): row["average_precision"] for row in run["budgets"]}
    return {name: run[name] for name in ("date", "data", "peer", "seed", "versions")} | {"average_precision": ap}


def _key(run: Run) -> tuple[str, int]:
    return run["peer"], run["seed"]


def read_lines(path: Path) -> list[Run]:
    """Return the runs that a file holds, none without a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def write_lines(path: Path, rows: Sequence[Run]) -> None:
    """Write the runs, a line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
