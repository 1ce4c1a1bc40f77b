"""The job `suggest`: questions that a run's generator asks about a passage. The project does not change."""

from pathlib import Path

from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held
from allpairs.db.files.json_file import write_json
from allpairs.db.projects.jobs import SUGGEST
from allpairs.db.results.job_results import Suggestion, SuggestionRequest
from allpairs.db.results.pipelines import pipeline_folder, stored_outputs
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item
from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking.reading import load_reading
from allpairs.learner.backbones.reranking.reranker import is_reranker
from allpairs.learner.backbones.reranking.templates import PASSAGE
from allpairs.learner.backbones.suggestions import filled, suggest_questions
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.light.catalog.backbones import GeneratorSettings

GENERATOR = "generator"  # a kind of output
READS = "reads"  # a key of its facts: the form of its input, in place of the bare text
LOADED = 0.5  # of the job
LENGTH = 48  # tokens of a question


@job_workflow(SUGGEST)
@job_step
def ask_generator(job_id: str, project_id: int, run_id: str, number: int, item_id: int, n: int) -> str:
    """Store the questions in the run's folder, and return a summary."""
    with database() as engine:
        with reading(engine) as session:
            item = session.get(Item, item_id)
        if item is None or item.project_id != project_id or item.withdrawn_at is not None:
            raise InputError("this text is not in the project any more: choose another one")
        path, form = _generator(run_id, number)
        with reporting(engine, job_id, 0.0, 1.0) as progress:
            progress("loading the generator", 0.0)
            generator = load_generator(str(path))
            progress("writing questions", LOADED)
            settings = GeneratorSettings(target_length=LENGTH, **_reading(path))
            source = filled(generator, form, item.text, settings.source_length)
            likeliest = suggest_questions(generator, source, n, settings, seed=item_id)
    suggestions = [Suggestion(question, loss) for question, loss in likeliest]
    write_json(SuggestionRequest(run_id, number, item_id).path, suggestions)
    return f"{len(suggestions)} questions"


def _reading(path: Path) -> dict[str, int]:
    """Return the text length that a re-ranker was trained with; empty for other generators."""
    with held(path) as folder:
        return {"source_length": load_reading(folder).source_length} if is_reranker(str(folder)) else {}


def _generator(run_id: str, number: int) -> tuple[Path, str]:
    """Return the generator's folder and the form of its input. Raises InputError if the run made no such generator."""
    outputs = stored_outputs(run_id)
    if not 0 <= number < len(outputs) or outputs[number]["kind"] != GENERATOR:
        raise InputError(f"run {run_id} made no generator with this number, or its files are gone")
    return pipeline_folder(run_id) / outputs[number]["path"], str(outputs[number]["about"].get(READS, PASSAGE))
