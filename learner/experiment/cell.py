"""One cell of the grid: a simulation in a folder of its own, marked when it is finished."""

import json
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from allpairs.db.corpus.corpus import Columns, Corpus, stage_corpus
from allpairs.db.corpus.split import read_split, split_corpus
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import FieldKind, Side
from allpairs.db.errors import InputError
from allpairs.db.files.atomic import atomic_write
from allpairs.db.progress import Progress
from allpairs.learner.experiment.concat import run_concat
from allpairs.learner.experiment.encoders import run_encoder
from allpairs.learner.experiment.spec import MATCHED, Cell, Files
from allpairs.learner.experiment.starting_vectors import starting_vectors
from allpairs.learner.loop.simulate import run_simulation
from allpairs.learner.loop.simulated_labels import composition_of
from allpairs.learner.models.encoder import load_encoder

FINISHED = "done.json"
LABELS = "labels.csv"
ROUNDS = "rounds.jsonl"
MODEL = "model"
BASE = "base.json"


def load_split_corpus(files: Files, development: bool = False) -> Corpus:
    """Load the corpus with its split: the file's, else one that is the same for every seed. Raises InputError.

    development: with that of its development set, which has one.
    """
    columns = _columns(files, Side.LEFT), _columns(files, Side.RIGHT)
    corpus = stage_corpus(files.left, columns[0], files.right, columns[1], files.gold)
    corpus = replace(corpus, items=list(corpus.items), stated=files.stated)
    if split := files.development if development else files.split:
        return read_split(split, corpus)
    return split_corpus(corpus, files.test_fraction, np.random.default_rng(0))


def _columns(files: Files, side: Side) -> Columns:
    """Return the columns of one list. Raises InputError for an unknown kind, or if they are of the other list only."""
    try:
        known = TextColumns.read(files.columns)
    except ValueError as error:
        raise InputError(f"columns: {error}: use {', '.join(FieldKind)}") from None
    if known is None:
        return Columns(files.id_column, tuple(files.text_columns))
    names = known.names.get(side, known.names.get(Side.LEFT, ()))
    return Columns(files.id_column, tuple(names), tuple(known.kinds.get(side, known.kinds.get(Side.LEFT, ()))))


def is_done(cell: Cell, out: Path) -> bool:
    """Return whether the cell's folder holds the finished run of exactly this cell."""
    try:
        stored = json.loads((out / cell.folder / FINISHED).read_text(encoding="utf-8"))
        return Cell.model_validate(stored["cell"]) == cell
    except (OSError, ValueError, KeyError, TypeError):
        return False


def rounds_done(cell: Cell, out: Path) -> int:
    """Return how many rounds of the cell are finished."""
    try:
        return (out / cell.folder / ROUNDS).read_text(encoding="utf-8").count("\n")
    except OSError:
        return 0


def run_cell(cell: Cell, files: Files, out: Path, keep_models: bool, progress: Progress) -> None:
    """Run the cell in its folder below `out`, and mark it finished; leftovers of a stopped run are removed first.

    Raises InputError if the data do not allow such a run.
    """
    folder = out / cell.folder
    started = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    corpus = load_split_corpus(files)
    development = load_split_corpus(files, True) if files.development else None
    if cell.kind == "encoder" and files.labels is not None:
        run_encoder(corpus, cell.settings, files.labels, folder, progress)
    elif cell.concat is not None:
        run_concat(corpus, cell.concat, _source(cell, out), folder, progress, development)
    else:
        composition = composition_of(_source(cell, out)) if cell.settings.strategy == MATCHED else None
        encoder = load_encoder(cell.settings.encoder)
        start = partial(starting_vectors, out)
        run_simulation(corpus, encoder, cell.settings, cell.rounds, folder, progress, composition, development, start)
    if not keep_models:
        shutil.rmtree(folder / MODEL, ignore_errors=True)
    mark = {"cell": cell.model_dump(mode="json"), "seconds": round(time.monotonic() - started, 1)}
    with atomic_write(folder / FINISHED) as part:
        part.write_text(json.dumps(mark, indent=2), encoding="utf-8")


def _source(cell: Cell, out: Path) -> Path:
    """Return the path of the labels that this cell uses."""
    if cell.source is None:
        raise InputError(f"{cell.title} needs the labels of another row: name that row in labels")
    return out / cell.source.folder / LABELS
