"""The stage that asks what mined pairs are good for: a model that learned from them too, at equal counts.

Source: paper 000, section 5. `seed only` learns from the seed pairs; `bi-encoder` adds the best pairs by margin, `full`
those by the cross-encoder, `gold` as many known pairs.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from db.domain import Progress
from learner.pipelines.mining.downstream_reading import Reading
from learner.pipelines.mining.downstream_retrieval import Retrieval
from learner.pipelines.mining.inputs import Texts, texts_of
from learner.pipelines.mining.margin import Candidates
from learner.pipelines.mining.propose import PAIRS
from learner.pipelines.pipeline import Run

FIGURES = "figures.jsonl"
SEED_ONLY, BIENCODER, FULL, GOLD = "seed only", "bi-encoder", "full", "gold"


def measure_downstream(run: Run, folder: Path, progress: Progress) -> None:
    """Nothing; the folder holds one row for each method, amount and seed, if any are asked for."""
    texts, path = texts_of(run), folder / FIGURES
    path.touch()
    if not texts.test or not run.config.downstream.amounts:
        return
    task = Reading(run.config, texts) if texts.asked else Retrieval(run.config, texts)
    wanted = [(seed, *one) for seed in range(run.config.downstream.seeds) for one in _lessons(run, texts, seed)]
    for at, (seed, method, rows) in enumerate(wanted):

        def part(stage: str, done: float, at: int = at) -> None:
            progress(f"{at + 1} of {len(wanted)}, {stage}", (at + done) / len(wanted))

        figures = task.figures(rows, seed, part)
        with path.open("a") as file:
            file.write(json.dumps({"method": method, "amount": len(rows), "seed": seed, **figures}) + "\n")


def _lessons(run: Run, texts: Texts, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Method and added pairs (n, 2), as rows, of each training; an amount that a method does not have is left out."""
    kept = Candidates.load(run.of("kept") / PAIRS)
    with np.load(run.of("mined") / "order.npz") as stored:
        order, scored = stored["order"], len(stored["score"]) > 0
    pairs = np.column_stack([kept.x, kept.y])
    sources = {BIENCODER: pairs} | ({FULL: pairs[order]} if scored else {}) | {GOLD: _gold(texts, seed)}
    yield SEED_ONLY, pairs[:0]
    for amount in sorted(set(run.config.downstream.amounts)):
        for method, rows in sources.items():
            if 0 < amount <= len(rows):
                yield method, rows[:amount]


def _gold(texts: Texts, seed: int) -> np.ndarray:
    """The known pairs (n, 2) that are no seed pairs, in a random order."""
    if texts.gold is None:
        return np.empty((0, 2), dtype=np.int64)
    rows = texts.gold[np.random.default_rng([seed, 2]).permutation(len(texts.gold))]
    pairs = zip(texts.x.take(rows[:, 0]), texts.y.take(rows[:, 1]), strict=True)
    return rows[[pair not in texts.seeds for pair in pairs]]
