"""The tour of the demo project: how far it is, and who does not want to see it. Files alone, no rows."""

from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Engine

from db.projects.project_list import batch_standings, newest_matchers
from db.schema.engine import artifacts, reading


class Step(IntEnum):
    """What a person does next."""

    LABEL = 1
    TRAIN = 2
    MEASURE = 3


@dataclass(frozen=True)
class Stage:
    """The step that the project is at, with the pairs of its newest batch and those that carry a label."""

    step: Step
    size: int
    answered: int


def stage_of(engine: Engine, project_id: int) -> Stage:
    """How far the project is: its first batch is labelled, then its first model trained, then its figures are there."""
    with reading(engine) as session:
        batch = batch_standings(session, [project_id]).get(project_id)
        matcher = newest_matchers(session, [project_id]).get(project_id)
    size, answered = (batch.size, batch.answered) if batch else (0, 0)
    if matcher is not None and matcher.number:
        return Stage(Step.MEASURE, size, answered)
    return Stage(Step.TRAIN if 0 < size <= answered else Step.LABEL, size, answered)


def is_dismissed(annotator: str) -> bool:
    """Whether this annotator has ended the tour for good."""
    return _mark(annotator).exists()


def dismiss(annotator: str) -> None:
    """Nothing; the tour is not shown to this annotator any more."""
    _mark(annotator).parent.mkdir(parents=True, exist_ok=True)
    _mark(annotator).touch()


def call_back(annotator: str) -> None:
    """Nothing; the tour is shown to this annotator again."""
    _mark(annotator).unlink(missing_ok=True)


def _mark(annotator: str) -> Path:
    """An empty file for each annotator who has ended the tour; any name makes a possible file name."""
    return artifacts() / "tour" / sha256(annotator.encode()).hexdigest()[:16]
