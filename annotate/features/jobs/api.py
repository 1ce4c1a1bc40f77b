"""Operations of jobs."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.web.problems import Wrong
from allpairs.annotate.kit.api import CONFLICT, PROJECT_PATH, ApiInput, ApiOutput, Call, NewestRequest, Operation
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import Scope
from allpairs.db.errors import without_places


class JobDetails(ApiOutput):
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


class JobList(ApiOutput):
    """The jobs, the newest first."""

    jobs: list[JobDetails]


class JobStart(ApiInput):
    """The job to start."""

    kind: Literal["next_round"] = Field(description="Train on all answers so far, measure, and choose the next batch.")


def list_jobs(call: Call, request: NewestRequest) -> JobList:
    """List the newest jobs of the project."""
    return JobList(jobs=open_jobs.read_jobs(call.engine, call.project_id, request.limit))


def job(call: Call) -> JobDetails:
    """Show one job of the project."""
    return _job(call, call.job_id)


def start_job(call: Call, request: JobStart) -> JobDetails:
    """Start training and choosing the next batch; if such a job is already active, return that one."""
    return _job(call, jobs.request_round(call.engine, call.project_id))


def cancel_job(call: Call) -> JobDetails:
    """Cancel a job: at once if it waits, within seconds if it runs. A job that has ended stays as it is."""
    open_jobs.cancel(call.engine, _job(call, call.job_id).id)
    return _job(call, call.job_id)


def _job(call: Call, job_id: str) -> JobDetails:
    """Return the project's job of this id. Raises Wrong if there is none."""
    row = open_jobs.find_job(call.engine, call.project_id, job_id)
    if row is None:
        raise Wrong(404, f"project {call.project_id} has no job {job_id!r}")
    return JobDetails.model_validate(row)


JOBS = f"{PROJECT_PATH}/jobs"
OPERATIONS = (
    Operation("GET", JOBS, list_jobs, Scope.READ, Right.SEE),
    Operation("POST", JOBS, start_job, Scope.TRAIN, Right.CHANGE, 202, CONFLICT),
    Operation("GET", f"{JOBS}/{{job_id}}", job, Scope.READ, Right.SEE),
    Operation("DELETE", f"{JOBS}/{{job_id}}", cancel_job, Scope.TRAIN, Right.CHANGE),
)
