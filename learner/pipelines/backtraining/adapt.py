"""The stage of the target domain: for each seed and variant, alternate between making pairs and training on them.

Source: Kulshreshtha et al. (2021), algorithm 1. The old models make both lists; then both models are trained further.
Every finished part has a folder, so a killed run resumes at the last one.
"""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.light.catalog.backtraining import SUPERVISED
from allpairs.learner.models.bi_encoder_training import Lesson
from allpairs.learner.pipelines.backtraining.cell import (
    FINISHED,
    VariantCell,
    best_iterations,
    better,
    keep_best,
    lists_folder,
    most_iterations,
)
from allpairs.learner.pipelines.backtraining.files import PassageQuestion
from allpairs.learner.pipelines.backtraining.lists import kept, learned, scheme_of
from allpairs.learner.pipelines.backtraining.making import (
    GENERATED,
    NEAR,
    RETRIEVED,
    find_near,
    make_lists,
    read_list,
    write_learned,
)
from allpairs.learner.pipelines.backtraining.measure import measure_both_models
from allpairs.learner.pipelines.backtraining.negatives import wrong_rows
from allpairs.learner.pipelines.backtraining.source import (
    GENERATOR,
    MEASURED,
    RETRIEVER,
    pairs_lesson,
    seeds_of,
    thresholds_for,
)
from allpairs.learner.pipelines.backtraining.texts import Data, domain_data
from allpairs.learner.pipelines.backtraining.training import (
    adapting_generator,
    adapting_retriever,
    generator_in,
    lesson_with,
    retriever_in,
    teach_generator,
    teach_retriever,
)
from allpairs.learner.pipelines.pipeline import Run, finish

LEARNED = "pairs.csv"


def adapt(run: Run, folder: Path, progress: Progress) -> None:
    """Write a folder for each seed, with one for each variant and its iterations, to the folder."""
    cells = [(seed, variant) for seed in seeds_of(run) for variant in dict.fromkeys(run.config.variants)]
    for place, (seed, variant) in enumerate(cells):
        name = f"{place + 1} of {len(cells)}, {variant}: "
        part = part_of(progress, place / len(cells), (place + 1) / len(cells), name)
        _iterate(VariantCell(run, seed, variant, folder / f"seed-{seed}" / variant), part)


def _iterate(cell: VariantCell, progress: Progress) -> None:
    """Run the variant's iterations and record which models were the best."""
    mark = cell.folder / FINISHED
    most = most_iterations(cell)
    if not mark.exists():
        last = 0
        while last < most and (last == 0 or not cell.run.config.stop_early or better(cell, last)):
            last += 1
            _iteration(cell, last, part_of(progress, (last - 1) / most, last / most, f"iteration {last}, "))
        finish(mark, lambda path: _say(path, best_iterations(cell, last)))
    keep_best(cell, json.loads(mark.read_text(encoding="utf-8")))


def _say(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _iteration(cell: VariantCell, number: int, progress: Progress) -> None:
    """Write both lists, both models, and their figures to the iteration's folder."""
    run = cell.run
    data = domain_data(cell.run)
    folder = cell.models(number)
    before = cell.models(number - 1)
    if (folder / MEASURED).is_dir():
        return
    lesson = _known(cell, data) if cell.variant == SUPERVISED else _made(cell, number, part_of(progress, 0.0, 0.4))
    settings = adapting_generator(run.config, cell.seed, cell.variant == SUPERVISED)

    def teach_to_write(partial: Path) -> None:
        generator = generator_in(before / GENERATOR)
        watched = data.test[: run.config.measuring.traces]
        teach_generator(partial, generator, lesson.pairs, settings, watched, part_of(progress, 0.4, 0.7))

    def teach_to_find(partial: Path) -> None:
        training = adapting_retriever(run.config, len(lesson.retrieval.pairs))
        retriever = retriever_in(before / RETRIEVER)
        teach_retriever(partial, retriever, lesson.retrieval, training, cell.seed, part_of(progress, 0.7, 0.9))

    finish(folder / GENERATOR, teach_to_write)
    finish(folder / RETRIEVER, teach_to_find)

    def measure_both(partial: Path) -> None:
        generator = generator_in(folder / GENERATOR)
        retriever = retriever_in(folder / RETRIEVER)
        measure_both_models(partial, generator, retriever, data, run.config, part_of(progress, 0.9, 1.0))

    finish(folder / MEASURED, measure_both)


@dataclass(frozen=True)
class BothLessons:
    """Training data of the generator and of the retriever."""

    pairs: list[PassageQuestion]
    retrieval: Lesson


def _known(cell: VariantCell, data: Data) -> BothLessons:
    """Return the known pairs of the target domain, for both models: the upper bound."""
    return BothLessons(data.supervised, pairs_lesson(data.supervised, cell.run.config.lists.negatives))


def _made(cell: VariantCell, number: int, progress: Progress) -> BothLessons:
    """Return the pairs that the filter keeps from the lists made by the old models."""
    run = cell.run
    data = domain_data(cell.run)
    k = cell.run.config.lists.negatives
    folder = lists_folder(cell, number)
    before = cell.models(number - 1)
    if not (folder / FINISHED).exists():
        folder.mkdir(parents=True, exist_ok=True)
        generator = generator_in(before / GENERATOR)
        retriever = retriever_in(before / RETRIEVER)
        make_lists(folder, generator, retriever, data, run.config, cell.seed + number - 1, part_of(progress, 0.0, 0.9))
        finish(folder / FINISHED, partial(_say, content={"by": str(number - 1)}))
    first = lists_folder(cell, 1)
    near = finish(first / NEAR, lambda path: find_near(path, first, data, k, part_of(progress, 0.9, 1.0)))
    scheme, filtering = scheme_of(cell.variant)
    limits = thresholds_for(run, cell.seed)
    lists = {name: read_list(folder, name) for name in (RETRIEVED, GENERATED)}
    chosen = {
        name: kept(passage.judged, name == GENERATED, filtering, limits) & passage.asks
        for name, passage in lists.items()
    }
    to_write, to_find = (GENERATED if generated else RETRIEVED for generated in learned(scheme))
    learners = {to_write: GENERATOR, to_find: RETRIEVER}
    finish(cell.models(number) / LEARNED, lambda path: write_learned(path, data, lists, chosen, learners))
    with np.load(near) as stored:  # from the first iteration, as in the paper
        candidates = stored[to_find][chosen[to_find]]
    passages = [passage.text for passage in data.passages]
    to_retrieve = lists[to_find]
    rows = to_retrieve.rows[chosen[to_find]]
    questions = [to_retrieve.questions[row] for row in np.flatnonzero(chosen[to_find])]
    wrong = wrong_rows(candidates, rows, passages, k)
    return BothLessons(lists[to_write].asked(data, chosen[to_write]), lesson_with(questions, passages, rows, wrong))
