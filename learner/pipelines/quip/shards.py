"""Work in shards: each has a file, which exists only when complete, so that a stopped stage resumes with the next."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.pipelines.pipeline import finish

SPEED = "speed.json"


def each_shard(
    folder: Path, n: int, size: int, work: Callable[[np.ndarray, int, Progress], dict[str, Any]], progress: Progress
) -> None:
    """Write a file NNNNN.json for each shard of n rows, and the total time, to the folder.

    work(rows, shard number, progress) returns the contents of the shard's file; its key `questions` is a list. progress
    is told how many questions are done, and how fast.
    """
    starts, speed = range(0, n, size), _Speed()
    for number, start in enumerate(starts):

        def part(words: str, done: float, number: int = number) -> None:
            progress(f"{words}, shard {number + 1} of {len(starts)}{speed}", (number + done) / len(starts))

        def write(partial: Path, number: int = number, start: int = start, hear: Progress = part) -> None:
            began = time.perf_counter()
            found = work(np.arange(start, min(n, start + size)), number, hear)
            partial.write_text(json.dumps({"seconds": time.perf_counter() - began, **found}), encoding="utf-8")

        finish(shard_path(folder, number), write)
        speed.add(read_shard(folder, number))
        part("done", 1.0)
    write_speed(folder, speed.questions, speed.seconds)


def shard_path(folder: Path, number: int) -> Path:
    """Return the file of a shard."""
    return folder / f"{number:05d}.json"


def read_shards(folder: Path) -> list[dict[str, Any]]:
    """Return the contents of all shards, in order."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[0-9]*.json"))]


def read_shard(folder: Path, number: int) -> dict[str, Any]:
    """Return the contents of this shard."""
    found: dict[str, Any] = json.loads(shard_path(folder, number).read_text(encoding="utf-8"))
    return found


def write_speed(folder: Path, done: int, seconds: float) -> None:
    """Record in the folder how many questions were done in how many seconds."""
    (folder / SPEED).write_text(json.dumps({"done": done, "seconds": seconds}), encoding="utf-8")


def read_speed(folder: Path) -> dict[str, float]:
    """Return what `write_speed` wrote; zeros if it wrote nothing."""
    path = folder / SPEED
    found: dict[str, float] = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"done": 0, "seconds": 0.0}
    )
    return found


@dataclass
class _Speed:
    """The questions of all shards so far and their time; as a string, the progress message's end."""

    questions: int = 0
    seconds: float = 0.0

    def add(self, shard: Mapping[str, Any]) -> None:
        """Count the shard."""
        self.questions += len(shard["questions"])
        self.seconds += shard["seconds"]

    def __str__(self) -> str:
        return f"; {self.questions:,} questions, {self.questions / self.seconds:,.1f} a second" if self.seconds else ""
