"""The stage that asks what mined pairs are good for: retrieval by a model that learned from them, at equal counts.

Source: paper 000, section 5. `seed only` learns from the seed pairs; `bi-encoder` adds the best pairs by margin, `full`
those by the cross-encoder, `gold` as many known pairs.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from db.corpus.corpus import identity
from db.domain import Progress
from learner.pipelines.mining.inputs import Texts, texts_of
from learner.pipelines.mining.propose import RANDOM_TEXTS, lesson_of, sample
from learner.pipelines.mining.sift import Proposed
from learner.pipelines.mining.texts import TextList
from learner.pipelines.pipeline import Run
from learner.ranks import mean_reciprocal_rank, ranks_of_gold, recall_at
from learner.retriever import Retriever, new_retriever, train_retriever

FIGURES = "figures.jsonl"
SEED_ONLY, BIENCODER, FULL, GOLD = "seed only", "bi-encoder", "full", "gold"
AT = (1, 10)  # ranks at which recall is measured
Pairs = list[tuple[str, str]]


def measure_downstream(run: Run, folder: Path, progress: Progress) -> None:
    """Nothing; the folder holds one row for each method, amount and seed; none where there are no test pairs."""
    texts, path = texts_of(run), folder / FIGURES
    path.touch()
    if not texts.test:
        return
    measure = _Measure(texts)
    wanted = [(seed, *one) for seed in range(run.config.downstream.seeds) for one in _lessons(run, texts, seed)]
    for at, (seed, method, amount, pairs) in enumerate(wanted):

        def part(stage: str, done: float, at: int = at) -> None:
            progress(f"{at + 1} of {len(wanted)}, {stage}", (at + done) / len(wanted))

        figures = measure(trained(run, texts, pairs, seed, part), part)
        with path.open("a") as file:
            file.write(json.dumps({"method": method, "amount": amount, "seed": seed, **figures}) + "\n")


def _lessons(run: Run, texts: Texts, seed: int) -> Iterator[tuple[str, int, Pairs]]:
    """Method, amount and added pairs of each training; an amount that a method does not have is left out."""
    amounts = sorted(set(run.config.downstream.amounts))
    yield SEED_ONLY, 0, []
    kept = Proposed.load(run.of("kept"))
    with np.load(run.of("mined") / "order.npz") as stored:
        order, scored = stored["order"], len(stored["score"]) > 0
    sources = {BIENCODER: np.arange(len(kept))} | ({FULL: order} if scored else {})
    for amount in amounts:
        for method, ranked in sources.items():
            if 0 < amount <= len(ranked):
                chosen = kept.take(ranked[:amount])
                yield method, amount, list(zip(texts.x.take(chosen.x), texts.y.take(chosen.y), strict=True))
        if 0 < amount <= len(gold := _gold(texts, seed)):
            yield GOLD, amount, gold[:amount]


def _gold(texts: Texts, seed: int) -> Pairs:
    """The known pairs that are no seed pairs, in a random order."""
    if texts.gold is None:
        return []
    rows = texts.gold[np.random.default_rng([seed, 2]).permutation(len(texts.gold))]
    pairs = zip(texts.x.take(rows[:, 0]), texts.y.take(rows[:, 1]), strict=True)
    return [pair for pair in pairs if pair not in texts.seeds]


def trained(run: Run, texts: Texts, added: Pairs, seed: int, progress: Progress) -> Retriever:
    """A retriever that learned from the seed pairs and these, from the backbone on."""
    settings = run.config.biencoder.model_copy(update={"steps": run.config.downstream.steps})
    retriever = new_retriever(settings)
    others = sample(texts.y, RANDOM_TEXTS, np.random.default_rng([seed, 3]))
    lesson = lesson_of([*texts.seeds.pairs, *added], others)
    train_retriever(retriever, lesson, settings, seed, lambda stage, done: progress(stage, done / 2))
    return retriever


class _Measure:
    """Measures retrieval of the test pairs' second texts among all second texts of the list, and theirs."""

    def __init__(self, texts: Texts) -> None:
        self.queries = [x for x, _ in texts.test]
        places = _places(texts.y, [y for _, y in texts.test])
        self.passages = list(places)
        at = {identity(text): place for place, text in enumerate(self.passages)}
        self.gold = np.array([at[identity(y)] for _, y in texts.test], dtype=np.int64)

    def __call__(self, retriever: Retriever, progress: Progress) -> dict[str, float]:
        """Recall at 1 and 10, and the mean reciprocal rank."""
        passages = retriever.passage.encode(self.passages, lambda stage, done: progress(stage, 0.5 + done / 2))
        ranks = ranks_of_gold(retriever.query.encode(self.queries), passages, self.gold)
        return {f"recall_at_{k}": recall_at(ranks, k) for k in AT} | {"mrr": mean_reciprocal_rank(ranks)}


def _places(texts: TextList, more: Sequence[str]) -> dict[str, None]:
    """Each distinct text once, those of the list first."""
    distinct: dict[str, str] = {}
    for text in (*texts.all(), *more):
        distinct.setdefault(identity(text), text)
    return dict.fromkeys(distinct.values())
