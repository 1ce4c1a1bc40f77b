"""Show what is kept of five messy lists in docs/comparison.md; with --run, first do the runs that are missing.

    python -m benchmarks clean [--run] [--again] [--lists NAME ...] [--peers NAME ...] [--seeds N ...] [--rows N]

--lists, --peers and --seeds say which runs to do; without them all. With --rows the figures are printed, and not kept.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from benchmarks.documents import write
from benchmarks.lists.catalog import PEERS, ROWS, SEEDS
from benchmarks.lists.make import KINDS
from benchmarks.lists.page import keep_run, kept_runs
from benchmarks.lists.run import run_on_list


def main(arguments: Sequence[str]) -> int:
    """Do the runs, write the page, and return 0, or 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="do the runs that are missing")
    parser.add_argument("--again", action="store_true", help="with --run: also repeat the runs that are kept")
    parser.add_argument("--lists", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--out", type=Path, default=Path("out/lists"))
    options = parser.parse_args(arguments)
    repeated = options.again or options.rows != ROWS
    done = set() if repeated else {(run["seed"], run["list"], run["peer"]) for run in kept_runs()}
    chosen = product(options.seeds, options.lists, options.peers) if options.run else ()
    status = 0
    for seed, name, peer in (key for key in chosen if key not in done):
        print(f"{name}, seed {seed}, {peer} …", file=sys.stderr, flush=True)
        try:
            run = run_on_list(PEERS[peer], name, seed, options.out.absolute(), options.rows)
        except subprocess.CalledProcessError as error:
            print(f"error: {peer} failed (exit code {error.returncode}): see above", file=sys.stderr)
            status = 1
            continue
        print(json.dumps(run["budgets"]), flush=True)
        if options.rows == ROWS:
            keep_run(run)
    write()
    return status
