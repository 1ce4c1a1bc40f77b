"""Run the paper's whole QQP experiment at full scale, for a GPU: ten rounds, with each stage against its floor.

    python -m benchmarks.scale.qqp_scale                                  # a GPU: 277,000 + 132,000 made-up questions
    python -m benchmarks.scale.qqp_scale --shape bert-base                # random weights of BERT-base's shape
    python -m benchmarks.scale.qqp_scale --scale 0.005 --rounds 4         # a try-out on a CPU

Runs from the repository with torch, numpy, transformers, sentence-transformers and pydantic. It needs a GPU: a CPU
would need half a day at full scale. Each round searches the pairs closest to p = 1/2 among all train pairs (the most
similar ones in the first round), takes gold's answers, trains from the pre-trained weights on all labels so far, and
encodes the train questions again; in the end average precision is computed exactly over all test pairs.

A stage's floor is its work at the device's peak rates: products of the tokens and pairs actually processed over the
rate of products, and the optimizer's reads and writes over the memory bandwidth.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
import torch

from allpairs.db.domain import DEFAULT_ENCODER, PAPER_SETTINGS, Settings, batch_size_of
from allpairs.learner.evaluation.exact import AllPairs, evaluate_exact
from allpairs.learner.models.cosine_bert import Labelled, train
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs, count_pairs, nearest
from allpairs.learner.search.top_pairs import most_uncertain
from benchmarks.data.qqp_texts import Questions, load_questions
from benchmarks.data.shapes import SHAPES, flop_per_token, random_encoder, trained_weights
from benchmarks.table import Row

# FLOP/s and bytes/s: of one H100 and one H200 in bf16, and of one core in float32
PEAKS = {"H100": (798e12, 3.0e12), "H200": (790e12, 4.3e12), "cpu": (141e9, 20e9)}
TARGETS = {384: 120.0, 768: 600.0}  # seconds for ten rounds at scale 1 on one H200, by the vectors' length
ADAMW_BYTES = 28  # per float32 weight: a step reads weight, gradient and both moments, and writes all but the gradient
BACKWARD = 3  # a training step's products, relative to a forward pass
LARGE = ["--batch-size", "128"]  # a step of the paper's 16 pairs leaves a GPU waiting
MOST_SIMILAR = 2.0  # a threshold above every cosine: the pairs closest to it are the most similar


@dataclass
class Stages:
    """Seconds by stage, and the products (FLOP) and bytes that each had to move."""

    seconds: dict[str, float] = field(default_factory=dict)
    flop: dict[str, float] = field(default_factory=dict)
    moved: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str, flop: float, moved: float = 0.0) -> Iterator[None]:
        """Count the block's time for this stage."""
        start = time.perf_counter()
        yield
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        for total, more in ((self.seconds, time.perf_counter() - start), (self.flop, flop), (self.moved, moved)):
            total[name] = total.get(name, 0.0) + more

    def floor(self, name: str, peaks: tuple[float, float]) -> float:
        """Return the least possible seconds of the stage."""
        return self.flop[name] / peaks[0] + self.moved[name] / peaks[1]


class Experiment:
    """The state of a run: the labels, the newest model's vectors and output layer, and the stages' times."""

    def __init__(self, source: str, encoder: Encoder, data: Questions, test: Questions, settings: Settings) -> None:
        self.source = source
        self.encoder = encoder
        self.data = data
        self.test = test
        self.settings = settings
        self.base = {name: value.clone() for name, value in encoder.model.state_dict().items()}
        self.flop = flop_per_token(encoder)
        self.tokens = np.array([len(row) for row in encoder.tokenize(data.texts)])
        self.test_tokens = sum(len(row) for row in encoder.tokenize(test.texts))
        self.stages = Stages()
        self.known = np.empty((0, 2), dtype=np.int64)
        self.vectors = self.encode()
        self.layer: OutputLayer | None = None
        self.average_precision: float | None = None

    def encode(self) -> np.ndarray:
        """Return (n, d) vectors of the train questions."""
        with self.stages.stage("encode", self.flop * int(self.tokens.sum())):
            return self.encoder.encode(self.data.texts)

    def collect(self, number: int, neighbours: int) -> None:
        """Label the batch of this round, counted from 0."""
        size = batch_size_of(number, self.settings.first, self.settings.growth)
        threshold = self.layer.threshold if self.layer else None
        target = MOST_SIMILAR if threshold is None else threshold
        items, width = self.vectors.shape
        with self.stages.stage("search", 2.0 * width * count_pairs(items, items, True)):
            if neighbours:
                found = self._among_neighbours(target, size, neighbours)
            else:
                found = most_uncertain(self.vectors, self.vectors, True, target, size, self.known)
        self.known = np.vstack([self.known, np.column_stack([found.left, found.right])])

    def _among_neighbours(self, target: float, size: int, neighbours: int) -> Pairs:
        found = nearest(self.vectors, self.vectors, neighbours, True)
        n = len(self.vectors)
        found = found.take(~np.isin(found.keys(n), self.known[:, 0] * n + self.known[:, 1]))
        distance = np.abs(found.score - target)
        best = np.argpartition(distance, min(size, len(distance) - 1))[:size]
        return found.take(best)

    def learn(self) -> None:
        """Train the encoder from the pre-trained weights on all labels so far, if they have both classes."""
        labelled = self.labelled
        if not labelled.has_both_classes:
            return
        tokens = int(self.tokens[labelled.left].sum() + self.tokens[labelled.right].sum())
        steps = self.settings.epochs * max(1, len(labelled) // self.settings.batch_size)
        moved = float(steps * trained_weights(self.encoder) * ADAMW_BYTES)
        self.encoder.model.load_state_dict(self.base)
        with self.stages.stage("train", BACKWARD * self.settings.epochs * tokens * self.flop, moved):
            self.layer = train(self.encoder, self.data.texts, labelled, self.settings)

    def measure(self) -> AllPairs:
        """Return exact figures over all test pairs."""
        with self.stages.stage("encode test", self.flop * self.test_tokens):
            vectors = self.encoder.encode(self.test.texts)
        items, width = vectors.shape
        with self.stages.stage("evaluate", 2.0 * width * count_pairs(items, items, True)):
            measured = evaluate_exact(vectors, vectors, self.test.positives(), True, layer=self.layer)
        if measured is None:
            raise SystemExit("no two test questions match: use a larger --scale")
        self.average_precision = measured.estimates["average_precision"].value
        return measured

    @property
    def labelled(self) -> Labelled:
        """Return the collected pairs with gold's answers."""
        left, right = self.known.T
        return Labelled(left, right, (self.data.group[left] == self.data.group[right]).astype(np.int64))


def run(experiment: Experiment, options: argparse.Namespace) -> None:
    """Run the rounds, printing a line as each ends."""
    for number in range(options.rounds):
        started = time.perf_counter()
        experiment.collect(number, options.neighbours)
        experiment.learn()
        last = number == options.rounds - 1
        figure = ""
        if options.evaluate_every_round or last:
            experiment.measure()
            figure = f", AP {experiment.average_precision:.4f}"
        if not last:
            experiment.vectors = experiment.encode()
        labels = f"{len(experiment.known):,} labels, {experiment.labelled.positives:,} positive"
        print(f"  round {number + 1:2d}: {labels}{figure}, {time.perf_counter() - started:.1f} s", flush=True)


def report(experiment: Experiment, options: argparse.Namespace) -> None:
    """Print the table of stages, and write it to a file if asked."""
    stages = experiment.stages
    peaks = (options.peak_flop, options.peak_bytes)
    total = sum(stages.seconds.values())
    floors = {name: stages.floor(name, peaks) for name in stages.seconds}
    print(
        f"\n| stage, {options.rounds} rounds | seconds | floor, seconds | times the floor |\n| --- | --- | --- | --- |"
    )
    for name, seconds in [*stages.seconds.items(), ("total", total)]:
        floor = floors.get(name, sum(floors.values()))
        print(f"| {name} | {seconds:.1f} | {floor:.3g} | {seconds / floor:.1f} |")
    target = TARGETS.get(experiment.vectors.shape[1])
    if target:
        print(f"\ntotal {total:.0f} s; target {target:.0f} s for 10 rounds at the paper's scale on one H200")
    if options.out:
        Path(options.out).write_text(
            json.dumps({"seconds": stages.seconds, "floors": floors, "options": vars(options)}), encoding="utf-8"
        )


def row(experiment: Experiment, options: argparse.Namespace) -> Row:
    """Return the whole run as a line of the benchmarks' table."""
    stages = experiment.stages
    peaks = (options.peak_flop, options.peak_bytes)
    total = sum(stages.seconds.values())
    floor = sum(stages.floor(name, peaks) for name in stages.seconds)
    parts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in stages.seconds.items())
    target = TARGETS.get(experiment.vectors.shape[1], np.inf)
    texts = f"{len(experiment.data.texts):,} {experiment.source}, batches of {experiment.settings.batch_size}"
    return Row(
        what=f"{options.rounds} rounds on {texts}, AP {experiment.average_precision:.4f}",
        ours=f"{total:.0f} s: {parts}",
        peer=f"the work at the device's peak rates: {floor:.3g} s",
        ratio=total / floor,
        target=f"≤ {target:.0f} s at full scale on one H200",
        met=total <= target,
    )


def measure(quick: bool) -> list[Row]:
    """Return ten rounds at the paper's scale, for a GPU; quick: three at a five-hundredth."""
    options = _options(["--scale", "0.002", "--rounds", "3"] if quick else ["--made-up", *LARGE])
    return [row(whole(options), options)]


def main() -> None:
    """Print the rounds and one table."""
    options = _options()
    report(whole(options), options)


def whole(options: argparse.Namespace) -> Experiment:
    """Run the experiment, printing its conditions and rounds."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{torch.get_num_threads()} CPU threads"
    source, data, test = load_questions(options.scale, options.made_up, np.random.default_rng(options.seed))
    first = max(2, round(PAPER_SETTINGS["first"] * options.scale))
    settings = Settings(first=first, epochs=2, batch_size=options.batch_size, seed=options.seed)
    with tempfile.TemporaryDirectory() as folder:
        encoder = _encoder(options, data, Path(folder))
        print(f"{source}: {len(data.texts):,} train, {len(test.texts):,} test; {encoder.name}")
        print(f"batch {settings.batch_size}, {device}, torch {torch.__version__}, {date.today()}", flush=True)
        experiment = Experiment(source, encoder, data, test, settings)
        run(experiment, options)
    return experiment


def _encoder(options: argparse.Namespace, data: Questions, folder: Path) -> Encoder:
    if options.shape:
        return random_encoder(options.shape, data.texts, folder)
    encoder = load_encoder(options.encoder)
    encoder.model.float()  # a folder may have half precision, too coarse for an optimizer's steps
    return encoder


def _peaks() -> tuple[float, float]:
    if not torch.cuda.is_available():
        flop, moved = PEAKS["cpu"]
        return flop * torch.get_num_threads(), moved
    return PEAKS["H100" if "H100" in torch.cuda.get_device_name() else "H200"]


def _options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flop, moved = _peaks()
    parser.add_argument("--scale", type=float, default=1.0, help="share of the questions and of the first batch")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="name or folder; half precision is widened")
    parser.add_argument("--shape", choices=SHAPES, help="random weights of this shape instead of an encoder")
    parser.add_argument(
        "--made-up", action="store_true", help="generated questions even if the real ones are available"
    )
    parser.add_argument("--neighbours", type=int, default=0, help="neighbours to search for each text; 0: all pairs")
    parser.add_argument("--batch-size", type=int, default=PAPER_SETTINGS["batch_size"])
    parser.add_argument("--evaluate-every-round", action="store_true")
    parser.add_argument("--peak-flop", type=float, default=flop, help=f"products a second (default {flop:g})")
    parser.add_argument("--peak-bytes", type=float, default=moved, help=f"bytes a second (default {moved:g})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", help="JSON file for the figures")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
