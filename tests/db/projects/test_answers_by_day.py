"""The answers of each day: what was undone is none, what was changed is one of its day."""

from datetime import timedelta

from sqlalchemy import Engine

from allpairs.db.projects.project_list import answers_by_day
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import now
from tests.helpers.factories import make_project, make_round
from tests.helpers.projects.labels import N, P, R, S, answer


def test_undone_answers_are_none(engine: Engine) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(6)])
    make_round(engine, project_id, 4)
    answer(engine, project_id, (0, P), (1, N), (2, P), (3, S), who="ann")
    answer(engine, project_id, (1, R), (2, N), who="ann")
    answer(engine, project_id, (0, R), who="bob")  # of another person, who has no answer there
    today = now().replace(hour=0, minute=0, second=0, microsecond=0)
    with reading(engine) as session:
        counts = answers_by_day(session, [project_id], [today - timedelta(days=1), today])
    assert sum(counts[project_id]) == 3
