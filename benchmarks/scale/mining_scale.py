"""Measure margin mining of two lists on disk: time and memory by size, extrapolated to larger lists.

    python -m benchmarks.scale.mining_scale [--sizes 20000 40000 80000] [--dimension 384] [--quick]

Random unit vectors, as many first as second texts, both searches (k = 4) and the margin of every candidate; encoding,
which grows only with the number of texts, is measured by `benchmarks.speed.encode`. Each size runs in its own process.
The floor is the bare matrix product of the same pairs, block by block: no exact search can be faster.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from allpairs.learner.light.catalog.mining import Margin
from allpairs.learner.pipelines.mining.margin import mine_pairs

BLOCK = 8_192
PAPER = (40e6, 550e6)  # documents and sentences of the summaries of Joshi et al. (2022)


def main() -> None:
    """Print a line for each size, and the times extrapolated from the largest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 40_000, 80_000])
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--quick", action="store_true", help="small lists: tests that it works, not how fast it is")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.one, arguments.dimension)))
        return
    sizes = [2_000, 4_000] if arguments.quick else arguments.sizes
    rows = [_apart(size, arguments.dimension) for size in sizes]
    print("| texts of each list | both searches and margins | bare products | ratio | peak memory above the start |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for size, row in zip(sizes, rows, strict=True):
        ratio = row["seconds"] / row["floor"]
        print(f"| {size:,} | {row['seconds']:.1f} s | {row['floor']:.1f} s | {ratio:.2f} | {row['mib']:.0f} MiB |")
    print(expected(sizes[-1], rows[-1]["seconds"]))


def expected(size: int, seconds: float) -> str:
    """Extrapolate the largest measured size to a million texts and to the paper's corpora, in words."""
    per_pair = seconds / size**2
    million = per_pair * 1e12 / 3600
    paper = per_pair * PAPER[0] * PAPER[1] / 86_400 / 365
    return (
        f"At {per_pair * 1e9:.2f} ns a pair a million times a million take {million:,.0f} hours here, and the paper's "
        f"40 million × 550 million {paper:,.0f} years: time grows with the pairs, so that is work for GPUs."
    )


def _apart(size: int, dimension: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.scale.mining_scale", "--one", str(size), "--dimension", str(dimension)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measured(size: int, dimension: int) -> dict[str, float]:
    """Return the seconds of mining and of the bare products, and the rise in memory, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        x, y = (_vectors(Path(folder) / f"{name}.npy", size, dimension, seed) for seed, name in enumerate("xy"))
        before = _peak()
        start = time.perf_counter()
        found = mine_pairs(x, y, Margin())
        seconds = time.perf_counter() - start
        mib = _peak() - before
        assert len(found) == min(Margin().top, size)
        return {"seconds": seconds, "floor": 2 * _products(x, y), "mib": mib}


def _vectors(path: Path, size: int, dimension: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    vectors = np.lib.format.open_memmap(path, "w+", np.float16, (size, dimension))
    shared = rng.normal(size=dimension)  # a shared component, so that mean cosines are above 0
    for start in range(0, size, BLOCK):
        block = rng.normal(size=(len(vectors[start : start + BLOCK]), dimension)) + shared
        vectors[start : start + BLOCK] = block / np.linalg.norm(block, axis=1, keepdims=True)
    vectors.flush()
    return np.load(path, mmap_mode="r")


def _products(x: np.ndarray, y: np.ndarray) -> float:
    """Return the seconds of the products of all pairs, in blocks that are not kept."""
    start = time.perf_counter()
    for row in range(0, len(x), BLOCK):
        left = torch.from_numpy(x[row : row + BLOCK].astype(np.float32))
        for column in range(0, len(y), BLOCK):
            left @ torch.from_numpy(y[column : column + BLOCK].astype(np.float32)).T
    return time.perf_counter() - start


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
