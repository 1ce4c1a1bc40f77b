"""The job `next_round`, run step by step in the test's own process, and answers to its batches."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, func, select

from allpairs.db.domain import AnswerKind
from allpairs.db.labels.tasks import newest_round
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Base, Gold, Item, Job, Round, StoredModel, Task
from allpairs.learner.jobs import next_round as steps
from tests.helpers.factories import make_project, make_round
from tests.helpers.tiny import tiny_encoder

POSITIVE, NEGATIVE, UNSURE, SKIP, RETRACT = AnswerKind

keys = itertools.count()


def texts(n: int = 30, topics: int = 6) -> list[str]:
    rng = np.random.default_rng(0)
    return [f"topic{i % topics} " + " ".join(rng.choice([f"word{k}" for k in range(15)], 4)) for i in range(n)]


def topics_project(engine: Engine, encoder: Path) -> int:
    """Return a project of 30 texts on 6 topics, the last 10 for evaluation; texts of one topic match."""
    settings: dict[str, Any] = {
        "encoder": str(encoder),
        "first": 6,
        "neighbours": 10,
        "epochs": 1,
        "learning_rate": 1e-3,
    }
    project_id = make_project(engine, texts(), evaluation=10, **settings)
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)).all()
        session.add_all(
            Gold(project_id=project_id, left_id=items[i], right_id=items[j], positive=True)
            for i, j in itertools.combinations(range(30), 2)
            if i % 6 == j % 6
        )
    return project_id


def start(engine: Engine, project_id: int) -> str:
    """Add a job row and return its id."""
    with writing(engine) as session:
        return add_job(session, project_id, steps.NAME).id


def run(engine: Engine, project_id: int, stop_before: str = "") -> str:
    """Run the workflow's steps in order, and return the job's id."""
    job_id = start(engine, project_id)
    plan = steps.make_plan(project_id)
    if plan["trains"]:
        plan["training"] = steps.train_matcher(job_id, project_id, plan)
    plan |= steps.encode_items(job_id, project_id, plan)
    matcher_id = steps.evaluate_matcher(job_id, project_id, plan)
    steps.audit_models(job_id, project_id, plan, matcher_id)
    if stop_before != "make_batch":
        steps.make_batch(job_id, project_id, plan, matcher_id)
        if plan["trains"]:
            steps.describe_model(job_id, project_id, plan, matcher_id)
    return job_id


def newest(engine: Engine, project_id: int) -> tuple[Round, list[Task]]:
    """Return the newest round and its tasks in order."""
    with reading(engine) as session:
        batch = newest_round(session, project_id)
        assert batch is not None
        tasks = session.scalars(select(Task).where(Task.round_id == batch.id).order_by(Task.position))
        return batch, list(tasks)


def answer(engine: Engine, task: Task, kind: AnswerKind, annotator: str = "ann") -> None:
    with writing(engine) as session:
        session.add(
            Answer(project_id=task.project_id, task_id=task.id, left_id=task.left_id, right_id=task.right_id,
                   annotator=annotator, answer=kind, key=f"key-{next(keys)}", seconds=1.0)
        )  # fmt: skip


def answer_batch(engine: Engine, project_id: int, kinds: Callable[[int], AnswerKind]) -> list[Task]:
    """Answer the i-th task of the newest batch with `kinds(i)`, and return the tasks."""
    batch, tasks = newest(engine, project_id)
    for task in tasks[: batch.size]:
        answer(engine, task, kinds(task.position))
    return tasks[: batch.size]


def count(engine: Engine, table: type) -> int:
    with reading(engine) as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def pairs(tasks: list[Task]) -> set[tuple[int, int]]:
    return {(task.left_id, task.right_id) for task in tasks}


def matcher_of(engine: Engine, number: int) -> StoredModel:
    with reading(engine) as session:
        return session.scalars(select(StoredModel).where(StoredModel.number == number)).one()


def half(position: int) -> AnswerKind:
    return POSITIVE if position % 2 == 0 else NEGATIVE


def rows(engine: Engine) -> dict[str, list[Any]]:
    """Return everything stored except the jobs."""
    with reading(engine) as session:
        tables = [table for table in Base.metadata.sorted_tables if table.name != Job.__tablename__]
        return {table.name: [tuple(row) for row in session.execute(select(table))] for table in tables}


def trained(
    engine: Engine, encoder: Path, name: str = "Questions", right: int = 0, rounds: int = 1, **settings: Any
) -> StoredModel:
    """Return the last matcher of a project of 60 texts and `right` more, after so many labelled batches."""
    whole = texts(60 + right)
    project_id = make_project(
        engine, whole[:60], whole[60:], name, evaluation=20, encoder=str(encoder), first=30, neighbours=10, epochs=1,
        learning_rate=1e-3, first_batch="most-similar", **settings,
    )  # fmt: skip
    run(engine, project_id)
    for _ in range(rounds):
        answer_batch(engine, project_id, half)
        run(engine, project_id)
    with reading(engine) as session:
        row = session.scalars(
            select(StoredModel).where(StoredModel.project_id == project_id, StoredModel.number == rounds)
        ).one()
    assert ("features" in row.details.get("second_stage", {})) == (settings.get("second_stage") == "on")
    return row


def make_slow_project(engine: Engine, folder: Path, items: int, **settings: Any) -> int:
    """Make a project with long texts and a deep encoder; return its id."""
    rng = np.random.default_rng(0)
    texts = [f"text {i} " + " ".join(rng.choice([f"word{k}" for k in range(50)], 50)) for i in range(items)]
    encoder = tiny_encoder(folder, texts, layers=12)
    return make_project(engine, texts, encoder=str(encoder), neighbours=10, batch_size=4, **settings)


def answer_by_turns(engine: Engine, project_id: int) -> None:
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
        session.add(StoredModel(project_id=project_id, number=0, encoder="tiny"))
    answer_by_turns(engine, project_id)
    return project_id
