"""A project whose jobs take seconds, so that something can happen in the middle of a step."""

from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind
from allpairs.db.labels.tasks import newest_round
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Answer, Matcher, Task
from tests.helpers.factories import make_project, make_round
from tests.helpers.tiny import tiny_encoder


def make_slow_project(engine: Engine, folder: Path, items: int, **settings: Any) -> int:
    """Make a project with long texts and a deep encoder; return its id."""
    rng = np.random.default_rng(0)
    texts = [f"text {i} " + " ".join(rng.choice([f"word{k}" for k in range(50)], 50)) for i in range(items)]
    encoder = tiny_encoder(folder, texts, layers=12)
    return make_project(engine, texts, encoder=str(encoder), neighbours=10, batch_size=4, **settings)


def answer_batch(engine: Engine, project_id: int) -> None:
    """Answer the newest batch: every second pair is positive, the others are negative."""
    with writing(engine) as session:
        batch = newest_round(session, project_id)
        assert batch is not None
        for task in session.scalars(select(Task).where(Task.round_id == batch.id, Task.position < batch.size)).all():
            kind = AnswerKind.POSITIVE if task.position % 2 else AnswerKind.NEGATIVE
            session.add(Answer(project_id=project_id, task_id=task.id, left_id=task.left_id, right_id=task.right_id,
                               annotator="ann", answer=kind, key=f"key-{task.id}"))  # fmt: skip


def make_trainable(engine: Engine, folder: Path) -> int:
    """Return a project with an answered first batch: its next job trains for seconds, then encodes for seconds."""
    project_id = make_slow_project(engine, folder, 1200, first=16, epochs=30)
    make_round(engine, project_id, 16)
    with writing(engine) as session:
        session.add(Matcher(project_id=project_id, number=0, encoder="tiny"))
    answer_batch(engine, project_id)
    return project_id
