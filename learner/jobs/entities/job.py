"""The job `entities`: measure the groups of every round on the entity audit and, if asked, draw more texts for it."""

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.errors import InputError
from allpairs.db.labels.answers import known_answers
from allpairs.db.labels.tasks import may_add_audit_batch, open_audit_batch
from allpairs.db.projects.jobs import ENTITIES
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Design, StoredModel, Task
from allpairs.learner.jobs.audit.measure import is_measured
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.entities.draw import drawn_before, entity_tasks, plan_audit, store_entity_design
from allpairs.learner.jobs.entities.measure import measure_groups
from allpairs.learner.jobs.queue.job_state import database, folder_of, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step

BATCH_IS_OPEN = "an audit batch is open: label it first"


@job_workflow(ENTITIES)
def entities(job_id: str, project_id: int, draw: int) -> str:
    """Run the job and return a summary. draw: number of texts to draw, 0 to compute figures only."""
    drawn = draw_texts(job_id, project_id, draw) if draw else ""
    return drawn or update_group_figures(job_id, project_id)


@job_step
def draw_texts(job_id: str, project_id: int, draw: int) -> str:
    """Store the design and its audit batch, once, and return a summary; an empty one if every pair is answered."""
    folder = folder_of(project_id, job_id)
    with database() as engine, reporting(engine, job_id, 0.0, 1.0) as progress:
        with reading(engine) as session:
            if (stored := session.scalar(select(Design).where(Design.folder == folder))) is not None:
                return _summary(session, stored)
            if open_audit_batch(session, project_id) is not None:
                return BATCH_IS_OPEN
            data, matcher = _read(session, project_id)
            answers = known_answers(session, project_id)
            before = drawn_before(session, project_id)
        plan, corpus, columns = plan_audit(data, matcher, before + draw, progress)
        if len(plan.texts) == before:
            raise InputError(f"all {before} evaluation texts are drawn: there is nothing left to draw")
        tasks = entity_tasks(plan, corpus, answers, np.random.default_rng([data.settings.seed, len(plan.texts)]))
        with writing(engine) as session:
            if not may_add_audit_batch(session, project_id):  # one may have been opened meanwhile
                return BATCH_IS_OPEN
            return _summary(session, store_entity_design(session, matcher, folder, columns, tasks))


def _summary(session: Session, design: Design) -> str:
    """Return what was drawn; empty if every pair is answered already."""
    tasks = session.scalar(select(func.count()).select_from(Task).where(Task.design_id == design.id))
    return f"{tasks} pairs to label, for {len(design.details['weights'])} texts in all" if tasks else ""


@job_step
def update_group_figures(job_id: str, project_id: int) -> str:
    """Store the figures of every round's groups, and return a summary."""
    with database() as engine, reporting(engine, job_id, 0.0, 1.0) as progress:
        with reading(engine) as session:
            data, _ = _read(session, project_id)
        return measure_groups(engine, project_id, data, progress)


def _read(session: Session, project_id: int) -> tuple[ProjectData, StoredModel]:
    data = read_project(session, project_id)
    matcher = newest_matcher(session, project_id)
    if matcher is None:
        raise InputError("this project has no model yet: prepare its first batch, which creates one")
    if not is_measured(data):
        raise InputError("this project has no evaluation items, or only one: there are no groups to audit")
    return data, matcher
