"""Make docs/comparison.md and all other documents with kept figures; with --run, first do the runs that are missing.

    python -m benchmarks public [--run] [--again] [--data NAME ...] [--peers NAME ...] [--seeds N ...] [--jobs N]

--data, --peers and --seeds say which runs to do; without them all. --jobs says how many go on at once. A run that is
kept is done again with --again only. Environments, scores and models go to --out.
What is still missing is printed.
`python -m benchmarks.data.datasets` writes the data sets.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from itertools import product
from pathlib import Path

from benchmarks.documents import write
from benchmarks.public.catalog import PEERS, Peer
from benchmarks.public.environments import python_of
from benchmarks.public.run import Places, Run, run
from benchmarks.public.runs import keep, read_runs
from benchmarks.public.work import SEEDS, WORK, Data

Wanted = tuple[Data, int, Peer]


def main(arguments: Sequence[str]) -> int:
    """Do the runs, write the documents, and return 0, or 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="do the runs that are missing")
    parser.add_argument("--again", action="store_true", help="with --run: also repeat the runs that are kept")
    parser.add_argument("--data", nargs="+", choices=WORK, default=list(WORK))
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--files", type=Path, default=Path("out/data"))
    parser.add_argument("--out", type=Path, default=Path("out/public"))
    chosen = parser.parse_args(arguments)
    if chosen.jobs < 1:
        parser.error(f"argument --jobs: {chosen.jobs} is too few: give 1 or more")
    if chosen.again and not chosen.run:
        parser.error("argument --again: it repeats runs: give --run, too")
    places = Places(chosen.files.absolute(), chosen.out.absolute())
    todo = list(missing(chosen.data, chosen.seeds, chosen.peers, chosen.again)) if chosen.run else []
    for data, seed, peer in todo if chosen.again else ():
        shutil.rmtree(places.of(data.name, peer.name, seed), ignore_errors=True)
    for environment in {peer.environment for _, _, peer in todo}:
        with suppress(subprocess.CalledProcessError):  # each of its runs will say so
            python_of(environment, places.out / "environments")
    done = 0
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for each in as_completed(pool.submit(attempt, *one, places) for one in todo):
            if made := each.result():
                keep(made)
                done += 1
    write()
    for data, seed, peer in missing(list(WORK), SEEDS, list(PEERS)):
        print(f"missing: {data.name}, seed {seed}, {peer.name}")
    return 0 if done == len(todo) else 1


def missing(names: Sequence[str], seeds: Sequence[int], peers: Sequence[str], again: bool = False) -> Iterator[Wanted]:
    """Yield the runs that are not kept, seed by seed; again: also those that are."""
    for name in names:
        done = set() if again else {(one["seed"], one["peer"]) for one in read_runs(name)}
        for seed, peer in product(seeds, (PEERS[peer] for peer in peers)):
            if (seed, peer.name) not in done and (not peer.data or name in peer.data):
                yield WORK[name], seed, peer


def attempt(data: Data, seed: int, peer: Peer, places: Places) -> Run | None:
    """Do one run and return it, or say that it failed."""
    print(f"{data.name}, seed {seed}, {peer.name} …", file=sys.stderr, flush=True)
    try:
        return run(peer, data, seed, places)
    except subprocess.CalledProcessError as error:
        print(f"error: {peer.name} failed (exit code {error.returncode}): see above", file=sys.stderr)
        return None
