"""The number of people who must answer a pair."""

from sqlalchemy import Engine, update

from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Task


def want(engine: Engine, votes: int) -> None:
    with writing(engine) as session:
        session.execute(update(Task).values(votes=votes))
