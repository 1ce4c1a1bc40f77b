"""Rating studies: people rate questions that a run's models wrote about test passages, without seeing which model.

Source of the criteria: Kulshreshtha et al. (2021), section 5.5; as there, each criterion is rated good or bad.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Engine

from allpairs.annotate.features.papers.runs import run_output
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.text.measures import counted
from allpairs.db.domain import EventKind
from allpairs.db.errors import InputError
from allpairs.db.projects.events import add_event
from allpairs.db.projects.jobs import run_of
from allpairs.db.projects.studies import (
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
from allpairs.db.schema.engine import person_of, reading
from allpairs.db.schema.tables import Study, StudyUnit

TEST_QUESTIONS = "test-questions"  # the kind of a run's output
REFERENCE = "written by people"  # the test pairs' own questions, treated like a model's
DRAWN = 50  # questions to rate, as many as in the paper
SEED = 0
BEGUN = ("no adaptation", "self-training, iteration 1", "back-training, iteration 1")  # the models in the paper's table
MOST = 5_000  # questions in a study


class Criterion(NamedTuple):
    """A rating criterion: its name in files, its title, and the question for raters."""

    name: str
    title: str
    asks: str


TITLES = {
    "naturalness": (later("Naturalness"), later("Is it fluent and grammatical?")),
    "coverage": (later("Coverage"), later("Is it about the whole passage, not only a part?")),
    "correctness": (later("Factual correctness"), later("Is everything it states or implies true in its field?")),
    "answerability": (later("Answerability"), later("Does the passage answer it?")),
}
RATED_BY = tuple(Criterion(name, *TITLES[name]) for name in CRITERIA)


@dataclass(frozen=True)
class StudyStanding:
    """A study, its number of questions, and how many of them each rater has rated."""

    study: Study
    units: int
    rated: dict[str, int]


@dataclass(frozen=True)
class RatingDesk:
    """What a rater sees: the question at this place, and their rating of it, if any.

    No unit: everything is rated. before: the place of the previous question, after: of the next one that the rater may
    open; None if there is none.
    """

    unit: StudyUnit | None
    scores: Scores
    rated: int
    units: int
    before: int | None
    after: int | None


def read_test_questions(path: Path) -> list[dict[str, Any]]:
    """Return the test passages: `passage`, `reference`, and questions by model. Raises InputError for another file."""
    with path.open(encoding="utf-8") as file:
        try:
            rows = [json.loads(line) for line in file]
            return [{"passage": row["passage"], REFERENCE: row["reference"], **row["questions"]} for row in rows]
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path.name} does not hold questions about passages; run the pipeline again") from None


def asked_by(path: Path) -> list[str]:
    """Return the models whose questions the file holds, with the people's last."""
    with path.open(encoding="utf-8") as file:
        first = file.readline()
    return [*json.loads(first)["questions"], REFERENCE] if first else []


def draw_units(
    rows: Sequence[dict[str, Any]], models: Sequence[str], passages: int, rng: np.random.Generator
) -> list[Unit]:
    """Return the models' questions about randomly sampled passages, in random order.

    All models are asked about the same passages, so that passages do not cause differences between them. Identical
    questions of several models are one unit. Raises InputError if there are too few passages.
    """
    distinct = list({row["passage"]: row for row in reversed(rows)}.values())[::-1]
    if passages > len(distinct):
        raise InputError(f"the run has {counted(len(distinct), 'test passage')}: choose {len(distinct):,} or fewer")
    units = []
    for i in rng.choice(len(distinct), passages, replace=False).tolist():
        by_question: dict[str, list[str]] = {}
        for model in models:
            by_question.setdefault(distinct[i][model], []).append(model)
        units += [Unit(distinct[i]["passage"], question, model_names) for question, model_names in by_question.items()]
    return [units[i] for i in rng.permutation(len(units)).tolist()]


def start_study(
    engine: Engine, project_id: int, run_id: str, number: int, models: Sequence[str], passages: int, seed: int
) -> int:
    """Start a study of these models' questions about so many passages; return its id. number: the output's place.

    Raises InputError for models that the run does not have, and for more questions than it has or people could rate.
    """
    output = run_output(engine, project_id, run_id, number)
    if output.kind != TEST_QUESTIONS:
        raise InputError(f"{output.title} has no questions about test passages")
    if not models:
        raise InputError("choose at least one model")
    if unknown := [model for model in models if model not in asked_by(output.path)]:
        raise InputError(f"there is no model {unknown[0]!r} in this run: reload the page")
    if not 1 <= passages <= MOST // len(models):
        most = f"{MOST // len(models):,} passages for {counted(len(models), 'model')}"
        raise InputError(f"choose 1 to {most}, not {passages:,}: people can rate {MOST:,} questions in all")
    units = draw_units(read_test_questions(output.path), models, passages, np.random.default_rng(seed))
    with acting(engine, Right.CHANGE, project_id) as session:
        run_of(session, project_id, run_id)
        study = Study(project_id=project_id, run_id=run_id, models=list(models), per_model=passages, seed=seed)
        return add_study(session, study, units)


def list_studies(engine: Engine, project_id: int) -> list[StudyStanding]:
    """Return the project's studies with their progress, the newest first."""
    with reading(engine) as session:
        return [
            StudyStanding(study, count_units(session, study.id), count_rated(session, study.id))
            for study in studies_of(session, project_id)
        ]


def desk(engine: Engine, project_id: int, study_id: int, rater: str, position: int | None = None) -> RatingDesk:
    """Return what the rater sees: the question at this place, or the first that they have not rated.

    Raises InputError if the project has no such study.
    """
    with reading(engine) as session:
        study_of(session, project_id, study_id)
        units = count_units(session, study_id)
        rated = count_rated(session, study_id).get(rater, 0)
        unrated = first_unrated(session, study_id, rater)
        end = units if unrated is None else unrated
        place = end if position is None else min(max(position, 0), end)
        unit = unit_at(session, study_id, place)
        stored = ratings_of(session, study_id, rater, unit.id) if unit else []
    scores = stored[0].scores if stored else {}
    return RatingDesk(unit, scores, rated, units, place - 1 if place else None, place + 1 if place < end else None)


def own_scores(engine: Engine, unit: StudyUnit, rater: str) -> Scores:
    """Return the rater's last rating of the unit; empty if there is none."""
    with reading(engine) as session:
        ratings = ratings_of(session, unit.study_id, rater, unit.id)
    return ratings[0].scores if ratings else {}


def store_rating(engine: Engine, project_id: int, unit_id: int, rater: str, scores: Scores) -> None:
    """Store the rating, which replaces the rater's earlier one of the unit.

    Raises InputError for a unit of another project, and if a criterion is missing or unknown.
    """
    if set(scores) != set(CRITERIA):
        raise InputError(f"a rating needs {', '.join(CRITERIA)}, not {', '.join(scores) or 'nothing'}")
    with acting(engine, Right.LABEL, project_id, rater) as session:
        unit = session.get(StudyUnit, unit_id)
        if unit is None or unit.project_id != project_id:
            raise InputError(f"this project has no question number {unit_id} to rate: reload the page")
        add_ratings(session, project_id, rater, [(unit_id, scores)])


def remove_study(engine: Engine, project_id: int, study_id: int) -> None:
    """Remove the study with its ratings. Raises InputError if the project has no such study."""
    with acting(engine, Right.CHANGE, project_id) as session:
        study = study_of(session, project_id, study_id)
        add_event(session, person_of(engine), EventKind.STUDY_REMOVED, project_id, old={"run": study.run_id})
        session.delete(study)
