"""Previews of the next pairs in the app: requested and shown."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.projects.projects import checked_settings
from allpairs.annotate.frame.access.other_projects import require_new_models
from allpairs.annotate.kit.jobs.prepared import ShownPair, described_pairs
from allpairs.annotate.kit.jobs.requests import request_apart
from allpairs.db.projects.jobs import PREVIEW
from allpairs.db.projects.projects import project_of
from allpairs.db.results.job_results import Preview
from allpairs.db.schema.engine import reading

# Settings that decide which pairs are chosen. The model does too, but that is always the newest one.
DECIDES = ("strategy", "neighbours", "search", "per_text", "control_share", "seed")
UNTRAINED = ("encoder", "first_batch")  # decide, too, while there is no model


def request_preview(engine: Engine, project_id: int, entered: Mapping[str, Any]) -> str:
    """Request the job that previews a batch under these settings, stored or not; return its id.

    It waits in the queue while another job runs. Raises InputError for invalid settings and while another preview is
    open, and Refused for new models that the person may not use.
    """
    settings = checked_settings(entered)

    def check(session: Session, project_id: int) -> None:
        require_new_models(session, settings, project_of(session, project_id).settings)

    return request_apart(engine, project_id, PREVIEW, settings.model_dump(), check=check)


def previewed_pairs(engine: Engine, project_id: int, preview: Preview) -> list[ShownPair]:
    """Return the pairs of the preview in their order."""
    pairs = [(pair.left_id, pair.right_id) for pair in preview.pairs]
    scores = [pair.score for pair in preview.pairs]
    with reading(engine) as session:
        return described_pairs(session, project_id, pairs, scores, [pair.p for pair in preview.pairs])


def changed_since(preview: Preview, entered: Mapping[str, Any]) -> list[str]:
    """Return the deciding fields that were entered differently for the preview."""
    fields = DECIDES + (UNTRAINED if preview.matcher is None else ())
    return [name for name in fields if entered[name] != preview.settings.get(name)]
