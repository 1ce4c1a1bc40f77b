"""Previews for tests, written as the job writes them."""

from typing import Any

from sqlalchemy import Engine, select

from allpairs.db.domain import Settings
from allpairs.db.results.previews import Preview, PreviewPair, write_preview
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item

ENTERED: dict[str, Any] = Settings.model_validate({}).model_dump()


def make_preview(
    engine: Engine, project_id: int, matcher: int | None = 2, p: float | None = 0.6, **entered: Any
) -> Preview:
    """Store a preview of one pair and return it."""
    with reading(engine) as session:
        left, right = session.scalars(select(Item.id).order_by(Item.id).limit(2)).all()
    made = Preview("preview-1", ENTERED | entered, "uncertainty", matcher, [PreviewPair(left, right, 0.75, p)])
    write_preview(project_id, made)
    return made
