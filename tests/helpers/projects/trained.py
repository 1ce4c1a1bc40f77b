"""A project whose models real jobs have trained, from a tiny encoder."""

from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select

from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Matcher as Row
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import answer_batch, half, run, texts


def trained(
    engine: Engine, encoder: Path, name: str = "Questions", right: int = 0, rounds: int = 1, **settings: Any
) -> Row:
    """Return the last matcher of a project of 60 texts and `right` more, after so many labelled batches."""
    whole = texts(60 + right)
    if settings.get("reranker"):
        settings["reranker"] = str(encoder.parent / "reranker")
    project_id = make_project(
        engine, whole[:60], whole[60:], name, evaluation=20, encoder=str(encoder), first=30, neighbours=10, epochs=1,
        learning_rate=1e-3, first_batch="most-similar", **settings,
    )  # fmt: skip
    run(engine, project_id)
    for _ in range(rounds):
        answer_batch(engine, project_id, half)
        run(engine, project_id)
    with reading(engine) as session:
        row = session.scalars(select(Row).where(Row.project_id == project_id, Row.number == rounds)).one()
    assert ("features" in row.details.get("second_stage", {})) == (settings.get("second_stage") == "on")
    return row
