"""What some strategies need besides the newest model, for a live project."""

from sqlalchemy import Engine, func, select

from allpairs.db.domain import Settings
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Answer
from allpairs.learner.jobs.data.project_data import ProjectData, read_labels
from allpairs.learner.jobs.data.stored_vectors import pretrained_vectors
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.strategies.pool import Background


def background_of(
    engine: Engine, project_id: int, data: ProjectData, settings: Settings, progress: Progress
) -> Background:
    """Return the labels so far and, if the settings' strategy is static, the pre-trained vectors."""
    with reading(engine) as session:
        newest = session.scalar(select(func.max(Answer.id)).where(Answer.project_id == project_id)) or 0
        labelled = read_labels(session, project_id, data, newest)
    static = STRATEGIES[settings.strategy].static
    pretrained = pretrained_vectors(project_id, data, settings, progress) if static else None
    return Background(labelled, pretrained)
