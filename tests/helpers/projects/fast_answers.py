"""Projects in which somebody answers too fast."""

from itertools import count

from sqlalchemy import Engine

from allpairs.annotate.labelling.queue import record, serve
from allpairs.annotate.labelling.shown_pairs import Pair
from allpairs.db.domain import AnswerKind
from tests.helpers.factories import make_project, make_round

KEYS = count()

FAST, SLOW = 0.3, 5.0
AHEAD = 10  # pairs that are served at a time


def project_of(engine: Engine, n: int = 60, **settings: object) -> int:
    texts = [f"How do I do the thing that has the number {i}?" for i in range(12)]
    project = make_project(engine, texts, auto_train=False, **settings)
    make_round(engine, project, n)
    return project


def say(engine: Engine, project: int, who: str, answers: list[tuple[AnswerKind, float]], at_once: int = 1) -> list[int]:
    """Answer tasks in messages of so many answers, and return them."""
    tasks: list[int] = []
    pairs: list[Pair] = []
    while len(tasks) < len(answers):
        part = answers[len(tasks) : len(tasks) + at_once]
        if len(pairs) < len(part):
            pairs = serve(engine, project, who, min(max(AHEAD, at_once), len(answers) - len(tasks)))[0]
        events = [
            {"key": f"fast-{next(KEYS)}", "task_id": pair.task_id, "answer": answer, "seconds": seconds}
            for pair, (answer, seconds) in zip(pairs[: len(part)], part, strict=True)
        ]
        assert record(engine, project, who, events).refused == {}
        tasks += [event["task_id"] for event in events]
        pairs = pairs[len(events) :]
    return tasks
