"""The files of a job `next_round` in its folder: the model, the vectors, the pairs that were scored again."""

from pathlib import Path
from typing import Any

from sqlalchemy import select

from allpairs.db.files.artifacts import children, discard, held, publishing
from allpairs.db.files.checksums import FILE as CHECKSUMS
from allpairs.db.projects.publications import folders_in_service
from allpairs.db.results.explorations import FOLDER as EXPLORE
from allpairs.db.results.matches import FOLDER as MATCHES
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.audit.designs import FOLDER
from allpairs.learner.jobs.data.evaluation_snapshot import BASE
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.round_plan import Plan
from allpairs.learner.jobs.data.stored_rescored import FILE as RESCORED
from allpairs.learner.jobs.data.stored_rescored import load_rescored
from allpairs.learner.jobs.data.stored_vectors import FILE as VECTORS
from allpairs.learner.jobs.data.stored_vectors import TEXTS
from allpairs.learner.jobs.queue.job_state import database, folder_of
from allpairs.learner.jobs.queue.ownership import require_own, this_run
from allpairs.learner.scoring.matcher import FILE as MATCHER
from allpairs.learner.scoring.matcher import SECOND_STAGE, add_details
from allpairs.learner.search.rescored import NOTHING, Rescored


def model_name(project_id: int, job_id: str, plan: Plan) -> str | None:
    """Return the matcher's folder below the artifact folder; None for the pre-trained encoder."""
    return f"{folder_of(project_id, job_id)}/model" if plan["trains"] else None


def round_folder(project_id: int, job_id: str) -> Path:
    """Return the job's folder."""
    return artifacts() / folder_of(project_id, job_id)


def add_round_details(model: Path, **details: Any) -> None:
    """Add these details to the matcher's file, for all machines."""
    require_own(this_run())
    with held(model / MATCHER) as file, publishing(file):
        add_details(model, **details)


def round_rescored(project_id: int, job_id: str, plan: Plan, data: ProjectData) -> Rescored:
    """Return the pairs that the round's second stage has scored again."""
    used = plan.get("known", {}).get(SECOND_STAGE, {}).get("features")
    return load_rescored(round_folder(project_id, job_id), len(data.item_ids)) if used else NOTHING


def vectors_path(project_id: int, job_id: str) -> Path:
    """Return the file of the vectors of all texts."""
    return round_folder(project_id, job_id) / VECTORS


def tidy_folders(project_id: int, job_id: str) -> None:
    """Delete what other jobs left: vectors, which can be encoded again, and folders that no matcher names.

    Models that answer requests keep their vectors.
    """
    with database() as engine, reading(engine) as session:
        named = set(session.scalars(select(StoredModel.folder).where(StoredModel.project_id == project_id)))
        serving = folders_in_service(session, project_id)
    project = artifacts() / f"project-{project_id}"
    for name in children(project):
        if name == job_id or name.split("-")[0] in (BASE, FOLDER, EXPLORE, MATCHES):
            continue
        model = f"{folder_of(project_id, name)}/model"
        if model not in named:
            discard(project / name)
        if model not in named or model in serving:
            continue
        for file in (VECTORS, TEXTS, CHECKSUMS, RESCORED):
            discard(project / name / file)
