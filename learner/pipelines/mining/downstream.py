"""The stage that asks what mined pairs are good for: a model that learned from them too, at equal counts.

Source: paper 000, section 5 and 6. `seed only` learns from the seed pairs; `bi-encoder` adds the best pairs by margin,
`full` those by the cross-encoder, `generated` as many with one text written anew, `gold` as many known pairs.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from db.domain import Progress
from learner.catalog.mining import MiningConfig
from learner.pipelines.mining.added import BIENCODER, FULL, GENERATED, GOLD, SEED_ONLY, Added
from learner.pipelines.mining.downstream_reading import Reading
from learner.pipelines.mining.downstream_retrieval import Retrieval
from learner.pipelines.mining.downstream_summaries import Summaries
from learner.pipelines.mining.generated import write_texts
from learner.pipelines.mining.inputs import READING, SUMMARIES, Texts, texts_of
from learner.pipelines.mining.margin import Candidates
from learner.pipelines.mining.propose import PAIRS
from learner.pipelines.pipeline import Run

FIGURES = "figures.jsonl"


class Task(Protocol):
    """Trains a model and measures it on the test pairs."""

    def figures(self, added: Added, seed: int, progress: Progress) -> dict[str, float]:
        """Measures by name, of a model that learned from the seed pairs and these."""
        ...


def measure_downstream(run: Run, folder: Path, progress: Progress) -> None:
    """Nothing; the folder holds one row for each method, amount and seed, if any are asked for."""
    texts, path = texts_of(run), folder / FIGURES
    path.touch()
    if not texts.test or not run.config.downstream.amounts:
        return
    task, seeds = _task(run, texts), run.config.downstream.seeds
    for seed in range(seeds):

        def part(stage: str, done: float, seed: int = seed) -> None:
            progress(f"seed {seed + 1} of {seeds}, {stage}", (seed + done) / seeds)

        for row in _rows(run, texts, task, seed, part):
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")


def _task(run: Run, texts: Texts) -> Task:
    kinds: dict[str, Callable[[MiningConfig, Texts], Task]] = {READING: Reading, SUMMARIES: Summaries}
    return kinds.get(run.config.task, Retrieval)(run.config, texts)


def _rows(run: Run, texts: Texts, task: Task, seed: int, progress: Progress) -> Iterator[dict[str, str | float]]:
    """The figures of every method and amount with this seed; an amount that a method does not have is left out."""
    sources = _sources(run, texts, seed)
    wanted = sorted({amount for amount in run.config.downstream.amounts if amount > 0})
    steps = 2 + len(wanted) * (1 + len(sources))

    def part(at: int, words: str) -> Progress:
        return lambda stage, done: progress(f"{words}, {stage}", min(1.0, (at + done) / steps))

    best = sources.get(FULL, sources[BIENCODER]).rows
    if run.config.downstream.generated and wanted and len(best):
        sources[GENERATED] = write_texts(run.config, texts, best[: wanted[-1]], seed, part(0, "writing"))
    lessons = [Added(SEED_ONLY, texts, np.empty((0, 2), dtype=np.int64))]
    lessons += [added.first(n) for n in wanted for added in sources.values() if n <= len(added)]
    for at, added in enumerate(lessons, 1):
        figures = task.figures(added, seed, part(at, f"{added.method} + {len(added):,}"))
        yield {"method": added.method, "amount": len(added), "seed": seed, **figures}


def _sources(run: Run, texts: Texts, seed: int) -> dict[str, Added]:
    """What each method may add, the best first."""
    kept = Candidates.load(run.of("kept") / PAIRS)
    with np.load(run.of("mined") / "order.npz") as stored:
        order, scored = stored["order"], len(stored["score"]) > 0
    pairs = np.column_stack([kept.x, kept.y])
    rows = {BIENCODER: pairs} | ({FULL: pairs[order]} if scored else {}) | {GOLD: _gold(texts, seed)}
    return {method: Added(method, texts, some) for method, some in rows.items()}


def _gold(texts: Texts, seed: int) -> np.ndarray:
    """The known pairs (n, 2) that are no seed pairs, in a random order."""
    if texts.gold is None:
        return np.empty((0, 2), dtype=np.int64)
    rows = texts.gold[np.random.default_rng([seed, 2]).permutation(len(texts.gold))]
    pairs = zip(texts.x.take(rows[:, 0]), texts.y.take(rows[:, 1]), strict=True)
    return rows[[pair not in texts.seeds for pair in pairs]]
