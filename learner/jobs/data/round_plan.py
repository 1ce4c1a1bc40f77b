"""The plan of a job `next_round`, which its steps pass on: JSON, so that a job that was killed goes on with it."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from allpairs.db.domain import Settings
from allpairs.learner.jobs.data.project_data import ProjectData, read_labels, read_project, with_implied
from allpairs.learner.jobs.data.stored_verdicts import Teaching
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import OutputLayer

Plan = dict[str, Any]


def teaching_of_plan(plan: Plan) -> Teaching | None:
    """Return the rater that teaches this round's model, if one does."""
    rater = plan.get("rater")
    return Teaching(*(rater[name] for name in ("rater", "name", "newest", "weight"))) if rater else None


def rater_details(plan: Plan) -> dict[str, Any]:
    """Return what a model's details say of the machine rater whose verdicts it has learned from."""
    rater = plan.get("rater") if plan["trains"] else None
    return {"rater": {name: rater[name] for name in ("name", "verdicts", "weight")}} if rater else {}


def layer_of(plan: Plan, stage: str = "layer") -> OutputLayer | None:
    """Return the output layer of the current matcher, or of its first stage; None for the pre-trained encoder."""
    return OutputLayer(plan[stage]["w"], plan[stage]["b"]) if plan["trains"] else None


def planned_data(session: Session, project_id: int, plan: Plan) -> ProjectData:
    """Return the project with the texts and settings that the job began with: each row names what made it.

    Texts that were withdrawn meanwhile are missing at once.
    """
    data = read_project(session, project_id, plan["newest"])
    return replace(data, settings=Settings.model_validate(plan["settings"]))


def planned_labels(session: Session, project_id: int, data: ProjectData, plan: Plan) -> Labelled:
    """Return the labels that train, implied ones among them, as they were when the job began."""
    as_of = datetime.fromisoformat(plan["as_of"]) if "as_of" in plan else None  # older versions noted no time
    return with_implied(read_labels(session, project_id, data, plan["cutoff"], as_of), data)
