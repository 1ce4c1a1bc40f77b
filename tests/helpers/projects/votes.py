"""The number of people who must answer a pair."""

from sqlalchemy import Engine, update

from db.schema.engine import writing
from db.schema.tables import Task


def want(engine: Engine, votes: int) -> None:
    with writing(engine) as session:
        session.execute(update(Task).values(votes=votes))
