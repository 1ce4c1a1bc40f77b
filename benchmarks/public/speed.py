"""The comparison's sections on speed, reliability and GPUs, from the figures that benchmarks keep."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.public.reasons import ON_A_GPU, ON_A_PROCESSOR, ON_THE_OTHER, UNKNOWN
from benchmarks.public.tables import table
from benchmarks.table import GPU, GPU_RESULTS, OTHER_RESULTS, Row, ratio, stored

RELIABILITY = ("load",)
ALIKE = "pages"  # the benchmark of which only the slowest row stands for all
HEADER = ("what", "Allpairs", "peer or floor", "ratio", "target", "met", "`--only`, date")
Results = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Kept:
    """A row of a benchmark, and when it was measured."""

    name: str
    row: Row
    date: str


def speed() -> str:
    """Return the table of speed."""
    return with_reasons(stored(), ON_A_PROCESSOR)


def reliability() -> str:
    """Return the table of labelling under load."""
    return measured(rows(stored(), reliability=True))


def gpu() -> str:
    """Return the figures of runs on a GPU, with device and versions, or say that there are none."""
    results = stored(GPU_RESULTS)
    if not results:
        return "No run on a GPU has been made. `python -m benchmarks.gpu` makes one."
    about = (
        f"{places(results)} `python -m benchmarks.gpu` makes these figures. Allpairs reads and trains in bfloat16 "
        "there, the plain loops and sentence-transformers in float32."
    )
    if missing := [name for name in GPU if name not in results]:
        about += f" Not run yet: {', '.join(missing)}."
    return f"{about}\n\n{with_reasons(results, ON_A_GPU)}"


def other() -> str:
    """Return the figures of a second kind of processor, with the versions."""
    results = stored(OTHER_RESULTS)
    commands = f"`docs/{OTHER_RESULTS.name}` has the commands, which kept a GPU out."
    return f"{places(results)} {commands}\n\n{with_reasons(results, ON_THE_OTHER)}"


def with_reasons(results: Results, reasons: Mapping[str, str]) -> str:
    """Return the table, and below it why targets were missed where no tool is ahead: `losses` says it of the others."""
    found = rows(results, reliability=False)
    missed = dict.fromkeys(kept.name for kept in found if not kept.row.met and not is_loss(kept.row))
    why = [f"- `{name}` misses a target. {reasons.get(name, UNKNOWN)}" for name in missed]
    return "\n".join([measured(found), *why]).rstrip()


def places(results: Results) -> str:
    """Return which parts were measured on which machine with which versions."""
    parts: dict[str, list[str]] = {}
    for name, each in results.items():
        versions = ", ".join(f"{package} {version}" for package, version in each["versions"].items())
        parts.setdefault(f"{each['machine']} ({versions})", []).append(f"`{name}`")
    return "; ".join(f"{', '.join(names)} on {place}" for place, names in sorted(parts.items(), reverse=True)) + "."


def losses() -> Iterable[str]:
    """Yield the rows that miss their target where a tool is faster, or where there is none to compare with."""
    kept = (
        ("", stored(), ON_A_PROCESSOR),
        (" on the other processor", stored(OTHER_RESULTS), ON_THE_OTHER),
        (" on a GPU", stored(GPU_RESULTS), ON_A_GPU),
    )
    for on, results, reasons in kept:
        for each in (*rows(results, reliability=False), *rows(results, reliability=True)):
            if not is_loss(each.row):
                continue
            row = each.row
            why = reasons.get(each.name, UNKNOWN)
            beside = "" if row.peer == "–" else f" ({row.peer})"
            yield f"- **Target missed{on}, {row.what}:** {row.ours}{beside}; the target is {row.target}. {why}"


def is_loss(row: Row) -> bool:
    """Return whether the row misses its target and is behind a tool, or has neither tool nor floor beside it."""
    behind = row.ratio is not None and row.ratio < 1 and row.target.startswith("≥")  # a rate beside a tool's
    return not row.met and (behind or row.peer == "–")


def rows(results: Results, reliability: bool) -> list[Kept]:
    """Return the rows of one of the two sections, those that miss their target first; of pages the slowest."""
    found = [
        kept for name, result in results.items() if (name in RELIABILITY) == reliability for kept in shown(name, result)
    ]
    return sorted(found, key=lambda kept: kept.row.met)


def shown(name: str, result: Mapping[str, Any]) -> list[Kept]:
    """Return a benchmark's rows; of pages those that miss their target, and the slowest of the others for all."""
    found = [Row(**row) for row in result["rows"]]
    if name == ALIKE and (met := [row for row in found if row.met]):
        slowest = max(met, key=lambda row: leading(row.ours))
        words = f"the slowest of {len(met)} pages and acts: {slowest.what}"
        found = [*(row for row in found if not row.met), Row(**{**vars(slowest), "what": words})]
    return [Kept(name, row, result["date"]) for row in found]


def leading(words: str) -> float:
    """Return the number with which the words begin. Raises ValueError if there is none."""
    number = re.match(r"[\d,]+(?:\.\d+)?", words)
    if not number:
        raise ValueError(f"{words!r} begins with no number")
    return float(number[0].replace(",", ""))


def measured(found: Sequence[Kept]) -> str:
    """Return the rows as a table."""
    lines = [
        (
            kept.row.what,
            kept.row.ours,
            kept.row.peer,
            ratio(kept.row),
            kept.row.target,
            "yes" if kept.row.met else "**no**",
            f"`{kept.name}`, {kept.date}",
        )
        for kept in found
    ]
    return table(HEADER, lines)
