"""The likely sentence of each passage of a batch."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Task
from allpairs.learner.jobs.data.mark_sentences import mark_passages
from tests.helpers.factories import make_project, make_round
from tests.helpers.tiny import tiny_encoder

QUESTIONS = ["who wrote the book", "when did the train leave"]
FILLER = [f"Sentence number {i} is about something else altogether." for i in range(6)]
PASSAGE = " ".join([*FILLER, "Who wrote the book?", *FILLER[:2]])
SHORT = "When did the train leave? At noon."


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    return str(tiny_encoder(tmp_path, [*QUESTIONS, PASSAGE, SHORT]))


def mark(engine: Engine, project_id: int) -> list[tuple[int | None, int | None]]:
    """Run the step and return the likely sentence of each task."""
    with writing(engine) as session:
        job_id = add_job(session, project_id, "next_round").id
    mark_passages(job_id, project_id)
    with reading(engine) as session:
        tasks = session.scalars(select(Task).where(Task.project_id == project_id).order_by(Task.position)).all()
    return [(task.likely_start, task.likely_end) for task in tasks]


def test_passages_get_a_sentence_and_short_texts_none(engine: Engine, home: Path, encoder: str) -> None:
    project_id = make_project(engine, QUESTIONS[:1], [PASSAGE, SHORT], encoder=encoder)
    make_round(engine, project_id, 2)
    (passage, short) = mark(engine, project_id)
    assert short == (None, None)
    start, end = passage
    assert PASSAGE[start:end] == "Who wrote the book?"
    assert mark(engine, project_id) == [passage, short]  # a step that is run again changes nothing


def test_one_list_has_no_passages(engine: Engine, home: Path, encoder: str) -> None:
    project_id = make_project(engine, [PASSAGE, PASSAGE + " And more."], encoder=encoder)
    make_round(engine, project_id, 1)
    assert mark(engine, project_id) == [(None, None)]


def test_nothing_to_mark(engine: Engine, home: Path, encoder: str) -> None:
    assert mark(engine, make_project(engine, QUESTIONS, [PASSAGE], encoder=encoder)) == []
