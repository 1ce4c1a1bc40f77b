"""Measure time and memory of importing a list of texts, at two sizes.

    python -m benchmarks.speed.import_rows [--rows 100000 1000000] [--known 0.01]

Each size runs in its own process and folder: the file is checked as the browser's page does it, then
read again and stored. One row in a hundred repeats an earlier text, one in a hundred has a known positive.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.kit.uploads import Source, check, load
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Settings
from allpairs.db.schema.engine import make_engine, migrate
from benchmarks.table import Row

WORDS = 20_000  # of the texts' vocabulary
SAME = 100  # one row in this many repeats the text before it, with another id
KNOWN = 0.01  # known pairs, as a share of the rows
TARGET = 300.0  # seconds for a million rows
SPARE = 100  # MiB: an import keeps a few bytes per text in memory, never the texts


def write_texts(path: Path, rows: int, rng: np.random.Generator) -> None:
    """Write `id,text` for this many rows of 6 to 17 words, about 90 characters."""
    words = np.array([f"{number:x}word" for number in range(WORDS)])
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("id", "text"))
        text = ""
        for row in range(rows):
            if not row or row % SAME:
                text = " ".join(words[rng.integers(0, WORDS, rng.integers(6, 18))])
            writer.writerow((f"row-{row}", text))


def write_pairs(path: Path, rows: int, share: float, rng: np.random.Generator) -> None:
    """Write `id1,id2` of known positives, `share` times the number of rows."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("id1", "id2"))
        pairs = rng.integers(0, rows, (round(share * rows), 2)).tolist()
        writer.writerows((f"row-{left}", f"row-{right}") for left, right in pairs if left != right)


def peak() -> float:
    """Return the peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def imported(folder: Path) -> dict[str, Any]:
    """Import the files in the folder; return seconds by stage, and the memory above the process's before."""
    os.environ["ALLPAIRS_HOME"] = str(folder / "home")
    os.environ.pop("ALLPAIRS_DATABASE_URL", None)
    migrate()
    engine = make_engine()
    source = Source(folder / "texts.csv", Columns(), gold=folder / "pairs.csv")
    before = peak()
    seconds = {}
    processor = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        busy = time.process_time()
        result = call()
        seconds[name] = round(time.perf_counter() - start, 1)
        processor[name] = round(time.process_time() - busy, 1)
        return result

    timed("check", lambda: check(source))
    corpus = timed("read", lambda: load(source))
    timed("store", lambda: create_project(engine, "Million", corpus, Settings()))
    return {"before": round(before), "peak": round(peak()), "seconds": seconds, "processor": processor}


def run(rows: int, known: float) -> dict[str, Any]:
    """Return the result of `imported` for this many rows, in a process of its own."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder / "texts.csv", rows, rng)
        write_pairs(folder / "pairs.csv", rows, known, rng)
        command = [sys.executable, "-m", "benchmarks.speed.import_rows", "--measure", name]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(quick: bool) -> list[Row]:
    """Return the time and the memory of importing a million texts, and the memory of a tenth of them."""
    few, many = (10_000, 100_000) if quick else (100_000, 1_000_000)
    small, large = (run(rows, KNOWN) for rows in (few, many))
    seconds = sum(large["seconds"].values())
    busy = sum(large["processor"].values())
    grown = [found["peak"] - found["before"] for found in (small, large)]
    return [
        Row(
            what=f"import {many:,} texts: check, read again, store",
            ours=f"{seconds:.0f} s ({busy:.0f} s of the processor)",
            target=f"≤ {TARGET * many / 1_000_000:.0f} s",
            met=seconds <= TARGET * many / 1_000_000,
        ),
        Row(
            what=f"memory of importing {many:,} texts",
            peer=f"{few:,} texts: {grown[0]} MiB",
            ours=f"{grown[1]} MiB",
            ratio=grown[1] / max(1, grown[0]),
            target=f"constant: at most {SPARE} MiB more for ten times the texts",
            met=grown[1] - grown[0] <= SPARE,
        ),
    ]


def main() -> None:
    """Print seconds by stage and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--known", type=float, default=KNOWN, help="known pairs, as a share of the rows")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(imported(options.measure)))
        return
    for rows in options.rows:
        found = run(rows, options.known)
        total = sum(found["seconds"].values())
        busy = sum(found["processor"].values())
        print(f"{rows:,} rows: {total:.0f} s {found['seconds']}, of them {busy:.0f} s of the processor")
        print(f"  peak memory {found['peak']} MiB, {found['peak'] - found['before']} MiB above the process before")


if __name__ == "__main__":
    main()
