"""Questions that a run's generator suggests about a passage: asked for, waited for, read."""

from sqlalchemy import Engine

from annotate.jobs.requests import request_suggestions
from annotate.pipelines.runs import made
from db.domain import Kind, Side
from db.errors import InputError
from db.projects.items import items_with
from db.projects.projects import live_project
from db.results.suggestions import Asked, Suggestion, read_suggestions
from db.schema.engine import reading
from db.schema.tables import Item

GENERATOR = "generator"  # the kind of what a run made
FOUND, WANTED = 10, 5  # passages that are offered, questions that are suggested


def passages_with(engine: Engine, project_id: int, words: str) -> list[Item]:
    """The first passages of the project that hold all these words, those of the right list where there are two.

    Without words the first of all.
    """
    with reading(engine) as session:
        two_lists = live_project(session, project_id).kind == Kind.BIPARTITE
        side = Side.RIGHT if two_lists else Side.LEFT
        return items_with(session, project_id, words.split(), FOUND, side)


def ask(engine: Engine, project_id: int, asked: Asked) -> str:
    """The id of the job that has the generator ask. Raises InputError where it or the passage is not the project's."""
    if made(engine, project_id, asked.run_id, asked.number).kind != GENERATOR:
        raise InputError("this is no generator: choose another thing that the run made")
    with reading(engine) as session:
        item = session.get(Item, asked.item_id)
    if item is None or item.project_id != project_id:
        raise InputError("this text is not one of the project: choose another one")
    return request_suggestions(engine, project_id, asked.run_id, asked.number, asked.item_id, WANTED)


def found(asked: Asked) -> list[Suggestion] | None:
    """What was suggested last, the likeliest first; nothing where nobody has asked."""
    return read_suggestions(asked)
