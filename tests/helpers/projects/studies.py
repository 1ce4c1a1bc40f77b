"""Studies for tests: a run that generated questions about passages, a study of it, and its ratings."""

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Engine

from allpairs.annotate.pipelines.rating_studies import BEGUN, rate
from allpairs.db.projects.studies import CRITERIA, Unit, add_study, units_of
from allpairs.db.results.pipelines import ARTIFACTS, results_folder
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Study
from tests.helpers.projects.pipelines import finished_run


def finished_questions(engine: Engine, project_id: int, run_id: str, passages: int = 6) -> None:
    """Add a run that asked about so many passages; the first two models ask the same about every third."""
    finished_run(engine, project_id, run_id)
    rows = [{"passage": f"Passage {i} tells what gradient number {i} does.", "reference": f"Why gradient {i}?",
             "questions": {model: f"What is it, {i}?" if at < 2 and i % 3 == 0 else f"What does model {at} ask of {i}?"
                           for at, model in enumerate(BEGUN)}} for i in range(passages)]  # fmt: skip
    (results_folder(run_id) / "test-questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = [{"kind": "test-questions", "title": "Questions about the test passages", "about": {"passages": passages},
             "path": "results/test-questions.jsonl"}]  # fmt: skip
    (results_folder(run_id) / ARTIFACTS).write_text(json.dumps(made))


def make_study(engine: Engine, project_id: int, passages: int = 4, models: Sequence[str] = BEGUN) -> int:
    """Make a study in which each model asks its own question about each passage in turn; return its id."""
    units = [Unit(f"Passage {i}.", f"Question {i} of model {at}?", [model])
             for i in range(passages) for at, model in enumerate(models)]  # fmt: skip
    with writing(engine) as session:
        study = Study(project_id=project_id, run_id="gone", models=list(models), per_model=passages, seed=0)
        return add_study(session, study, units)


def rate_all(engine: Engine, project_id: int, study_id: int, said: Mapping[str, Sequence[bool]]) -> None:
    """Store this rating by each rater for the first units, the same on all criteria."""
    with reading(engine) as session:
        units = [unit.id for unit in units_of(session, study_id)]
    for rater, answers in said.items():
        for unit_id, answer in zip(units, answers, strict=False):
            rate(engine, project_id, unit_id, rater, dict.fromkeys(CRITERIA, answer))
