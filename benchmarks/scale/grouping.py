"""Measure the clusterings on a million texts with five million links: time and peak memory of each.

    python -m benchmarks.scale.grouping [--texts 1000000] [--links 5000000] [--seed 0] [--quick]

Made-up entities of 1 to 20 texts (Zipf), all links within them, and links between random texts that are mostly, not
always, less probable. Each clustering runs in a process of its own on links that are on disk; the floor is scipy's
`connected_components` of the same links, in the same process. The peak is that of the whole process.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from allpairs.db.domain import Clustering
from allpairs.learner.light.groups.clusterings import TWO_LISTS, clustered
from allpairs.learner.light.groups.links import Links
from allpairs.learner.runtime.memory import peak_memory

LEAST = 0.5
LARGEST = 20  # texts of an entity


def main() -> None:
    """Print a line for each clustering."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few texts: tests that it works, not how fast it is")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(Path(arguments.one[0]), Clustering(arguments.one[1]))))
        return
    texts, count = (10_000, 50_000) if arguments.quick else (arguments.texts, arguments.links)
    print("| clustering | groups | seconds | CPU seconds | floor, CPU seconds | ratio | peak memory |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        files = {two: Path(name) / f"{two}.npz" for two in (False, True)}
        for two, file in files.items():
            _save(links(texts, count, two, np.random.default_rng(arguments.seed)), file)
        for how in Clustering:
            row = _apart(files[how in TWO_LISTS], how)
            print(
                f"| {how} | {row['groups']:,} | {row['seconds']:.1f} | {row['cpu']:.1f} | {row['floor']:.1f} | "
                f"{row['cpu'] / row['floor']:.1f} | {row['mib']:,.0f} MiB |",
                flush=True,
            )


def links(texts: int, count: int, two_lists: bool, rng: np.random.Generator) -> Links:
    """Return about `count` distinct links: all within entities, the others between random texts.

    two_lists: only links between texts of two lists of equal length.
    """
    sizes = rng.choice(np.arange(1, LARGEST + 1), texts, p=_zipf())
    entity = np.repeat(np.arange(texts), sizes)[:texts]
    order = rng.permutation(texts)
    second = np.arange(texts) % 2 == 1
    steps = [np.flatnonzero(entity[step:] == entity[:-step]) for step in range(1, LARGEST)]
    inner = np.concatenate([np.stack([order[at], order[at + step]], 1) for step, at in enumerate(steps, 1)])
    others = rng.integers(0, texts, (max(count * (2 if two_lists else 1) - len(inner), 0), 2))
    pairs = np.sort(np.concatenate([inner, others]), axis=1)
    p = np.concatenate([rng.beta(4, 1.5, len(inner)), rng.beta(1, 4, len(others))])
    kept = second[pairs[:, 0]] != second[pairs[:, 1]] if two_lists else pairs[:, 0] != pairs[:, 1]
    pairs = pairs[kept]
    p = p[kept]
    distinct = np.unique(pairs[:, 0] * texts + pairs[:, 1], return_index=True)[1]
    pairs = pairs[distinct]
    p = p[distinct]
    return Links(texts, pairs[:, 0].copy(), pairs[:, 1].copy(), p, second=second if two_lists else None)


def _zipf() -> np.ndarray:
    weight = np.arange(1, LARGEST + 1) ** -2.0
    return weight / weight.sum()


def _save(found: Links, file: Path) -> None:
    second = {} if found.second is None else {"second": found.second}
    np.savez(file, n=found.n, left=found.left, right=found.right, p=found.p, **second)


def _apart(file: Path, how: Clustering) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.scale.grouping", "--one", str(file), how.value]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    row: dict[str, float] = json.loads(done.stdout)
    return row


def measured(file: Path, how: Clustering) -> dict[str, float]:
    """Return the seconds, CPU seconds, those of the floor, the peak in MiB, and the number of groups."""
    with np.load(file) as held:
        given = Links(int(held["n"]), held["left"], held["right"], held["p"], second=held.get("second"))
    start = time.perf_counter()
    cpu, group = _timed(lambda: clustered(given, how, LEAST))
    seconds = time.perf_counter() - start
    peak = peak_memory()
    floor, _ = _timed(lambda: _floor(given))
    groups = len(np.unique(group))
    return {"seconds": seconds, "cpu": cpu, "floor": floor, "mib": peak / 2**20, "groups": groups}


def _timed(call: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def _floor(given: Links) -> np.ndarray:
    """Return the connected components of the links that count, as scipy names them."""
    kept = given.p >= LEAST
    left = given.left[kept]
    right = given.right[kept]
    table = coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(given.n, given.n))
    found: np.ndarray = connected_components(table, directed=False)[1]
    return found


if __name__ == "__main__":
    main()
