"""The job `audit`: compute every model's figures from all audit labels and, if asked, draw the next audit batch."""

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind
from allpairs.db.errors import InputError
from allpairs.db.labels.audits import add_audit_tasks, design_by_id
from allpairs.db.labels.tasks import may_add_audit_batch, unanswered
from allpairs.db.labels.withdrawn import open_batch
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Round
from allpairs.learner.jobs.audit.draw_pairs import columns_of, draw_audit_pairs
from allpairs.learner.jobs.audit.measure import is_measured, measure_models, renew_design
from allpairs.learner.jobs.data.mark_sentences import mark_passages
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step

NAME = "audit"


@job_workflow(NAME)
def audit_job(job_id: str, project_id: int, draw: int) -> str:
    """Run the job and return a summary. draw: number of pairs in the audit batch, 0 to compute figures only."""
    update_figures(job_id, project_id, bool(draw))
    if not draw:
        return "the figures are up to date"
    summary = draw_audit_batch(project_id, draw)
    mark_passages(job_id, project_id, audit_batch=True)
    return summary


@job_step
def update_figures(job_id: str, project_id: int, draws: bool) -> None:
    """Store every matcher's figures; before a draw, renew the design if it no longer suits the newest matcher."""
    with database() as engine, reporting(engine, job_id, 0.0, 1.0) as progress:
        with reading(engine) as session:
            data = read_project(session, project_id)
            _require_audit(session, project_id, data)
        measure_models(engine, project_id, data, progress, {})
        if draws:
            renew_design(engine, project_id, data, progress)


@job_step
def draw_audit_batch(project_id: int, draw: int) -> str:
    """Store an audit batch, unless one is open, and return a summary."""
    with database() as engine:
        with reading(engine) as session:
            data = read_project(session, project_id)
            design_id, pairs = draw_audit_pairs(session, project_id, data, draw)
        order = np.random.default_rng([data.settings.seed, design_id, draw]).permutation(len(pairs))
        with writing(engine) as session:
            if not may_add_audit_batch(session, project_id):
                return "an audit batch is open: label it first"
            if not pairs:
                raise InputError("every pair of the audit's sampling orders is labelled: there is nothing left to draw")
            audit_batch = Round(project_id=project_id, number=None, strategy=DesignKind.AUDIT, size=len(pairs))
            session.add(audit_batch)
            session.flush()
            design = design_by_id(session, design_id)
            assert design is not None
            add_audit_tasks(session, audit_batch, design, columns_of([pairs[at] for at in order], range(len(pairs))))
            open_batch(session, audit_batch)
            before = len(pairs) - unanswered(session, audit_batch)
    return f"{len(pairs)} pairs to audit" + (f", {before} of them answered before" if before else "")


def _require_audit(session: Session, project_id: int, data: ProjectData) -> None:
    if newest_matcher(session, project_id) is None:
        raise InputError("this project has no model yet: prepare its first batch, which creates one")
    if not is_measured(data):
        raise InputError("this project has no evaluation items, or only one: there are no pairs to audit")
