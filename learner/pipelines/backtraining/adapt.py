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
    DONE,
    Cell,
    best_of,
    better,
    keep_best,
    lists_of,
    most_iterations,
)
from allpairs.learner.pipelines.backtraining.files import Asked
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
from allpairs.learner.pipelines.backtraining.measure import measure
from allpairs.learner.pipelines.backtraining.negatives import wrong_rows
from allpairs.learner.pipelines.backtraining.source import (
    GENERATOR,
    MEASURED,
    RETRIEVER,
    pairs_lesson,
    seeds_of,
    thresholds_for,
)
from allpairs.learner.pipelines.backtraining.texts import Data, data_of
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
    for at, (seed, variant) in enumerate(cells):

        def part(words: str, done: float, at: int = at, variant: str = variant) -> None:
            progress(f"{at + 1} of {len(cells)}, {variant}: {words}", (at + done) / len(cells))

        _iterate(Cell(run, seed, variant, folder / f"seed-{seed}" / variant), part)


def _iterate(cell: Cell, progress: Progress) -> None:
    """Run the variant's iterations and record which models were the best."""
    done = cell.folder / DONE
    most = most_iterations(cell)
    if not done.exists():
        last = 0
        while last < most and (last == 0 or not cell.run.config.stop_early or better(cell, last)):
            last += 1

            def part(words: str, share: float, at: int = last) -> None:
                progress(f"iteration {at}, {words}", (at - 1 + share) / most)

            _iteration(cell, last, part)
        finish(done, lambda path: _say(path, best_of(cell, last)))
    keep_best(cell, json.loads(done.read_text(encoding="utf-8")))


def _say(path: Path, what: Any) -> None:
    path.write_text(json.dumps(what), encoding="utf-8")


def _iteration(cell: Cell, number: int, progress: Progress) -> None:
    """Write both lists, both models, and their figures to the iteration's folder."""
    run = cell.run
    data = data_of(cell.run)
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
        training = adapting_retriever(run.config, len(lesson.found.pairs))
        retriever = retriever_in(before / RETRIEVER)
        teach_retriever(partial, retriever, lesson.found, training, cell.seed, part_of(progress, 0.7, 0.9))

    finish(folder / GENERATOR, teach_to_write)
    finish(folder / RETRIEVER, teach_to_find)

    def measure_both(partial: Path) -> None:
        generator = generator_in(folder / GENERATOR)
        retriever = retriever_in(folder / RETRIEVER)
        measure(partial, generator, retriever, data, run.config, part_of(progress, 0.9, 1.0))

    finish(folder / MEASURED, measure_both)


@dataclass(frozen=True)
class Both:
    """Training data of the generator and of the retriever."""

    pairs: list[Asked]
    found: Lesson


def _known(cell: Cell, data: Data) -> Both:
    """Return the known pairs of the target domain, for both models: the upper bound."""
    return Both(data.supervised, pairs_lesson(data.supervised, cell.run.config.lists.negatives))


def _made(cell: Cell, number: int, progress: Progress) -> Both:
    """Return the pairs that the filter keeps from the lists made by the old models."""
    run = cell.run
    data = data_of(cell.run)
    k = cell.run.config.lists.negatives
    folder = lists_of(cell, number)
    before = cell.models(number - 1)
    if not (folder / DONE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        generator = generator_in(before / GENERATOR)
        retriever = retriever_in(before / RETRIEVER)
        make_lists(folder, generator, retriever, data, run.config, cell.seed + number - 1, part_of(progress, 0.0, 0.9))
        finish(folder / DONE, partial(_say, what={"by": str(number - 1)}))
    first = lists_of(cell, 1)
    near = finish(first / NEAR, lambda path: find_near(path, first, data, k, part_of(progress, 0.9, 1.0)))
    scheme, which = scheme_of(cell.variant)
    limits = thresholds_for(run, cell.seed)
    lists = {name: read_list(folder, name) for name in (RETRIEVED, GENERATED)}
    chosen = {name: kept(one.judged, name == GENERATED, which, limits) & one.asks for name, one in lists.items()}
    to_write, to_find = (GENERATED if generated else RETRIEVED for generated in learned(scheme))
    by = {to_write: GENERATOR, to_find: RETRIEVER}
    finish(cell.models(number) / LEARNED, lambda path: write_learned(path, data, lists, chosen, by))
    with np.load(near) as stored:  # from the first iteration, as in the paper
        candidates = stored[to_find][chosen[to_find]]
    passages = [one.text for one in data.passages]
    some = lists[to_find]
    rows = some.rows[chosen[to_find]]
    asked = [some.questions[at] for at in np.flatnonzero(chosen[to_find])]
    wrong = wrong_rows(candidates, rows, passages, k)
    return Both(lists[to_write].asked(data, chosen[to_write]), lesson_with(asked, passages, rows, wrong))
