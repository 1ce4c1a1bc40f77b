"""Measure time and memory of importing a list of twenty columns, of which all rows are kept, at two sizes.

    python -m benchmarks.speed.import_lists [--rows 100000 1000000]

Each size runs in its own process and folder. Memory is of the process, and must not grow with the rows.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from allpairs.annotate.features.projects.projects import create_project
from allpairs.db.corpus.corpus import Columns, stage_corpus
from allpairs.db.domain import Settings
from allpairs.db.schema.engine import make_engine, migrate

COLUMNS = 20
COMPARED = 7
WORDS = 20_000  # of the cells' vocabulary


def write_list(path: Path, rows: int) -> None:
    """Write an id and cells of one or two words for this many rows, about 250 characters each."""
    rng = np.random.default_rng(0)
    words = np.array([f"{number:x}word" for number in range(WORDS)])
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(["id", *(f"c{place}" for place in range(1, COLUMNS))])
        for row in range(rows):
            first, second = words[rng.integers(0, WORDS, (2, COLUMNS - 1))]
            cells = (f"{a} {b}" if place % 2 else a for place, (a, b) in enumerate(zip(first, second, strict=True)))
            writer.writerow([f"row {row}", *cells])


def import_list(path: Path) -> dict[str, float]:
    """Stage and store the list in a new database; return the seconds of both, and the peak memory in MiB."""
    os.environ["ALLPAIRS_HOME"] = str(path.parent / "home")
    os.environ.pop("ALLPAIRS_DATABASE_URL", None)
    migrate()
    engine = make_engine()
    start = time.perf_counter()
    columns = Columns("id", tuple(f"c{place}" for place in range(1, COMPARED + 1)))
    corpus = stage_corpus(path, columns, keeps_rows=True)
    staged = time.perf_counter()
    create_project(engine, "List", corpus, Settings(evaluation_share=0))
    stored = time.perf_counter()
    peak = next(line for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines() if "VmHWM" in line)
    return {"stage": staged - start, "store": stored - staged, "peak MiB": int(peak.split()[1]) / 1024}


def main() -> None:
    """Measure each size and print a line of figures for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)  # in the process of one size
    options = parser.parse_args()
    if options.file is not None:
        print(json.dumps(import_list(options.file)))
        return
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "list.csv"
            write_list(path, rows)
            command = [sys.executable, "-m", "benchmarks.speed.import_lists", "--file", str(path)]
            figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(f"{rows:,} rows, {path.stat().st_size / 2**20:.0f} MiB:", figures, flush=True)


if __name__ == "__main__":
    main()
