"""Previews of the next pairs in the app: requested, awaited, shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from allpairs.annotate.features.projects.projects import checked_settings
from allpairs.annotate.kit.jobs.requests import request_preview
from allpairs.db.projects.items import item_texts
from allpairs.db.results.previews import Preview, read_preview
from allpairs.db.schema.engine import reading

# Settings that decide which pairs are chosen. The model does too, but that is always the newest one.
DECIDES = ("strategy", "neighbours", "search", "per_text", "control_share", "seed")
UNTRAINED = ("encoder", "first_batch")  # decide, too, while there is no model


@dataclass(frozen=True)
class PreviewedPair:
    """Both texts of a pair, its score under the newest model, and p if that is a trained one."""

    left: str
    right: str
    score: float
    p: float | None


def request_batch_preview(engine: Engine, project_id: int, entered: Mapping[str, Any]) -> str:
    """Request a preview of the next pairs under these settings, stored or not; return the job's id.

    Raises InputError for invalid settings, and while another preview is open.
    """
    return request_preview(engine, project_id, checked_settings(entered))


def last_preview(project_id: int, strategy: str) -> Preview | None:
    """Return the strategy's newest preview; None if there is none since the last round."""
    return read_preview(project_id, strategy)


def preview_pairs(engine: Engine, preview: Preview) -> list[PreviewedPair]:
    """Return the pairs of the preview in their order."""
    with reading(engine) as session:
        texts = item_texts(session, (id_ for pair in preview.pairs for id_ in (pair.left_id, pair.right_id)))
    return [PreviewedPair(texts[pair.left_id], texts[pair.right_id], pair.score, pair.p) for pair in preview.pairs]


def changed_since(preview: Preview, entered: Mapping[str, Any]) -> list[str]:
    """Return the deciding fields that were entered differently for the preview."""
    fields = DECIDES + (UNTRAINED if preview.matcher is None else ())
    return [name for name in fields if entered[name] != preview.settings.get(name)]
