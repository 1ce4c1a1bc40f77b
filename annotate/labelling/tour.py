"""The tour of the demo project: its progress, and who has dismissed it. Uses files only, no rows."""

from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Engine

from allpairs.db.projects.project_list import batch_standings, newest_matchers
from allpairs.db.schema.engine import artifacts, reading


class Step(IntEnum):
    """The next step of the tour."""

    LABEL = 1
    TRAIN = 2
    MEASURE = 3


@dataclass(frozen=True)
class Stage:
    """The current step, with the size of the newest batch and the number of its labelled pairs."""

    step: Step
    size: int
    answered: int


def stage_of(engine: Engine, project_id: int) -> Stage:
    """Return the project's stage: first its batch is labelled, then a model is trained, then its figures are shown."""
    with reading(engine) as session:
        batch = batch_standings(session, [project_id]).get(project_id)
        matcher = newest_matchers(session, [project_id]).get(project_id)
    size, answered = (batch.size, batch.answered) if batch else (0, 0)
    if matcher is not None and matcher.number:
        return Stage(Step.MEASURE, size, answered)
    return Stage(Step.TRAIN if 0 < size <= answered else Step.LABEL, size, answered)


def is_dismissed(annotator: str) -> bool:
    """Return whether this annotator has dismissed the tour."""
    return _mark(annotator).exists()


def dismiss(annotator: str) -> None:
    """Hide the tour from this annotator."""
    _mark(annotator).parent.mkdir(parents=True, exist_ok=True)
    _mark(annotator).touch()


def call_back(annotator: str) -> None:
    """Show the tour to this annotator again."""
    _mark(annotator).unlink(missing_ok=True)


def _mark(annotator: str) -> Path:
    """Return the path of an annotator's marker file, hashed so that any name is a valid file name."""
    return artifacts() / "tour" / sha256(annotator.encode()).hexdigest()[:16]
