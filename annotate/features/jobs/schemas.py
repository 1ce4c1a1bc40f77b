"""Jobs."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from allpairs.annotate.kit.api.schema import Asked, Given
from allpairs.db.errors import without_places

MOST_JOBS = 100


class JobsAsked(Asked):
    """How many jobs to list."""

    limit: int = Field(20, ge=1, le=MOST_JOBS)


class Job(Given):
    """A job and its progress."""

    id: str
    kind: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    stage: str
    fraction: float
    seconds_left: float | None
    error: Annotated[str, AfterValidator(without_places)] | None
    created_at: datetime
    updated_at: datetime


class Jobs(Given):
    """The jobs, the newest first."""

    jobs: list[Job]


class JobStart(Asked):
    """The job to start."""

    kind: Literal["next_round"] = Field(description="Train on all answers so far, measure, and choose the next batch.")
