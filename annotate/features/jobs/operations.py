"""Jobs."""

from allpairs.annotate.features.jobs import schemas as m
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.web.problems import Wrong
from allpairs.annotate.kit.api.operation import BUSY, ONE, Call, Operation
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import Scope
from allpairs.db.schema.tables import Job


def list_jobs(call: Call) -> m.Jobs:
    """List the newest jobs of the project."""
    found = jobs.list_jobs(call.engine, call.here.id, call.given.limit)
    return m.Jobs(jobs=[_job(one) for one in found])


def job(call: Call) -> m.Job:
    """Show one job of the project."""
    return _job(_found_job(call))


def start_job(call: Call) -> m.Job:
    """Start training and choosing the next batch; if such a job is already active, return that one."""
    return _job_of(call, jobs.request_round(call.engine, call.here.id))


def cancel_job(call: Call) -> m.Job:
    """Cancel a job: at once if it waits, within seconds if it runs. A job that has ended stays as it is."""
    found = _found_job(call)
    jobs.cancel(call.engine, found.id)
    return _job_of(call, found.id)


def _found_job(call: Call) -> Job:
    """Return the job that the address names. Raises Wrong if the project has no such job."""
    found = jobs.find_job(call.engine, call.here.id, call.job_id)
    if found is None:
        raise Wrong(404, f"project {call.here.id} has no job {call.job_id!r}")
    return found


def _job_of(call: Call, job_id: str) -> m.Job:
    found = jobs.find_job(call.engine, call.here.id, job_id)
    assert found is not None
    return _job(found)


def _job(row: Job) -> m.Job:
    return m.Job.model_validate(row, from_attributes=True)


OPERATIONS = (
    Operation("GET", f"{ONE}/jobs", list_jobs, m.Jobs, Scope.READ, m.JobsAsked, Right.SEE),
    Operation("POST", f"{ONE}/jobs", start_job, m.Job, Scope.TRAIN, m.JobStart, Right.CHANGE, 202, BUSY),
    Operation("GET", f"{ONE}/jobs/{{job_id}}", job, m.Job, Scope.READ, None, Right.SEE),
    Operation("DELETE", f"{ONE}/jobs/{{job_id}}", cancel_job, m.Job, Scope.TRAIN, None, Right.CHANGE),
)
