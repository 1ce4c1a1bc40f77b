"""The progress of a project, as far as it decides the effects of changed settings."""

from dataclasses import dataclass

from sqlalchemy import Engine

from allpairs.db.domain import Split
from allpairs.db.labels.answers import label_counts
from allpairs.db.labels.tasks import newest_round
from allpairs.db.projects.evaluations import gold_counts
from allpairs.db.projects.items import item_counts
from allpairs.db.projects.jobs import open_job
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.schema.engine import reading


@dataclass(frozen=True)
class Situation:
    """The progress of one project."""

    items: int
    labels: int
    batch: int  # number of the newest batch, 0 before the first one
    matcher: int | None  # number of the newest model, 0 for the pre-trained encoder, None before that
    gold: bool  # whether known pairs are used for measuring
    measured_items: int  # evaluation items
    at_work: bool  # whether a job waits or runs

    @property
    def trained(self) -> bool:
        """Whether there is a trained model."""
        return bool(self.matcher)


def situation_of(engine: Engine, project_id: int) -> Situation:
    """Return the progress of the project."""
    with reading(engine) as session:
        items = item_counts(session, project_id)
        newest = newest_round(session, project_id)
        matcher = newest_matcher(session, project_id)
        return Situation(
            items=sum(items.values()),
            labels=sum(label_counts(session, project_id).values()),
            batch=(newest.number or 0) if newest else 0,
            matcher=matcher.number if matcher else None,
            gold=gold_counts(session, project_id)[1] > 0,
            measured_items=sum(count for (_, split), count in items.items() if split == Split.EVALUATION),
            at_work=open_job(session, project_id) is not None,
        )
