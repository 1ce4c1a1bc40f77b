"""All benchmarks after one another, each in a process of its own, and the table of docs/benchmarks.md.

    python -m benchmarks [--quick] [--only NAME ...]          (`make bench`)

`--quick` takes minutes: small sizes, figures printed and not kept. A benchmark that fails keeps its last figures.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from datetime import date

from benchmarks.table import PAGE, ROOT, Measure, Row, rewrite, store, stored, table

# Where each is; the module has `measure(quick) -> rows`. A new benchmark is one more line.
BENCHMARKS = {
    "encode": "speed.encode",
    "search": "speed.search",
    "evaluation": "speed.evaluation",
    "training": "speed.training",
    "rerank": "speed.rerank",
    "engines": "speed.engines",
    "latency": "speed.latency",
    "pages": "speed.pages",
    "load": "scale.load",
    "import_rows": "speed.import_rows",
}


def measure_of(name: str) -> Measure:
    """The function that measures a benchmark."""
    measure: Measure = importlib.import_module(f"benchmarks.{BENCHMARKS[name]}").measure
    return measure


def run(name: str, quick: bool) -> list[Row]:
    """The rows of one benchmark, measured in a process of its own: memory and threads are nobody else's.

    Raises CalledProcessError where it fails.
    """
    command = [sys.executable, "-m", "benchmarks", "--rows", name, *(["--quick"] if quick else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return [Row(**row) for row in json.loads(done.stdout)]


def print_rows(name: str, quick: bool) -> None:
    """Nothing; the rows are on stdout as JSON, and what the benchmark prints is on stderr."""
    with redirect_stdout(sys.stderr):
        rows = measure_of(name)(quick)
    print(json.dumps([asdict(row) for row in rows]))


def about(name: str) -> dict[str, str]:
    """When and where it was measured, and how."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    command = f"python -m benchmarks --only {name}"
    return {"date": str(date.today()), "machine": machine, "load": f"{os.getloadavg()[0]:.1f}", "command": command}


def main() -> int:
    """0, or 1 where a benchmark failed; the page has the newest figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="minutes: small sizes, nothing is kept")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=tuple(BENCHMARKS), metavar="NAME")
    parser.add_argument("--rows", choices=BENCHMARKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows:
        print_rows(options.rows, options.quick)
        return 0
    failed = [name for name in options.only if not attempt(name, options.quick)]
    if not options.quick:
        PAGE.write_text(rewrite(PAGE.read_text(), table(stored(), tuple(BENCHMARKS))))
    return 1 if failed else 0


def attempt(name: str, quick: bool) -> bool:
    """Whether the benchmark ran; its rows are printed and, unless quick, kept."""
    print(f"{name} …", file=sys.stderr, flush=True)
    try:
        rows = run(name, quick)
    except subprocess.CalledProcessError as error:
        print(f"error: {name} failed (exit code {error.returncode}); its last figures stay", file=sys.stderr)
        return False
    if not quick:
        store(name, rows, about(name))
    print(table({name: {**about(name), "rows": [asdict(row) for row in rows]}}, (name,)), flush=True)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
