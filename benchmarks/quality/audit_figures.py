"""The kept figures of audits, ours beside the best other method: docs/estimators.md and README show them."""

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from benchmarks.table import ROOT

KEPT = ROOT / "docs" / "audits.json"


def keep(table: Sequence[str], repeats: int) -> None:
    """Keep the lines of `benchmarks.quality.audits:verdict` in place of those before."""
    command = f"python -m benchmarks.quality.audits --repeats {repeats} --keep"
    found = {"date": str(date.today()), "command": command, "table": list(table)}
    KEPT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def kept() -> dict[str, Any]:
    """Return the date, the command and the lines."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def figures() -> str:
    """Return the table in Markdown."""
    return "\n".join(kept()["table"])


def errors(pool: str, labels: int) -> tuple[str, str]:
    """Return the RMSE of average precision on a pool: ours, and the best other one with its method."""
    header, rows = _cells()
    (row,) = [each for each in rows if each[:2] == [pool, f"{labels:,}"]]
    at = header.index("RMSE")  # of average precision: that of F1 has the figure in its name
    return row[at].strip("*"), row[at + 1]


def coverage(labels: int) -> tuple[float, float, float]:
    """Return the share of average precision's intervals that hold the truth: mean, least and most of the pools."""
    header, rows = _cells()
    shares = [float(row[header.index("covered: AP")]) for row in rows if row[1] == f"{labels:,}"]
    return sum(shares) / len(shares), min(shares), max(shares)


def behind() -> tuple[list[str], int]:
    """Return where another method has the smaller RMSE of average precision, in words, and of how many cells."""
    header, rows = _cells()
    at = header.index("RMSE")
    found = []
    for row in rows:
        ours, (theirs, method) = row[at].strip("*"), row[at + 1].rstrip(")").split(" (")
        if float(theirs) < float(ours):
            found.append(f"{ours} beside {theirs} ({method}, pool {row[0]}, {row[1]} labels)")
    return found, len(rows)


def _cells() -> tuple[list[str], list[list[str]]]:
    """Return the cells of the table's header and of its rows."""
    header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in kept()["table"])
    return header, rows
