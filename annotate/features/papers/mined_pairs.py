"""Mined pairs in their project: read, used for training, taken back."""

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.label.pick_pair import why_not
from allpairs.annotate.features.label.queue import ask_if_due
from allpairs.annotate.features.papers.runs import run_output
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.domain import AnswerKind, EventKind, Kind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import answer_at_once, answered_at_once
from allpairs.db.labels.mined_samples import BEGINNING, UNDO, sampled
from allpairs.db.labels.pairs import Pair, labels_of, splits_of
from allpairs.db.projects.events import add_event
from allpairs.db.projects.jobs import run_of
from allpairs.db.projects.projects import live_project
from allpairs.db.results.pipelines import read_began
from allpairs.db.schema.engine import person_of, reading

PAIRS = "pairs"  # the kind of a run's output


@dataclass(frozen=True)
class Mined:
    """A mined pair: its items in the project's order, and the cosine under the bi-encoder."""

    pair: Pair
    score: float


@dataclass(frozen=True)
class Use:
    """What using the best pairs would do: which become new labels, and how many are already labelled or in a sample."""

    new: list[Pair]
    labelled: int
    sampled: int


def read_mined(path: Path, symmetric: bool, most: int | None = None) -> list[Mined]:
    """Return the pairs of the file by rank, each once: all, or the first `most`.

    Raises InputError for a line that is not a pair of items.
    """
    mined_by_pair: dict[Pair, Mined] = {}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                row = json.loads(line)
                left = int(row["x_id"])
                right = int(row["y_id"])
                score = float(row["cos"])
            except (ValueError, KeyError, TypeError):
                raise InputError(f"{path.name}, line {number}: not a mined pair; run the pipeline again") from None
            pair = (min(left, right), max(left, right)) if symmetric else (left, right)
            if left != right:
                mined_by_pair.setdefault(pair, Mined(pair, score))
            if len(mined_by_pair) == most:
                break
    return list(mined_by_pair.values())


def first_rows(path: Path, n: int) -> list[dict[str, Any]]:
    """Return the first n rows of the file: texts, ranks and scores of the best pairs."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in islice(file, n)]


def mined_pairs(engine: Engine, project_id: int, run_id: str, number: int, most: int | None = None) -> list[Mined]:
    """Return the pairs that the run mined, the best first: all, or the best `most`.

    Raises InputError if the run has no pairs of that number.
    """
    output = run_output(engine, project_id, run_id, number)
    if output.kind != PAIRS:
        raise InputError(f"{output.title} is not a list of pairs")
    with reading(engine) as session:
        symmetric = live_project(session, project_id).kind == Kind.SYMMETRIC
    return read_mined(output.path, symmetric, most)


def check_items(session: Session, project_id: int, pairs: list[Pair]) -> None:
    """Raise InputError for pairs that cannot be used for training, and for pairs of missing items."""
    splits = splits_of(session, project_id, {item for pair in pairs for item in pair})
    for pair in pairs:
        if not splits.keys() >= set(pair):
            raise InputError(
                f"the project has no pair {pair}, or its texts have been withdrawn: run the pipeline again"
            )
        if problem := why_not(*(splits[item] for item in pair)):
            raise InputError(f"the pair {pair}: {problem}")


def annotator_of(run_id: str) -> str:
    """Return the annotator of the labels that the run's pairs become: the pipeline's name."""
    began = read_began(run_id)
    if began is None:
        raise InputError(f"the run {run_id} no longer exists: reload the page “Pipelines”")
    return began.pipeline


def plan_use(engine: Engine, project_id: int, run_id: str, number: int, best: int) -> Use:
    """Return what `use_as_training` would do now."""
    pairs = [mined.pair for mined in mined_pairs(engine, project_id, run_id, number, best)]
    with reading(engine) as session:
        return _use(session, project_id, pairs)


def _use(session: Session, project_id: int, pairs: list[Pair]) -> Use:
    check_items(session, project_id, pairs)
    labelled = labels_of(session, project_id, pairs)
    drawn = sampled(session, project_id, pairs)
    new = [pair for pair in pairs if pair not in labelled and pair not in drawn]
    return Use(new, len(labelled), len(drawn - labelled.keys()))


def use_as_training(engine: Engine, project_id: int, run_id: str, number: int, best: int) -> int:
    """Label those of the best pairs as positive that nobody has labelled and no sample holds; return how many.

    Their annotator is the pipeline. Raises InputError if none is left. Requests the job that is due.
    """
    pairs = [mined.pair for mined in mined_pairs(engine, project_id, run_id, number, best)]
    annotator = annotator_of(run_id)
    with acting(engine, Right.CHANGE, project_id) as session:
        run_of(session, project_id, run_id)
        use = _use(session, project_id, pairs)
        if not use.new:
            raise InputError("all these pairs are already labelled, or are in a sample for labelling")
        answer_at_once(
            session, project_id, annotator, use.new, AnswerKind.POSITIVE, f"{BEGINNING}{run_id}-{uuid4().hex[:8]}"
        )
        new = {"labels": len(use.new), "run": run_id}
        add_event(session, person_of(engine), EventKind.MINED_USED, project_id, annotator, new=new)
    ask_if_due(engine, project_id)
    return len(use.new)


def used(engine: Engine, project_id: int, run_id: str) -> int:
    """Return how many training pairs of this run are unchanged."""
    with reading(engine) as session:
        run_of(session, project_id, run_id)
        return len(answered_at_once(session, project_id, annotator_of(run_id), f"{BEGINNING}{run_id}-"))


def take_back(engine: Engine, project_id: int, run_id: str) -> int:
    """Undo the training labels of this run that nobody has changed since; return how many.

    Raises InputError if the project has no such run.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        run_of(session, project_id, run_id)
        annotator = annotator_of(run_id)
        pairs = answered_at_once(session, project_id, annotator, f"{BEGINNING}{run_id}-")
        answer_at_once(session, project_id, annotator, pairs, AnswerKind.RETRACT, f"{UNDO}{run_id}-{uuid4().hex[:8]}")
        old = {"labels": len(pairs), "run": run_id}
        add_event(session, person_of(engine), EventKind.MINED_BACK, project_id, annotator, old=old)
    return len(pairs)
