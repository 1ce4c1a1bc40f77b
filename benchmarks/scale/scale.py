"""Print the tables of docs/scale.md: the cost of 10⁶ to 10⁹ texts, extrapolated from `benchmarks.speed.growth`.

    python -m benchmarks.scale.scale [--core-hour 0.05]

Work grows with a power of the number of texts that depends on the method; the constant is from the largest measurement.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from allpairs.learner.search.exact import PARTS, ROWS, TARGET
from benchmarks.speed.growth import DIMENSION, STAGES, Found, stored

TEXTS = (10**6, 10**7, 10**8, 10**9)
LABELS = 10_000  # labels that a round trains on, twice, for any number of texts
POWERS = {"encode": 1.0, "file": 1.0, "train": 0.0, "search": 2.0, "lists": 1.5, "evaluate": 2.0, "sample": 1.5}
CORE_HOUR = 0.05
NIGHT = 12.0  # hours
CORES = 16  # of a machine
FLOAT32 = 4  # bytes of a number
WORDS = {
    "encode": "encode",
    "file": "encode three words, one layer, into a file",
    "train": f"train on {LABELS:,} labels, twice",
    "search": "neighbours, exactly",
    "lists": f"{TARGET:.0%} of the neighbours, in lists",
    "evaluate": "AP, exactly",
    "sample": "AP, near pairs and a sample",
}


MEASURED = {"train": "train on so many pairs, once"}


@dataclass(frozen=True)
class Cost:
    """The cost of a stage: hours of one core, and the number of 16-core machines that do it in a night."""

    hours: float

    @property
    def machines(self) -> int:
        """The number of machines, at least one."""
        return max(1, round(np.ceil(self.hours / CORES / NIGHT)))

    def words(self, core_hour: float) -> str:
        """Return a cell of the table."""
        return f"{_short(self.hours)} h, {self.machines:,} × {CORES}, {_short(self.hours * core_hour)} $"


def cost(stage: str, texts: int, rows: Sequence[Found]) -> Cost:
    """Return the stage's cost for so many texts, extrapolated from its largest measurement."""
    largest = max((row for row in rows if row["stage"] == stage), key=lambda row: int(row["n"]))
    seconds = float(largest["seconds"])
    n = int(largest["n"])
    if stage == "train":
        return Cost(seconds / n * 2 * LABELS / 3600)
    return Cost(seconds * (texts / n) ** POWERS[stage] / 3600)


def slope(stage: str, rows: Sequence[Found]) -> float:
    """Return the power of n with which the measured seconds grow: least squares of the logarithms."""
    mine = [row for row in rows if row["stage"] == stage]
    n, seconds = (np.log([float(row[name]) for row in mine]) for name in ("n", "seconds"))
    return float(np.polyfit(n, seconds, 1)[0])


def measured(rows: Sequence[Found]) -> str:
    """Return the table of the measurements."""
    lines = [("stage", "texts", "seconds of a core", "peak memory", "recall", "grows as n to the", "date")]
    for stage in STAGES:
        mine = [row for row in rows if row["stage"] == stage]
        for row in mine:
            recall = f"{row['recall']['value']:.3f}" if row.get("recall") else ""
            power = f"{slope(stage, rows):.2f}" if row is mine[-1] and len(mine) > 1 else ""
            what = MEASURED.get(stage, WORDS[stage])
            figures = (_short(row["seconds"]), f"{row['mib']:,.0f} MiB")
            lines.append((what, f"{row['n']:,}", *figures, recall, power, row["date"]))
    return _table(lines)


def expected(rows: Sequence[Found], core_hour: float) -> str:
    """Return the table of extrapolated costs."""
    lines = [("", *(f"{n:,} texts" for n in TEXTS))]
    stages = [stage for stage in STAGES if any(row["stage"] == stage for row in rows)]
    # "file" is not a project's encoder; "sample" was measured with an older search, and "lists" has the newer one.
    for stage in (each for each in stages if each not in ("file", "sample")):
        lines.append((WORDS[stage], *(cost(stage, n, rows).words(core_hour) for n in TEXTS)))
    vectors = [n * DIMENSION * FLOAT32 for n in TEXTS]
    tiles = [-(-n // (PARTS * ROWS)) for n in TEXTS]
    lines.append(("a project's vectors", *map(_bytes, vectors)))
    lines.append(("vectors of mining, in half precision", *(_bytes(each / 2) for each in vectors)))
    lines.append(("parts of an exact pass", *(f"{each:,}" for each in tiles)))
    moved = [each * parts * PARTS for each, parts in zip(vectors, tiles, strict=True)]  # once for each block
    lines.append(("read from memory by an exact pass", *map(_bytes, moved)))
    return _table(lines)


def figures(rows: Sequence[Found], core_hour: float = CORE_HOUR) -> str:
    """Return both tables; core_hour: the price of an hour of one core, in dollars."""
    return f"{measured(rows)}\n\n{expected(rows, core_hour)}"


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *body = lines
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] + ["---:"] * (len(head) - 1), *body))


def _short(value: float) -> str:
    """Return two significant digits, without an exponent."""
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
    """Print the tables of the newest measurements at that price."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core-hour", type=float, default=CORE_HOUR, help="price of a core hour")
    print(figures(stored(), parser.parse_args().core_hour))


if __name__ == "__main__":
    main()
