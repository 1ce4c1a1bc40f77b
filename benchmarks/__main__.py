"""Run all benchmarks in turn, each in its own process, and update the documents that show them.

    python -m benchmarks [--quick] [--only NAME ...] [--out FILE]          (`make bench`)

`--quick` takes minutes: small sizes, figures are printed but not kept. A failed benchmark keeps its last figures.
`--out docs/other_processor.json` keeps those of a second kind of processor beside the first one's.
`python -m benchmarks public` is the comparison with other tools: benchmarks/public/command.py; `python -m benchmarks
clean` that on messy lists: benchmarks/lists/command.py.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.machine import machine, versions
from benchmarks.table import BENCHMARKS, GPU, RESULTS, ROOT, Measure, Row, store, table

COMMANDS = {"public": "benchmarks.public.command", "clean": "benchmarks.lists.command"}
About = Callable[[str], Mapping[str, Any]]


def measure_of(name: str) -> Measure:
    """Return the function that runs a benchmark."""
    measure: Measure = importlib.import_module(f"benchmarks.{(BENCHMARKS | GPU)[name]}").measure
    return measure


def run(name: str, quick: bool, limit: float | None = None) -> list[Row]:
    """Return the rows of one benchmark, run in its own process so that memory and threads are not shared.

    Raises CalledProcessError if it fails, TimeoutExpired if it takes more than `limit` seconds.
    """
    command = [sys.executable, "-m", "benchmarks", "--rows", name, *(["--quick"] if quick else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, timeout=limit)
    return [Row(**row) for row in json.loads(done.stdout)]


def print_rows(name: str, quick: bool) -> None:
    """Print the rows on stdout as JSON, and the benchmark's own output on stderr."""
    with redirect_stdout(sys.stderr):
        rows = measure_of(name)(quick)
    print(json.dumps([asdict(row) for row in rows]))


def about(name: str) -> dict[str, Any]:
    """Return when, where, how and with which versions it was measured."""
    here = {"machine": machine(), "load": f"{os.getloadavg()[0]:.1f}", "versions": versions()}
    return {"date": str(date.today()), **here, "command": f"python -m benchmarks --only {name}"}


def main() -> int:
    """Run the benchmarks, update the page, and return 0, or 1 if a benchmark failed."""
    if module := COMMANDS.get("".join(sys.argv[1:2])):
        compare: Callable[[list[str]], int] = importlib.import_module(module).main
        return compare(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, takes minutes, keeps no figures")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=tuple(BENCHMARKS), metavar="NAME")
    parser.add_argument("--out", type=Path, default=RESULTS, help=f"the file that keeps the figures ({RESULTS.name})")
    parser.add_argument("--rows", choices=BENCHMARKS | GPU, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows:
        print_rows(options.rows, options.quick)
        return 0
    kept = None if options.quick else options.out
    failed = [name for name in options.only if not attempt(name, options.quick, kept)]
    if not options.quick:
        write()
    return 1 if failed else 0


def write() -> None:
    """Write the documents that show figures; a benchmark's own process must not load what this needs."""
    importlib.import_module("benchmarks.documents").write()


def attempt(name: str, quick: bool, kept: Path | None, about: About = about, limit: float | None = None) -> bool:
    """Run the benchmark, print its rows, and keep them in a file, if any. Return whether it succeeded."""
    print(f"{name} …", file=sys.stderr, flush=True)
    try:
        rows = run(name, quick, limit)
    except subprocess.CalledProcessError as error:
        print(f"error: {name} failed (exit code {error.returncode}); its last figures stay", file=sys.stderr)
        return False
    except subprocess.TimeoutExpired:
        print(f"error: {name} took more than {limit:g} seconds; its last figures stay", file=sys.stderr)
        return False
    if kept:
        store(name, rows, about(name), kept)
    print(table({name: {**about(name), "rows": [asdict(row) for row in rows]}}, (name,)), flush=True)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
