"""The section on messy lists of docs/comparison.md, from the runs that are kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.lists.catalog import LABELS, PEERS, ROWS, SEEDS
from benchmarks.lists.make import KINDS
from benchmarks.public.catalog import OURS
from benchmarks.public.runs import KEPT, read_lines, write_lines
from benchmarks.public.tables import table

FILE = "lists.jsonl"
Run = dict[str, Any]


def kept_runs(folder: Path = KEPT) -> list[Run]:
    """Return the runs that are kept."""
    return read_lines(folder / FILE)


def keep_run(run: Run, folder: Path = KEPT) -> None:
    """Keep the run in place of the same tool's with the same list and seed."""
    others = [other for other in kept_runs(folder) if _key(other) != _key(run)]
    write_lines(folder / FILE, sorted([*others, run], key=_key))


def _key(run: Run) -> tuple[str, str, int]:
    return run["list"], run["peer"], run["seed"]


def section(folder: Path = KEPT) -> str:
    """Return the table, where another tool is ahead, and how each tool ran."""
    runs = kept_runs(folder)
    if not runs:
        return "Not run yet.\n"
    header = ["list", "tool", *(f"{labels} answers" for labels in LABELS), "CPU seconds"]
    how = "\n".join(f"- **{PEERS[name].title}** {_versions(runs, name)}. {PEERS[name].how}" for name in _peers(runs))
    where = ", ".join(sorted({run["machine"] for run in runs}))
    when = ", ".join(sorted({run["date"] for run in runs}))
    command = f"`python -m benchmarks clean --run`, {when}, {where}. {ROWS:,} rows, seeds {_listed(SEEDS)}."
    behind = list(_behind(runs))
    if unknown := [kind.title for name, kind in KINDS.items() if not _of(runs, name, OURS)]:
        behind.append(f"- Not known, as Allpairs has not been run: {'; '.join(unknown)}.")
    losses = "\n".join(behind) or "- Nowhere, in mean F1 with as many answers."
    return f"{table(header, _rows(runs))}\n{command}\n\n**Where another tool is ahead**\n\n{losses}\n\n{how}\n"


def _rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    for name, kind in KINDS.items():
        for peer in _peers(runs):
            if of_peer := _of(runs, name, peer):
                seconds = mean(run["budgets"][-1]["cpu_seconds"] for run in of_peer)
                figures = [_shown(of_peer, labels) for labels in LABELS]
                yield [kind.title, f"{PEERS[peer].title}{_fewer(of_peer)}", *figures, f"{seconds:.0f}"]


def _shown(runs: Sequence[Run], labels: int) -> str:
    """Return the mean precision and recall over seeds, and the range of F1."""
    budgets = [budget for run in runs for budget in run["budgets"] if budget["labels"] == labels]
    if not budgets:
        return "–"
    precision, recall = (mean(budget[figure] for budget in budgets) for figure in ("precision", "recall"))
    f1 = [budget["f1"] for budget in budgets]
    return f"{precision:.2f}, {recall:.2f}; {mean(f1):.3f} ({min(f1):.3f}–{max(f1):.3f})"


def _behind(runs: Sequence[Run]) -> Iterator[str]:
    for name, kind in KINDS.items():
        for labels in LABELS:
            f1 = {
                peer: mean(values)
                for peer in _peers(runs)
                if (
                    values := [
                        budget["f1"]
                        for run in runs
                        if (run["list"], run["peer"]) == (name, peer)
                        for budget in run["budgets"]
                        if budget["labels"] == labels
                    ]
                )
            }
            best = max(f1, key=lambda peer: f1[peer], default="")
            if best and OURS in f1 and round(f1[best], 3) > round(f1[OURS], 3):
                ahead = f1[best] - f1[OURS]
                yield f"- {kind.title}, {labels} answers: {PEERS[best].title} by {ahead:.3f} in F1."


def _of(runs: Sequence[Run], name: str, peer: str) -> list[Run]:
    return [run for run in runs if (run["list"], run["peer"]) == (name, peer)]


def _peers(runs: Sequence[Run]) -> list[str]:
    names = {run["peer"] for run in runs}
    return [name for name in PEERS if name in names]


def _versions(runs: Sequence[Run], peer: str) -> str:
    versions = {
        f"{package} {number}" for run in runs if run["peer"] == peer for package, number in run["versions"].items()
    }
    return f"({', '.join(sorted(versions))})"


def _fewer(runs: Sequence[Run]) -> str:
    return "" if len(runs) == len(SEEDS) else f" [{len(runs)}]"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
