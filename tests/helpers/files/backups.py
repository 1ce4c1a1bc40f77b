"""A project that uses every feature, and all rows of a database, for tests of back-ups."""

from typing import Any

from sqlalchemy import Engine, select

from allpairs.annotate.labelling.queue import record, serve
from allpairs.db.domain import AnswerKind
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Base, Matcher
from tests.helpers.factories import make_project, make_round


def label_some(engine: Engine, name: str = "Questions") -> int:
    """Make a project with answers, one of them corrected, and a waiting job; return its id."""
    project = make_project(engine, [f"text {i}" for i in range(4)], name=name, auto_train=False)
    make_round(engine, project, 5)
    tasks = [pair.task_id for pair in serve(engine, project, "ann")[0]]
    acts = [(0, AnswerKind.POSITIVE), (1, AnswerKind.NEGATIVE), (0, AnswerKind.NEGATIVE), (2, AnswerKind.UNSURE)]
    events = [
        {"key": f"{name}-{at}", "task_id": tasks[task], "answer": answer, "seconds": 1.5}
        for at, (task, answer) in enumerate(acts)
    ]
    assert record(engine, project, "ann", events).refused == {}
    with writing(engine) as session:
        add_job(session, project, "round")
        session.add(Matcher(project_id=project, number=0, folder=f"{project}/model", encoder="e", w=None, b=None))
    folder = artifacts() / str(project) / "model"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "weights").write_text("weights")
    return project


def contents(engine: Engine, without: tuple[str, ...] = ("leases", "workers", "jobs")) -> dict[str, list[Any]]:
    """Return all rows of all tables."""
    with reading(engine) as session:
        tables = [table for table in Base.metadata.sorted_tables if table.name not in without]
        return {table.name: sorted(map(repr, session.execute(select(table)).all())) for table in tables}
