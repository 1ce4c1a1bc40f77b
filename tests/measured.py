"""A project with measured rounds for tests: matchers, evaluations, batches and answers, inserted directly."""

from pathlib import Path

import numpy as np
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from db.domain import AnswerKind, Estimate, Side, Split
from db.engine import writing
from db.models import Answer, Evaluation, Gold, Item, Job, Matcher, Round, Task, Worker
from tests.factories import make_project, make_round

SIZES = (40, 60, 90, 135)  # n1 = 40, growth 3/2
POSITIVES = (9, 24, 41, 58)
EVALUATION = 120


def make_measured_project(
    engine: Engine, name: str = "Help desk questions", rounds: int = 5, half_width: float = 0.0
) -> int:
    """The id of a project with the pre-trained encoder and `rounds - 1` trained rounds, all measured.

    `half_width` gives the estimates an interval, as a sampled evaluation would.
    """
    texts = [f"How do I reset the password of account {i}?" for i in range(EVALUATION + 60)]
    project_id = make_project(engine, texts, name=name, evaluation=EVALUATION, auto_train=False)
    add_gold(engine, project_id, 30)
    for number in range(rounds):
        add_matcher(engine, project_id, number, half_width)
        if number < rounds - 1:
            answer_round(engine, make_round(engine, project_id, SIZES[number]), POSITIVES[number])
    return project_id


def add_gold(engine: Engine, project_id: int, positives: int, split: Split = Split.EVALUATION) -> None:
    """Nothing; the first items of the split are positives of their neighbours."""
    with writing(engine) as session:
        items = _items(session, project_id, split)
        session.add_all(
            Gold(project_id=project_id, left_id=items[2 * i], right_id=items[2 * i + 1], positive=True)
            for i in range(positives)
        )


def _items(session: Session, project_id: int, split: Split) -> list[int]:
    wanted = select(Item.id).where(Item.project_id == project_id, Item.split == split, Item.side == Side.LEFT)
    return list(session.scalars(wanted.order_by(Item.id)))


def add_matcher(engine: Engine, project_id: int, number: int, half_width: float = 0.0) -> int:
    """The id of a new matcher with an evaluation that follows from the scores it would give."""
    w, b = (14.0 + number, -9.0 - number / 2) if number else (None, None)
    with writing(engine) as session:
        matcher = Matcher(
            project_id=project_id,
            number=number,
            folder=f"matchers/{project_id}-{number}" if number else None,
            encoder="all-MiniLM-L6-v2",
            w=w,
            b=b,
            cutoff=sum(SIZES[:number]),
            labels=sum(SIZES[:number]),
            positives=sum(POSITIVES[:number]),
            details={"seed": 7, "loss": 0.31, "seconds": {"train": 14.2, "encode": 3.1, "search": 0.4}}
            if number
            else {},
        )
        session.add(matcher)
        session.flush()
        session.add(evaluation_of(matcher, half_width))
        return matcher.id


def evaluation_of(matcher: Matcher, half_width: float) -> Evaluation:
    """Exact figures over drawn scores that part positives from negatives better from round to round."""
    rng = np.random.default_rng(matcher.number)
    positive = np.clip(rng.normal(0.56 + 0.035 * matcher.number, 0.15, 600), -1, 1)
    negative = np.clip(rng.normal(0.13, 0.16, 200_000), -1, 1)
    score = np.sort(positive)[::-1]
    true = np.arange(1, len(score) + 1)
    false = len(negative) - np.searchsorted(np.sort(negative), score)
    recall, precision = true / len(score), true / (true + false)
    edges = np.linspace(score[-1], 1.0001, 61)
    kept = slice(None, None, 2)
    average = float(np.sum(np.diff(recall, prepend=0) * precision))
    at_20 = float(precision[np.searchsorted(recall, 0.2)])
    return Evaluation(
        matcher_id=matcher.id,
        pairs=len(negative) + len(score),
        positives=len(score),
        estimates={
            "average_precision": _stored(average, half_width),
            "precision_at_recall_20": _stored(at_20, half_width),
        },
        curve={"recall": recall[kept].tolist(), "precision": precision[kept].tolist(), "score": score[kept].tolist()},
        histogram={
            "edges": edges.tolist(),
            "negatives": np.histogram(negative, edges)[0].tolist(),
            "positives": np.histogram(positive, edges)[0].tolist(),
            "below": int((negative < edges[0]).sum()),
        },
    )


def _stored(value: float, half_width: float) -> dict[str, float | str]:
    method = "near-random" if half_width else "exact"
    return Estimate(value, max(0.0, value - half_width), min(1.0, value + half_width), method).as_dict()


def answer_round(engine: Engine, round_id: int, positives: int, unsure: int = 2) -> None:
    """Nothing; every task of the batch is answered, some of them as positives and unsure."""
    with writing(engine) as session:
        batch = session.get_one(Round, round_id)
        tasks = session.scalars(select(Task).where(Task.round_id == round_id).order_by(Task.position)).all()
        for task in tasks[: batch.size]:
            kind = AnswerKind.NEGATIVE
            if task.position < positives + unsure:
                kind = AnswerKind.POSITIVE if task.position < positives else AnswerKind.UNSURE
            session.add(answer_on(task, kind))


def answer_on(task: Task, kind: AnswerKind, annotator: str = "ada", act: int = 0) -> Answer:
    """An answer of an annotator on the pair of a task; a further act on the same pair needs another `act`."""
    return Answer(project_id=task.project_id, task_id=task.id, left_id=task.left_id, right_id=task.right_id,
                  annotator=annotator, answer=kind, key=f"{annotator}-{task.id}-{act}")  # fmt: skip


def add_job(engine: Engine, project_id: int, id_: str = "job-1", **columns: object) -> str:
    """The id of a new job row."""
    with writing(engine) as session:
        session.add(Job(id=id_, project_id=project_id, **({"kind": "next_round"} | columns)))
    return id_


def add_worker(engine: Engine, host: str = "desk", device: str = "cpu") -> None:
    """Nothing; a worker was heard of just now."""
    with writing(engine) as session:
        session.add(Worker(executor_id=f"{host}-1", host=host, pid=4711, device=device))


def write_model_folder(home: Path, folder: str) -> Path:
    """The folder of a trained matcher, with small files in place of the weights."""
    path = home / "artifacts" / folder
    (path / "1_Pooling").mkdir(parents=True)
    (path / "matcher.json").write_text('{"w": 15.0, "b": -9.5}')
    (path / "model.safetensors").write_bytes(bytes(range(256)) * 512)
    (path / "1_Pooling" / "config.json").write_text("{}")
    return path
