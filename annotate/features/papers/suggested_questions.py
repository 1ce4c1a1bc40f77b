"""Questions about a passage, suggested by a run's generator: requested."""

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.papers.runs import run_output
from allpairs.annotate.kit.jobs.requests import request_apart
from allpairs.db.domain import Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.items import item_of, items_with
from allpairs.db.projects.jobs import SUGGEST
from allpairs.db.projects.projects import live_project
from allpairs.db.results.job_results import SuggestionRequest
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item

GENERATOR = "generator"  # the kind of a run's output
MOST_PASSAGES = 10  # to choose from
MOST_SUGGESTIONS = 5


def passages_with(engine: Engine, project_id: int, words: str) -> list[Item]:
    """Return the first passages with all these words, of the right list if there are two.

    Without words, return the first passages of all.
    """
    with reading(engine) as session:
        two_lists = live_project(session, project_id).kind == Kind.BIPARTITE
        side = Side.RIGHT if two_lists else Side.LEFT
        return items_with(session, project_id, words.split(), MOST_PASSAGES, side)


def request_suggestions(engine: Engine, project_id: int, question: SuggestionRequest) -> str:
    """Request the job in which the generator asks about the passage; return its id. Several people may ask at once.

    Raises InputError if the output is no generator, or the run or the passage belongs to another project.
    """
    if run_output(engine, project_id, question.run_id, question.number).kind != GENERATOR:
        raise InputError("this is not a generator: choose another output of the run")

    def check(session: Session, project_id: int) -> None:
        item_of(session, project_id, question.item_id)

    arguments = question.run_id, question.number, question.item_id, MOST_SUGGESTIONS
    return request_apart(engine, project_id, SUGGEST, *arguments, check=check)
