"""Questions about a passage, suggested by a run's generator: requested, awaited, read."""

from sqlalchemy import Engine

from allpairs.annotate.features.papers.runs import run_output
from allpairs.annotate.kit.jobs.requests import request_suggestions
from allpairs.db.domain import Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.items import items_with
from allpairs.db.projects.projects import live_project
from allpairs.db.results.suggestions import Asked, Suggestion, read_suggestions
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item

GENERATOR = "generator"  # the kind of a run's output
# passages to choose from, questions to suggest
MOST_PASSAGES = 10
MOST_QUESTIONS = 5


def passages_with(engine: Engine, project_id: int, words: str) -> list[Item]:
    """Return the first passages with all these words, of the right list if there are two.

    Without words, return the first passages of all.
    """
    with reading(engine) as session:
        two_lists = live_project(session, project_id).kind == Kind.BIPARTITE
        side = Side.RIGHT if two_lists else Side.LEFT
        return items_with(session, project_id, words.split(), MOST_PASSAGES, side)


def request_questions(engine: Engine, project_id: int, request: Asked) -> str:
    """Request the job in which the generator asks; return its id. Raises InputError if it or the passage is missing."""
    if run_output(engine, project_id, request.run_id, request.number).kind != GENERATOR:
        raise InputError("this is not a generator: choose another output of the run")
    return request_suggestions(engine, project_id, request.run_id, request.number, request.item_id, MOST_QUESTIONS)


def last_suggestions(request: Asked) -> list[Suggestion] | None:
    """Return the last suggestions, the likeliest first; None if nobody has asked."""
    return read_suggestions(request)
