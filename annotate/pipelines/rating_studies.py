"""Studies: people rate questions that a run's models wrote about test passages, and do not see which model did.

Source of the criteria: paper 001, section 5.5; as there, a question is good or bad by each.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Engine

from annotate.access.roles import Right
from annotate.access.transactions import acting
from annotate.pipelines.runs import made
from db.domain import EventKind
from db.errors import InputError
from db.projects.events import add_event
from db.projects.projects import live_project
from db.projects.studies import (
    CRITERIA,
    Scores,
    Unit,
    add_ratings,
    add_study,
    count_rated,
    count_units,
    first_unrated,
    ratings_of,
    studies_of,
    study_of,
    unit_at,
)
from db.schema.engine import person_of, reading
from db.schema.tables import Study, StudyUnit

ASKED = "test-questions"  # the kind of what a run made
REFERENCE = "written by people"  # the questions of the test pairs, as if a model had asked them
DRAWN, SEED = 50, 0  # the paper rates 50 questions
BEGUN = ("no adaptation", "self-training, iteration 1", "back-training, iteration 1")  # the models of the paper's table
MOST = 5_000  # questions of a study


class Criterion(NamedTuple):
    """By what a question is rated: its name in files, its title, and what a rater is asked."""

    name: str
    title: str
    asks: str


TITLES = {
    "naturalness": ("Naturalness", "Is it fluent and grammatical?"),
    "coverage": ("Coverage", "Is it about the whole passage, not only a part?"),
    "correctness": ("Factual correctness", "Is all that it says, or takes for granted, true in its field?"),
    "answerability": ("Answerability", "Does the passage answer it?"),
}
RATED_BY = tuple(Criterion(name, *TITLES[name]) for name in CRITERIA)


@dataclass(frozen=True)
class Standing:
    """A study, how many questions it has, and how many of them each rater has rated."""

    study: Study
    units: int
    rated: dict[str, int]


@dataclass(frozen=True)
class Desk:
    """What a rater sees: the question in this place, and their rating of it if they gave one.

    No unit: everything is rated. before: the place of the question before this one, after: of the next one, where the
    rater may go on; nothing where there is none.
    """

    unit: StudyUnit | None
    scores: Scores
    rated: int
    units: int
    before: int | None
    after: int | None


def read_asked(path: Path) -> list[dict[str, Any]]:
    """The test passages: `passage`, `reference`, and `questions` by model. Raises InputError for another file."""
    with path.open(encoding="utf-8") as file:
        try:
            found = [json.loads(line) for line in file]
            return [{"passage": row["passage"], REFERENCE: row["reference"], **row["questions"]} for row in found]
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path.name} does not hold questions about passages; run the pipeline again") from None


def asked_by(path: Path) -> list[str]:
    """The models whose questions the file holds, the people's last."""
    with path.open(encoding="utf-8") as file:
        first = file.readline()
    return [*json.loads(first)["questions"], REFERENCE] if first else []


def draw(rows: Sequence[dict[str, Any]], models: Sequence[str], passages: int, rng: np.random.Generator) -> list[Unit]:
    """What the models ask about so many passages drawn at random, in an order by chance.

    All models ask about the same passages, so that differences between them do not come of those. What several ask
    alike is one unit. Raises InputError where there are fewer passages.
    """
    distinct = list({row["passage"]: row for row in reversed(rows)}.values())[::-1]
    if passages > len(distinct):
        raise InputError(f"the run has {len(distinct):,} test passages, so {passages:,} cannot be drawn")
    units = []
    for at in rng.choice(len(distinct), passages, replace=False).tolist():
        by_question: dict[str, list[str]] = {}
        for model in models:
            by_question.setdefault(distinct[at][model], []).append(model)
        units += [Unit(distinct[at]["passage"], question, who) for question, who in by_question.items()]
    return [units[at] for at in rng.permutation(len(units)).tolist()]


def start(
    engine: Engine, project_id: int, run_id: str, number: int, models: Sequence[str], passages: int, seed: int
) -> int:
    """The id of a new study of these models' questions about so many passages. number: among what the run made.

    Raises InputError for models that the run has not, and for more than it has or people could rate.
    """
    found = made(engine, project_id, run_id, number)
    if found.kind != ASKED:
        raise InputError(f"{found.title} holds no questions about test passages")
    if not models:
        raise InputError("choose at least one model")
    if unknown := [model for model in models if model not in asked_by(found.path)]:
        raise InputError(f"there is no model {unknown[0]!r} in this run: reload the page")
    if not 1 <= passages <= MOST // len(models):
        raise InputError(f"{passages:,} questions of each of {len(models)} models: {MOST:,} can be rated in all")
    units = draw(read_asked(found.path), models, passages, np.random.default_rng(seed))
    with acting(engine, Right.CHANGE, project_id) as session:
        live_project(session, project_id)
        study = Study(project_id=project_id, run_id=run_id, models=list(models), per_model=passages, seed=seed)
        return add_study(session, study, units)


def list_studies(engine: Engine, project_id: int) -> list[Standing]:
    """The project's studies with how far they are, the newest first."""
    with reading(engine) as session:
        return [
            Standing(study, count_units(session, study.id), count_rated(session, study.id))
            for study in studies_of(session, project_id)
        ]


def desk(engine: Engine, project_id: int, study_id: int, rater: str, position: int | None = None) -> Desk:
    """What the rater sees: the question in this place, or the first that they have not rated.

    Raises InputError where the project has no such study.
    """
    with reading(engine) as session:
        study_of(session, project_id, study_id)
        units, rated = count_units(session, study_id), count_rated(session, study_id).get(rater, 0)
        unrated = first_unrated(session, study_id, rater)
        end = units if unrated is None else unrated
        at = end if position is None else min(max(position, 0), end)
        unit = unit_at(session, study_id, at)
        own = ratings_of(session, study_id, rater, unit.id) if unit else []
    return Desk(unit, own[0].scores if own else {}, rated, units, at - 1 if at else None, at + 1 if at < end else None)


def own_scores(engine: Engine, unit: StudyUnit, rater: str) -> Scores:
    """What the rater said of the unit last; empty where they have not rated it."""
    with reading(engine) as session:
        found = ratings_of(session, unit.study_id, rater, unit.id)
    return found[0].scores if found else {}


def rate(engine: Engine, project_id: int, unit_id: int, rater: str, scores: Scores) -> None:
    """Nothing; the rating is stored and takes the place of what the rater said of the unit before.

    Raises InputError for a unit that is not the project's, and where a criterion is missing or unknown.
    """
    if set(scores) != set(CRITERIA):
        raise InputError(f"a rating has {', '.join(CRITERIA)}, not {', '.join(scores) or 'nothing'}")
    with acting(engine, Right.LABEL, project_id, rater) as session:
        live_project(session, project_id)
        unit = session.get(StudyUnit, unit_id)
        if unit is None or unit.project_id != project_id:
            raise InputError(f"this project has no question number {unit_id} to rate: reload the page")
        add_ratings(session, project_id, rater, [(unit_id, scores)])


def remove(engine: Engine, project_id: int, study_id: int) -> None:
    """Nothing; the study is gone with its ratings. Raises InputError where the project has no such one."""
    with acting(engine, Right.CHANGE, project_id) as session:
        study = study_of(session, project_id, study_id)
        add_event(session, person_of(engine), EventKind.STUDY_REMOVED, project_id, old={"run": study.run_id})
        session.delete(study)
