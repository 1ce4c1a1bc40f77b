"""Use a pipeline's re-ranker to order the project's batches."""

from sqlalchemy import Engine

from allpairs.annotate.pipelines.runs import made
from allpairs.annotate.projects.progress import situation_of
from allpairs.annotate.projects.projects import update_settings
from allpairs.annotate.projects.setting_effects import implications
from allpairs.db.domain import BatchOrder, Settings
from allpairs.db.errors import InputError
from allpairs.db.projects.projects import live_project
from allpairs.db.results.pipelines import RERANKER
from allpairs.db.schema.engine import reading


def orders_batches(engine: Engine, project_id: int, run_id: str, number: int) -> BatchOrder | None:
    """Return how the run's re-ranker orders the project's batches; None if it does not."""
    settings, folder = _settings(engine, project_id), made(engine, project_id, run_id, number).path
    return settings.batch_order if settings.reranker == str(folder) else None


def plan_order(
    engine: Engine, project_id: int, run_id: str, number: int, order: BatchOrder
) -> tuple[Settings, list[str]]:
    """Return the project's settings with this order by the run's re-ranker, and the effects in words.

    There are none if it is already in use. Raises InputError if the run made no re-ranker of that number.
    """
    found = made(engine, project_id, run_id, number)
    if found.kind != RERANKER:
        raise InputError(f"{found.title} is not a re-ranker: choose a re-ranker to order batches")
    old = _settings(engine, project_id)
    new = old.model_copy(update={"reranker": str(found.path), "batch_order": order})
    return new, [] if new == old else implications(old, new, situation_of(engine, project_id))


def use_order(engine: Engine, project_id: int, run_id: str, number: int, order: BatchOrder) -> None:
    """Order the project's batches by the run's re-ranker from the next one on. Raises as `plan_order` does."""
    update_settings(engine, project_id, plan_order(engine, project_id, run_id, number, order)[0])


def stop_order(engine: Engine, project_id: int) -> None:
    """Return to the strategy's own order from the next batch on."""
    update_settings(engine, project_id, _settings(engine, project_id).model_copy(update={"reranker": ""}))


def _settings(engine: Engine, project_id: int) -> Settings:
    with reading(engine) as session:
        return Settings.model_validate(live_project(session, project_id).settings)
