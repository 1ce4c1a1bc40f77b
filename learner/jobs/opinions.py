"""The job `opinions`: a run's pre-trained encoder answers a question about typed texts. The project does not change."""

from collections.abc import Sequence
from pathlib import Path

from dbos import DBOS

from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import is_there
from allpairs.db.projects.jobs import OPINIONS
from allpairs.db.results.opinions import Opinion, Opinions, write_opinions
from allpairs.db.results.pipelines import pipeline_folder, read_artifacts, read_began
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job
from allpairs.learner.backbones.opinions import opinions_of, questions_of, rationale_spans
from allpairs.learner.backbones.span_biencoder import load_biencoder
from allpairs.learner.catalog.quip import HEADS, QuipConfig
from allpairs.learner.jobs.queue.job_state import database, job_state
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.recovery import MOST_ATTEMPTS
from allpairs.learner.jobs.queue.steps import job_step

LOADED, SCORED = 0.3, 0.6  # of the job


@DBOS.workflow(name=OPINIONS, max_recovery_attempts=MOST_ATTEMPTS)
def opinions(project_id: int, run_id: str, number: int, texts: list[str], prompt: str) -> str:
    """Run the job and return a summary. number: the encoder's place among the run's artifacts."""
    job_id = str(DBOS.workflow_id)
    with job_state(job_id):
        return read(job_id, project_id, run_id, number, texts, prompt)


@job_step
def read(job_id: str, project_id: int, run_id: str, number: int, texts: Sequence[str], prompt: str) -> str:
    """Store the answers about the texts in the run's folder, and return a summary."""
    with database() as engine:
        with reading(engine) as session:
            run = session.get(Job, run_id)
        if run is None or run.project_id != project_id:
            raise InputError(f"this project has no run {run_id}, it may have been deleted: choose another one")
        folder, config = _encoder(run_id, number)
        with reporting(engine, job_id, 0.0, 1.0) as progress:
            progress("loading the encoder", 0.0)
            biencoder = load_biencoder(str(folder))
            progress("reading the texts", LOADED)
            found = opinions_of(biencoder, prompt, texts, config)
            progress("looking for reasons", SCORED)
            negative, positive = questions_of(prompt)
            margins = found.margins.tolist()
            asked = [positive if margin > 0 else negative for margin in margins]
            spans = rationale_spans(biencoder, asked, texts, config.sentiment.rationale, config.student)
    rows = [Opinion(text, margin, *span) for text, margin, span in zip(texts, margins, spans, strict=True)]
    write_opinions(run_id, job_id, Opinions(positive, negative, rows))
    return f"{len(rows)} texts"


def _encoder(run_id: str, number: int) -> tuple[Path, QuipConfig]:
    """Return the encoder's folder and the run's settings. Raises InputError if the run made no such encoder."""
    made, began = read_artifacts(run_id), read_began(run_id)
    folder = pipeline_folder(run_id) / made[number]["path"] if 0 <= number < len(made) else None
    if folder is None or began is None or not is_there(folder / HEADS):
        raise InputError(f"run {run_id} made no encoder with this number that can answer, or its files are gone")
    return folder, QuipConfig.model_validate(began.config)
