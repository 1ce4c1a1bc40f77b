"""Measure the memory of QuIP's questions and labels on disk: written, read back and labelled shard by shard.

    python -m benchmarks.scale.quip_shards [--questions 100000 1000000] [--each 10] [--quick]

Made-up passages, questions and labels (8 tokens and probabilities for each side), through the functions of the stages;
the models' own memory does not grow with their number. Each size runs in its own process. Prints files, time, size on
disk and peak memory above the start.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.progress import no_progress
from allpairs.learner.pipelines.quip.questions import questions_of
from allpairs.learner.pipelines.quip.shards import each_shard, read_shard, shard_size
from allpairs.learner.pipelines.quip.teacher import labels_of
from allpairs.learner.runtime.memory import peak_memory

LEAST, BEST = 64, 8  # the defaults: passages of a file, labels of a question
PASSAGE = "This passage says what was done, where it was done, and by whom. " * 8


def main() -> None:
    """Print a line for each number of questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--each", type=int, default=10, help="questions on each passage")
    parser.add_argument("--quick", action="store_true", help="few questions: tests that it works")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.one, arguments.each)))
        return
    print("| questions | passages of a file | files of a stage | written and read | on disk | peak above the start |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for number in [1_000, 5_000] if arguments.quick else arguments.questions:
        own = ["--one", str(number), "--each", str(arguments.each)]
        command = [sys.executable, "-m", "benchmarks.scale.quip_shards", *own]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        print(
            f"| {number:,} | {row['size']:,} | {row['files']:,} | {row['seconds']:.0f} s | {row['disk']:.0f} MiB | "
            f"{row['mib']:.0f} MiB |",
            flush=True,
        )


def measured(number: int, each: int) -> dict[str, float]:
    """Return figures of writing and reading this many questions."""
    count = number // each
    with tempfile.TemporaryDirectory() as name:
        questions, targets = Path(name) / "questions", Path(name) / "targets"
        questions.mkdir()
        targets.mkdir()
        size = shard_size(count, LEAST, questions)
        files = -(-count // size)
        before, began = peak_memory(), time.perf_counter()
        for folder, work in (
            (questions, lambda part, at, _: _asked(part, at * size, each)),
            (targets, lambda part, at, _: _labels(questions, at)),
        ):
            each_shard(folder, _passages(count, size), files, work, no_progress)
        seen = 0
        for at in range(files):
            first, _ = labels_of(read_shard(targets, at))
            seen += len(first.at)
            assert len(first.at) == len(questions_of(read_shard(questions, at)))
        assert seen == count * each
        seconds = time.perf_counter() - began
        disk = sum(path.stat().st_size for path in Path(name).rglob("*.parquet"))
        return {"size": size, "files": files, "seconds": seconds, "disk": disk / 2**20,
                "mib": (peak_memory() - before) / 2**20}  # fmt: skip


def _passages(count: int, size: int) -> Iterator[list[str]]:
    return ([f"{row} {PASSAGE}" for row in range(start, min(count, start + size))] for start in range(0, count, size))


def _asked(passages: list[str], first: int, each: int) -> dict[str, Any]:
    found = [
        {"passage": first + row, "question": f"what was done in {first + row} by {at} ?", "answer": "done", "start": 30}
        for row in range(len(passages)) for at in range(each)
    ]  # fmt: skip
    return {"questions": found, "malformed": 0}


def _labels(questions: Path, number: int) -> dict[str, Any]:
    rng, n = np.random.default_rng(number), len(read_shard(questions, number)["questions"])
    sides = {
        side: {"at": rng.integers(1, 200, (n, BEST)), "mass": rng.random((n, BEST), dtype=np.float32)}
        for side in ("start", "end")
    }
    return {"questions": list(range(n)), **sides}


if __name__ == "__main__":
    main()
