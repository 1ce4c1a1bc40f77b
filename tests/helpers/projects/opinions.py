"""A run of QuIP with a random encoder that answers questions, which is all that the page and the job need."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Engine

from allpairs.db.projects.jobs import PIPELINE
from allpairs.db.results.pipelines import ARTIFACTS, BEGAN, Began, pipeline_folder, results_folder
from allpairs.learner.catalog.quip import QuipConfig
from tests.helpers.figures.measured import add_job

PROMPTS = ["Why is it good? | Why is it bad?", "What is fine? | What is poor?"]


def quip_run(engine: Engine, project_id: int, run_id: str, prompts: Sequence[str] = PROMPTS) -> None:
    """Store a finished run of QuIP in the project; its encoder belongs in the folder `student`."""
    add_job(engine, project_id, run_id, kind=PIPELINE, state="done")
    config = QuipConfig.model_validate({"sentiment": {"prompts": list(prompts)}})
    results_folder(run_id).mkdir(parents=True)
    began = Began("quip", config.model_dump(), "4 texts; questions are their sentences with noise added.")
    (pipeline_folder(run_id) / BEGAN).write_text(json.dumps(asdict(began)))
    made = [{"kind": "biencoder", "title": "Pre-trained encoder", "path": "student", "about": {"questions": 8}}]
    (results_folder(run_id) / ARTIFACTS).write_text(json.dumps(made))
