"""Measure what a Ray cluster on this machine costs and gains over no cluster, with one process, then two.

python -m benchmarks.speed.engines [--quick]

Every process has one thread. The overhead is the extra time of a cluster with one process; the speed-up is the gain of
two processes over none. Ray starts before the clock does; its data transfers and its processes' imports count.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from allpairs.db.domain import DEFAULT_ENCODER
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.runtime.protocol import ENGINE, LOCAL, Engine
from allpairs.learner.search.exact import nearest
from benchmarks.common import ROOT, questions
from benchmarks.table import Row

OVERHEAD = 1.15  # goal: at most so many times as slow with one process
FASTER = 1.6  # goal: so many times as fast with two
SIZES = {"encode": 20_000, "search": 60_000, "evaluate": 110_000}  # over a minute of one core each
QUICK = {"encode": 600, "search": 35_000, "evaluate": 35_000}
WAYS = {"local": 0, "one": 1, "two": 2}  # processes of the cluster


@dataclass(frozen=True)
class Stage:
    """A stage, and the word for its unit of work."""

    run: Callable[[int, Engine], object]
    unit: str


def unit_vectors(n: int) -> np.ndarray:
    """Return n random unit vectors of dimension 384."""
    vectors = np.random.default_rng(0).standard_normal((n, 384), dtype=np.float32)
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _evaluate(n: int, engine: Engine) -> object:
    vectors = unit_vectors(n)
    first = np.arange(0, n, 10)
    # Low-ranked positives would have most negatives counted one by one, which no real evaluation does.
    vectors[first + 1] = vectors[first]
    return evaluate_exact(vectors, vectors, np.column_stack([first, first + 1]), True, engine=engine)


def _search(n: int, engine: Engine) -> object:
    vectors = unit_vectors(n)
    return nearest(vectors, vectors, 20, True, engine=engine)


STAGES = {
    "encode": Stage(lambda n, engine: load_encoder(DEFAULT_ENCODER).encode(questions(n), engine=engine), "questions"),
    "search": Stage(_search, "vectors"),
    "evaluate": Stage(_evaluate, "vectors"),
}


def seconds(stage: str, n: int, processes: int) -> float:
    """Return the stage's wall seconds on a cluster of so many processes (0: none). Shuts Ray down in this process."""
    torch.set_num_threads(1)
    if not processes:
        return _timed(stage, n, LOCAL)
    import ray

    from allpairs.learner.runtime.ray_engine import OnRay

    environment = {**os.environ, ENGINE: "local", "OMP_NUM_THREADS": "1"}
    ray.init(
        num_cpus=processes,
        log_to_driver=False,
        include_dashboard=False,
        runtime_env={"env_vars": {name: environment[name] for name in (ENGINE, "OMP_NUM_THREADS", "PYTHONPATH")}},
    )
    return _timed(stage, n, OnRay())


def _timed(stage: str, n: int, engine: Engine) -> float:
    start = time.perf_counter()
    STAGES[stage].run(n, engine)
    return time.perf_counter() - start


def _apart(stage: str, n: int, way: str) -> float:
    command = [sys.executable, "-m", "benchmarks.speed.engines", "--one", stage, str(n), str(WAYS[way])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environment)
    taken = float(json.loads(done.stdout.splitlines()[-1]))
    print(f"{stage}, {n:,}, {way}: {taken:.1f} s", flush=True)
    return taken


def measure(quick: bool) -> list[Row]:
    """Return overhead and speed-up of each stage, medians of three interleaved runs (quick: one)."""
    rows = []
    for stage, n in (QUICK if quick else SIZES).items():
        runs = [{way: _apart(stage, n, way) for way in WAYS} for _ in range(1 if quick else 3)]
        local, one, two = (float(np.median([run[way] for run in runs])) for way in WAYS)
        what = f"{stage}, {n:,} {STAGES[stage].unit}, Ray with"
        peer = f"no cluster, one thread: {local:.1f} s"
        rows += [
            Row(
                f"{what} one process",
                f"{one:.1f} s",
                f"≤ {OVERHEAD:g} × the time",
                one <= OVERHEAD * local,
                peer,
                one / local,
            ),
            Row(
                f"{what} two processes",
                f"{two:.1f} s",
                f"≥ {FASTER:g} × as fast",
                local >= FASTER * two,
                peer,
                local / two,
            ),
        ]
    return rows


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        stage, n, processes = options.one
        print(json.dumps(seconds(stage, int(n), int(processes))))
        return
    for row in measure(options.quick):
        print(f"{row.what}: {row.ours} ({row.peer}), ratio {row.ratio:.2f}, {row.target}")


if __name__ == "__main__":
    main()
