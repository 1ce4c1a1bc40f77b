"""The stage that measures the trained models: reading, paraphrases, entities, sentiment.

Source: Jia, Lewis and Zettlemoyer (2022), section 4.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from allpairs.db.progress import Progress, part_of
from allpairs.learner.pipelines.pipeline import Run, finish
from allpairs.learner.pipelines.quip.student import Model, models_of, slug
from allpairs.learner.pipelines.quip.uses.entities import measure_entities
from allpairs.learner.pipelines.quip.uses.paraphrases import measure_paraphrases
from allpairs.learner.pipelines.quip.uses.reading import measure_reading
from allpairs.learner.pipelines.quip.uses.rows import TABLES, Rows, read_table
from allpairs.learner.pipelines.quip.uses.sentiment import measure_sentiment

USES: dict[str, Callable[[Run, Model, Rows, Progress], Iterator[dict[str, Any]]]] = {
    "reading": measure_reading,
    "paraphrases": measure_paraphrases,
    "entities": measure_entities,
    "sentiment": measure_sentiment,
}


def measure_uses(run: Run, folder: Path, progress: Progress) -> None:
    """Write a file of figures for each use and model, unless it exists already."""
    models = models_of(run)
    todo = [(use, model) for use in USES if getattr(run.inputs, use) is not None for model in models]
    for place, (use, model) in enumerate(todo):
        part = part_of(progress, place / len(todo), (place + 1) / len(todo), f"{use}, {model.name}, ")

        def measure(partial: Path, use: str = use, model: Model = model, progress: Progress = part) -> None:
            progress("begin", 0.0)
            rows = read_table(Path(getattr(run.inputs, use)), use) if use in TABLES else []
            figures = [{"model": model.name, **row} for row in USES[use](run, model, rows, progress)]
            partial.write_text("".join(f"{json.dumps(row)}\n" for row in figures), encoding="utf-8")

        finish(folder / f"{use}-{slug(model.name)}.jsonl", measure)


def figures_of(run: Run, use: str) -> Rows:
    """Return the figures of every model, in the models' order."""
    paths = [run.of("uses") / f"{use}-{slug(model.name)}.jsonl" for model in models_of(run)]
    return [
        json.loads(line) for path in paths if path.exists() for line in path.read_text(encoding="utf-8").splitlines()
    ]
