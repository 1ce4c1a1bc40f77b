"""Simulate rounds on a corpus of files."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.split import read_split, split_corpus
from allpairs.db.domain import Settings
from allpairs.db.errors import InputError, first_wrong, nearest_of
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.loop.simulate import run_simulation
from allpairs.learner.loop.simulated_labels import Composition
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.search.nearest import search_remarks


def checked_simulation_settings(values: Mapping[str, Any], named: Callable[[str], str] = str) -> Settings:
    """Return the settings. Raises InputError for a wrong value; named: what its message calls a setting."""
    if (strategy := values.get("strategy", "uncertainty")) not in STRATEGIES:
        raise InputError(f"strategy {strategy!r} is not known; {nearest_of(strategy, STRATEGIES)}")
    if unknown := sorted(set(values) - set(Settings.model_fields)):
        raise InputError(f"there is no setting {unknown[0]!r}; {nearest_of(unknown[0], Settings.model_fields)}")
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise InputError(first_wrong(error, named)) from error


def simulate_corpus(
    corpus: Corpus,
    settings: Settings,
    rounds: int,
    out: Path,
    *,
    split: Path | None = None,
    development: Path | None = None,
    both_sides: bool = False,
    composition: Composition | None = None,
    progress: Progress = no_progress,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Split the corpus as the file says, or at random, and simulate; return a row for each round, and notes.

    development: the split of a development set, which is measured too.
    """
    rng = np.random.default_rng(settings.seed)
    divided = (
        read_split(split, corpus)
        if split
        else split_corpus(corpus, settings.evaluation_share, rng, both_sides=both_sides)
    )
    encoder = load_encoder(settings.encoder)
    development_split = read_split(development, corpus) if development else None
    rows = run_simulation(divided, encoder, settings, rounds, out, progress, composition, development_split)
    return rows, [*divided.notes, *(note for row in rows for note in notes_of(row, settings.neighbours))]


def notes_of(row: dict[str, Any], neighbours: int) -> Iterator[str]:
    """Yield notes on a round for people; neighbours: how many each text should have."""
    if searched := search_remarks(row["search"], neighbours) if "search" in row else "":
        yield f"round {row['round']}: {searched}"
    if not row["trained"]:
        kind = "positive" if row["positives"] else "negative"
        problem = f"round {row['round']}: all {row['labels']} labels are {kind}, and training needs both kinds"
        yield f"{problem}; the figures are those of the pre-trained encoder"
