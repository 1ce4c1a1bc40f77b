"""What 10⁶ to 10⁹ texts would take, from what `benchmarks.speed.growth` measured: the tables of docs/scale.md.

    python -m benchmarks.scale.scale [--core-hour 0.05]

Work grows with a power of the number of texts that the method fixes; the constant is that of the largest size measured.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.speed.growth import DIMENSION, STAGES, Found, stored
from benchmarks.table import ROOT, rewrite
from learner.search.exact import PARTS, ROWS
from learner.search.inverted_file import PROBES

PAGE = ROOT / "docs" / "scale.md"
TEXTS = (10**6, 10**7, 10**8, 10**9)
LABELS = 10_000  # that a round trains on, twice, however many texts there are
POWERS = {"encode": 1.0, "file": 1.0, "train": 0.0, "search": 2.0, "lists": 1.5, "evaluate": 2.0, "sample": 1.5}
NIGHT, CORES, FLOAT32 = 12.0, 16, 4  # hours, cores of a machine, bytes of a number
WORDS = {
    "encode": "encode", "file": "encode three words, one layer, into a file",
    "train": f"train on {LABELS:,} labels, twice", "search": "neighbours, exactly",
    "lists": f"neighbours, in {PROBES} lists each", "evaluate": "AP, exactly", "sample": "AP, near pairs and a sample",
}  # fmt: skip


MEASURED = {"train": "train on so many pairs, once"}


@dataclass(frozen=True)
class Cost:
    """What a stage takes: hours of one core, and machines of 16 cores that do it in a night."""

    hours: float

    @property
    def machines(self) -> int:
        """At least one."""
        return max(1, round(np.ceil(self.hours / CORES / NIGHT)))

    def words(self, core_hour: float) -> str:
        """A cell of the table."""
        return f"{_short(self.hours)} h, {self.machines:,} × {CORES}, {_short(self.hours * core_hour)} $"


def cost(stage: str, texts: int, rows: Sequence[Found]) -> Cost:
    """What the stage takes for so many texts, by its largest measurement."""
    largest = max((row for row in rows if row["stage"] == stage), key=lambda row: int(row["n"]))
    seconds, n = float(largest["seconds"]), int(largest["n"])
    if stage == "train":
        return Cost(seconds / n * 2 * LABELS / 3600)
    return Cost(seconds * (texts / n) ** POWERS[stage] / 3600)


def slope(stage: str, rows: Sequence[Found]) -> float:
    """The power of n with which the measured seconds grow: least squares of the logarithms."""
    mine = [row for row in rows if row["stage"] == stage]
    n, seconds = (np.log([float(row[name]) for row in mine]) for name in ("n", "seconds"))
    return float(np.polyfit(n, seconds, 1)[0])


def measured(rows: Sequence[Found]) -> str:
    """The table of what was measured."""
    lines = [("stage", "texts", "seconds of a core", "peak memory", "recall", "grows as n to the", "date")]
    for stage in STAGES:
        mine = [row for row in rows if row["stage"] == stage]
        for row in mine:
            recall = f"{row['recall']['value']:.3f}" if row.get("recall") else ""
            power = f"{slope(stage, rows):.2f}" if row is mine[-1] and len(mine) > 1 else ""
            what, figures = MEASURED.get(stage, WORDS[stage]), (_short(row["seconds"]), f"{row['mib']:,.0f} MiB")
            lines.append((what, f"{row['n']:,}", *figures, recall, power, row["date"]))
    return _table(lines)


def expected(rows: Sequence[Found], core_hour: float) -> str:
    """The table of what larger numbers of texts take."""
    lines = [("", *(f"{n:,} texts" for n in TEXTS))]
    stages = [stage for stage in STAGES if any(row["stage"] == stage for row in rows)]
    for stage in (each for each in stages if each != "file"):  # no encoder of a project
        lines.append((WORDS[stage], *(cost(stage, n, rows).words(core_hour) for n in TEXTS)))
    vectors = [n * DIMENSION * FLOAT32 for n in TEXTS]
    tiles = [-(-n // (PARTS * ROWS)) for n in TEXTS]
    lines.append(("a project's vectors", *map(_bytes, vectors)))
    lines.append(("vectors of mining, in half precision", *(_bytes(each / 2) for each in vectors)))
    lines.append(("parts of an exact pass", *(f"{each:,}" for each in tiles)))
    moved = [each * parts * PARTS for each, parts in zip(vectors, tiles, strict=True)]  # once for each block
    lines.append(("read from memory by an exact pass", *map(_bytes, moved)))
    return _table(lines)


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *body = lines
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] + ["---:"] * (len(head) - 1), *body))


def _short(value: float) -> str:
    """Two digits that count, without an exponent."""
    if value >= 100:
        return f"{float(f'{value:.2g}'):,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def _bytes(value: float) -> str:
    units: Iterable[str] = ("B", "KB", "MB", "GB", "TB", "PB")
    for unit in units:
        if value < 1000:
            return f"{_short(value)} {unit}"
        value /= 1000
    return f"{_short(value)} EB"


def main() -> None:
    """Nothing; docs/scale.md has the tables of the newest measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core-hour", type=float, default=0.05, help="price of an hour of a core")
    options = parser.parse_args()
    rows = stored()
    PAGE.write_text(rewrite(PAGE.read_text(), f"{measured(rows)}\n\n{expected(rows, options.core_hour)}"))


if __name__ == "__main__":
    main()
