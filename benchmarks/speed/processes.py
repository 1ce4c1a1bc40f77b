"""Compare training by several processes with one, in one run: pairs a second, and start-up time.

    python -m benchmarks.speed.processes [--pairs 2048] [--batch-size 64] [--processes 2]

Every process needs a core or a GPU of its own; with fewer, this shows the loss. Tokenizing and the first steps count
as start-up.
"""

import argparse
import os
import time

import numpy as np

from allpairs.db.domain import Settings
from allpairs.learner.models.cosine_bert import Labelled, train
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.runtime.training_group import PROCESSES
from allpairs.learner.search.top_pairs import best_pairs
from benchmarks.common import questions


class Clock:
    """Records the training's progress over time; used as a progress function."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.heard: list[tuple[float, float]] = []

    def __call__(self, stage: str, done: float) -> None:
        if 0 < done < 1 and (not self.heard or done > self.heard[-1][1]):
            self.heard.append((time.perf_counter(), done))

    @property
    def start(self) -> float:
        """Return the seconds until the first progress report of a step."""
        return self.heard[0][0] - self.began

    @property
    def rate(self) -> float:
        """Return the share of the training done per second, once it runs."""
        (first, before), (last, after) = self.heard[0], self.heard[-1]
        if last == first:
            raise SystemExit("the training ended before its second progress report: raise --pairs")
        return (after - before) / (last - first)


def compared(pairs: int, batch_size: int, processes: int) -> None:
    """Print the rates of one process and of several."""
    texts = questions(4000)
    encoder = load_encoder()
    vectors = encoder.encode(texts)
    found = best_pairs(vectors, vectors, True, top=pairs)
    labels = (found.score > np.median(found.score)).astype(np.int64)
    labelled = Labelled(found.left, found.right, labels)
    one = 0.0
    for n in (1, processes):
        os.environ[PROCESSES] = str(n)
        clock = Clock()
        train(encoder, texts, labelled, Settings(epochs=1, batch_size=batch_size), clock)
        rate = len(labelled) * clock.rate
        one = one or rate
        print(f"  {n} processes: {clock.start:6.1f} s to start, then {rate:8.1f} pairs/s, {rate / one:.2f} × the first")


def main() -> None:
    """Print pairs a second."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2048)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    compared(options.pairs, options.batch_size, options.processes)


if __name__ == "__main__":
    main()
