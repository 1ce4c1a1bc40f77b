"""The stage of the source domain: train both models on its pairs for each seed, and measure them on the target."""

import json
from pathlib import Path

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.models.bi_encoder_training import Lesson
from allpairs.learner.pipelines.backtraining.files import PassageQuestion
from allpairs.learner.pipelines.backtraining.lists import PAPER_NLL, PAPER_SCORE, ScoredPairs, Thresholds, thresholds_of
from allpairs.learner.pipelines.backtraining.measure import judge, measure_both_models, measure_source
from allpairs.learner.pipelines.backtraining.negatives import SPARE, near_by_words, wrong_rows
from allpairs.learner.pipelines.backtraining.texts import domain_data
from allpairs.learner.pipelines.backtraining.training import (
    first_retriever,
    generator_in,
    lesson_with,
    retriever_in,
    source_generator,
    teach_generator,
    teach_retriever,
)
from allpairs.learner.pipelines.pipeline import Run, finish

SOURCE = "source"
GENERATOR = "generator"
RETRIEVER = "retriever"
MEASURED = "measured"
JUDGED = "judged.npz"
SOURCE_FIGURES = "source.json"


def seeds_of(run: Run) -> list[int]:
    """Return the seeds of the repetitions."""
    return [run.config.seed + number for number in range(run.config.seeds)]


def learn_source(run: Run, folder: Path, progress: Progress) -> None:
    """Write a folder for each seed, with both models and their figures, to the folder."""
    seeds = seeds_of(run)
    for place, seed in enumerate(seeds):
        part = part_of(progress, place / len(seeds), (place + 1) / len(seeds), f"{place + 1} of {len(seeds)}, ")
        _learn(run, folder / f"seed-{seed}", seed, part)


def _learn(run: Run, folder: Path, seed: int, progress: Progress) -> None:
    config = run.config
    data = domain_data(run)

    def teach_to_write(partial: Path) -> None:
        generator, settings = source_generator(config, seed)
        teach_generator(partial, generator, data.source, settings, [], part_of(progress, 0.0, 0.5))

    def teach_to_find(partial: Path) -> None:
        lesson = pairs_lesson(data.source, config.lists.negatives)
        teach_retriever(partial, first_retriever(config), lesson, config.retriever, seed, part_of(progress, 0.5, 0.8))

    generator_folder = finish(folder / GENERATOR, teach_to_write)
    retriever_folder = finish(folder / RETRIEVER, teach_to_find)

    def measure_all(partial: Path) -> None:
        generator = generator_in(generator_folder)
        retriever = retriever_in(retriever_folder)
        measure_both_models(partial, generator, retriever, data, config, part_of(progress, 0.8, 0.95))
        judged = judge(generator, retriever, data.dev, config.generator)
        np.savez(partial / JUDGED, nll=judged.nll, score=judged.score)
        if data.source_test:
            passages = [pair.passage for pair in data.source]
            figures = measure_source(
                generator, retriever, data.source_test, passages, config, part_of(progress, 0.95, 1)
            )
            (partial / SOURCE_FIGURES).write_text(json.dumps(figures), encoding="utf-8")

    finish(folder / MEASURED, measure_all)


def pairs_lesson(pairs: list[PassageQuestion], k: int) -> Lesson:
    """Return known pairs with k wrong passages each: BM25's finds, without the answer if it is known."""
    passages = list(dict.fromkeys(pair.passage for pair in pairs))
    row = {text: number for number, text in enumerate(passages)}
    questions = [pair.question for pair in pairs]
    right = np.array([row[pair.passage] for pair in pairs], dtype=np.int64)
    near = near_by_words(questions, passages, k + 1 + SPARE)
    return lesson_with(
        questions, passages, right, wrong_rows(near, right, passages, k, [pair.answer for pair in pairs])
    )


def judged_dev(folder: Path) -> ScoredPairs:
    """Return the development pairs as scored by a seed's source models."""
    with np.load(folder / MEASURED / JUDGED) as stored:
        return ScoredPairs(stored["nll"], stored["score"])


def thresholds_for(run: Run, seed: int) -> Thresholds:
    """Return the filters' thresholds for this seed."""
    lists = run.config.lists
    if lists.thresholds == "paper":
        return Thresholds(PAPER_NLL, PAPER_SCORE)
    dev = judged_dev(run.of(SOURCE) / f"seed-{seed}")
    return thresholds_of(dev, lists.generator_quantile, lists.retriever_quantile)
