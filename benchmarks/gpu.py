"""Run the parts that a GPU is for, each in a process of its own with a time limit, and keep their figures for the page.

    python -m benchmarks.gpu [--only NAME ...] [--limit 600]
    python -m benchmarks.gpu --quick [--out FILE]    # small sizes, on a CPU too: shows that everything runs

Needs the repository and the packages of requirements-gpu.txt, and no network: without the real questions it makes some
up. Each part is kept in docs/gpu.json as it ends, and docs/comparison.md shows it; a part that fails or takes too long
keeps its last figures. `--quick` keeps nothing, unless --out names a file.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import faiss
import torch

from allpairs.learner.search.exact import search_device
from benchmarks.__main__ import attempt, write
from benchmarks.machine import machine, versions
from benchmarks.table import GPU, GPU_RESULTS


def device() -> str:
    """Return the device in words."""
    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name()}, {machine()}"
    return f"no GPU, {machine()}"


def about(name: str) -> dict[str, Any]:
    """Return when, where, how and with which versions a part was measured."""
    more = {"faiss": f"{faiss.__version__} on {search_device()}", "cuda": str(torch.version.cuda)}
    load = f"{os.getloadavg()[0]:.1f}"
    command = f"python -m benchmarks.gpu --only {name}"
    here = {"machine": device(), "load": load, "versions": versions() | more}
    return {"date": str(date.today()), **here, "command": command}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts, and return 0, 1 if a part failed, or 2 if there is no GPU for the full sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, for any machine")
    parser.add_argument("--only", nargs="+", choices=GPU, default=tuple(GPU), metavar="NAME")
    parser.add_argument("--limit", type=float, default=600, help="seconds that a part may take")
    parser.add_argument("--out", type=Path, help=f"the file that keeps the figures (default {GPU_RESULTS.name})")
    options = parser.parse_args(arguments)
    print(f"device: {device()}", flush=True)
    if not options.quick and not torch.cuda.is_available():
        print("error: there is no GPU, and a CPU would take days: --quick has small sizes", file=sys.stderr)
        return 2
    kept = options.out or (None if options.quick else GPU_RESULTS)
    failed = [name for name in options.only if not attempt(name, options.quick, kept, about, options.limit)]
    if kept == GPU_RESULTS:
        write()
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
