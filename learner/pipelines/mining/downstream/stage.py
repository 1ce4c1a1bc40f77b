"""The stage that measures the use of mined pairs: a model is also trained on them, at equal counts.

Source: Joshi et al. (2022), sections 5 and 6. `seed only` trains on the seed pairs; `bi-encoder` adds the best pairs by
margin, `full` those by the cross-encoder, `generated` as many with one generated text, `gold` as many known pairs.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.light.catalog.mining import READING, SUMMARIES, MiningConfig
from allpairs.learner.pipelines.mining.downstream.added import BIENCODER, FULL, GENERATED, GOLD, SEED_ONLY, Added
from allpairs.learner.pipelines.mining.downstream.generated import generated_texts
from allpairs.learner.pipelines.mining.downstream.reading import AnswerReading
from allpairs.learner.pipelines.mining.downstream.retrieval import Retrieval
from allpairs.learner.pipelines.mining.downstream.summaries import Summaries
from allpairs.learner.pipelines.mining.inputs import MiningTexts, mining_texts
from allpairs.learner.pipelines.mining.margin import Candidates
from allpairs.learner.pipelines.mining.propose import PAIRS
from allpairs.learner.pipelines.pipeline import Run, finish

FIGURES = "figures.jsonl"
ROWS = "rows"
WRITTEN = "written"


class DownstreamTask(Protocol):
    """Trains a model and measures it on the test pairs."""

    def figures(self, added: Added, seed: int, progress: Progress) -> dict[str, float]:
        """Return measures by name, of a model trained on the seed pairs and these."""
        ...


def measure_downstream(run: Run, folder: Path, progress: Progress) -> None:
    """Write one row for each method, amount and seed to the folder, if any are asked for.

    Each row has a file of its own until all are complete, so that a stopped run resumes with the next one.
    """
    texts = mining_texts(run)
    seeds = run.config.downstream.seeds
    if texts.test and run.config.downstream.amounts:
        task = _task(run, texts)
        for seed in range(seeds):
            part = part_of(progress, seed / seeds, (seed + 1) / seeds, f"seed {seed + 1} of {seeds}, ")
            _measure(run, texts, task, seed, folder / ROWS / str(seed), part)
    rows = [
        path.read_text(encoding="utf-8")
        for seed in range(seeds)
        for path in sorted((folder / ROWS / str(seed)).glob("*.json"))
    ]
    (folder / FIGURES).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def _task(run: Run, texts: MiningTexts) -> DownstreamTask:
    kinds: dict[str, Callable[[MiningConfig, MiningTexts], DownstreamTask]] = {
        READING: AnswerReading,
        SUMMARIES: Summaries,
    }
    return kinds.get(run.config.kind, Retrieval)(run.config, texts)


def _measure(run: Run, texts: MiningTexts, task: DownstreamTask, seed: int, folder: Path, progress: Progress) -> None:
    """Write the figures of every method and amount with this seed to the folder.

    Amounts beyond a method's pairs are left out.
    """
    sources = _sources(run, texts, seed)
    amounts = sorted({amount for amount in run.config.downstream.amounts if amount > 0})
    steps = 2 + len(amounts) * (1 + len(sources))

    def part(number: int, words: str) -> Progress:
        return lambda stage, share: progress(f"{words}, {stage}", min(1.0, (number + share) / steps))

    best = sources.get(FULL, sources[BIENCODER]).rows
    if run.config.downstream.generated and amounts and len(best):
        sources[GENERATED] = _generated(run, texts, best[: amounts[-1]], seed, folder / WRITTEN, part(0, "writing"))
    lessons = [Added(SEED_ONLY, texts, np.empty((0, 2), dtype=np.int64))]
    lessons += [added.first(n) for n in amounts for added in sources.values() if n <= len(added)]
    for number, added in enumerate(lessons, 1):

        def write(path: Path, number: int = number, added: Added = added) -> None:
            figures = task.figures(added, seed, part(number, f"{added.method} + {len(added):,}"))
            path.write_text(
                json.dumps({"method": added.method, "amount": len(added), "seed": seed, **figures}), encoding="utf-8"
            )

        finish(folder / f"{number:04d}.json", write)


def _generated(run: Run, texts: MiningTexts, rows: np.ndarray, seed: int, path: Path, progress: Progress) -> Added:
    """Return the pairs with one generated text each, which are generated once and kept in the file."""

    def write(partial: Path) -> None:
        added = generated_texts(run.config, texts, rows, seed, progress)
        partial.write_text(json.dumps([added.rows.tolist(), added.written], ensure_ascii=False), encoding="utf-8")

    stored_rows, written = json.loads(finish(path, write).read_text(encoding="utf-8"))
    return Added(GENERATED, texts, np.array(stored_rows, dtype=np.int64).reshape(-1, 2), tuple(written))


def _sources(run: Run, texts: MiningTexts, seed: int) -> dict[str, Added]:
    """Return the pairs that each method may add, best first."""
    candidates = Candidates.load(run.of("kept") / PAIRS)
    with np.load(run.of("mined") / "order.npz") as stored:
        order = stored["order"]
        scored = len(stored["score"]) > 0
    pairs = np.column_stack([candidates.x, candidates.y])
    rows = {BIENCODER: pairs} | ({FULL: pairs[order]} if scored else {}) | {GOLD: _gold(texts, seed)}
    return {method: Added(method, texts, method_rows) for method, method_rows in rows.items()}


def _gold(texts: MiningTexts, seed: int) -> np.ndarray:
    """Return the known pairs (n, 2) that are not seed pairs, in random order."""
    if texts.gold is None:
        return np.empty((0, 2), dtype=np.int64)
    rows = texts.gold[np.random.default_rng([seed, 2]).permutation(len(texts.gold))]
    pairs = zip(texts.x.take(rows[:, 0]), texts.y.take(rows[:, 1]), strict=True)
    return rows[[pair not in texts.seeds for pair in pairs]]
