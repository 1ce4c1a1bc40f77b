"""The demo project: questions to a help desk, ready to label at the first start."""

import csv
import os
from pathlib import Path

from sqlalchemy import Engine, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from allpairs.annotate.features.projects.lifecycle import has_projects
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.corpus.corpus import Columns, stage_corpus
from allpairs.db.domain import HALF_SPREAD_STRATEGY, Settings, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.items import items_by_identifier
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Round, Task

NAME = "Help desk (demo)"
FOLDER = Path(__file__).parent
SETTINGS = Settings(
    question="Do these two questions ask for the same thing?",
    guidelines=(
        "**Same**: one answer from the help desk would serve both people completely.\n\n"
        "**Different**: the same device or program, but another problem, another step or another wish; "
        "also the opposite wish, such as on and off, or from and to.\n\n"
        "**Unsure**: a careful colleague could see it either way."
    ),
    epochs=8,  # more and larger steps than for thousands of labels: the first batches are small
    batch_size=8,
    learning_rate=4e-5,
)


def ensure_demo(engine: Engine) -> None:
    """Create the demo project in an empty database, unless `ALLPAIRS_DEMO` is 0."""
    if os.environ.get("ALLPAIRS_DEMO") == "0" or has_projects(engine):
        return
    corpus = stage_corpus(FOLDER / "questions.csv", Columns(), gold=FOLDER / "gold.csv", keeps_rows=True)
    try:
        project_id = create_project(engine, NAME, corpus, SETTINGS)
    except (InputError, IntegrityError):
        if has_projects(engine):  # another app process made it meanwhile
            return
        raise
    with writing(engine) as session:
        _store_first_batch(session, project_id)
    request_round(engine, project_id)


def _store_first_batch(session: Session, project_id: int) -> None:
    """Store the batch that the job would choose, from a file: the first pair need not wait for a model to load.

    `python -m scripts.demo_batch` writes the file; a test rebuilds it and compares.
    """
    items = items_by_identifier(session, project_id, Side.LEFT)
    with (FOLDER / "first_batch.csv").open(newline="") as file:
        pairs = list(csv.DictReader(file))
    first = Round(project_id=project_id, number=1, strategy=HALF_SPREAD_STRATEGY, size=SETTINGS.first)
    session.add(first)
    session.flush()
    rows = [
        {
            "project_id": project_id,
            "round_id": first.id,
            "left_id": items[pair["id1"]],
            "right_id": items[pair["id2"]],
            "position": position,
            "strategy": HALF_SPREAD_STRATEGY,
            "score": float(pair["score"]),
        }
        for position, pair in enumerate(pairs)
    ]
    session.execute(insert(Task), rows)
