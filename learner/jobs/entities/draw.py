"""Draw texts for an entity audit, and make tasks of their pairs that nobody has answered yet."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import Clustering, DesignKind
from allpairs.db.labels.audits import add_audit_tasks, newest_design
from allpairs.db.labels.withdrawn import open_batch
from allpairs.db.progress import Progress
from allpairs.db.schema.tables import Design, Round, StoredModel
from allpairs.learner.evaluation.entities.drawing import Plan, TextPopulation, draw_plan
from allpairs.learner.jobs.data.evaluation_snapshot import population, sides
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.stored_vectors import snapshot_under
from allpairs.learner.jobs.entities.groups import groups_of
from allpairs.learner.jobs.entities.stored import Answers, design_columns, pairs_as_items


def corpus_of(data: ProjectData, matcher: StoredModel, progress: Progress) -> TextPopulation:
    """Return the evaluation texts as the matcher sees them."""
    snapshot = snapshot_under(data, matcher, None, progress)
    return TextPopulation(sides(data, snapshot.vectors, rescored=snapshot.rescored), matcher.project_id)


def plan_audit(
    data: ProjectData, matcher: StoredModel, drawn: int, progress: Progress
) -> tuple[Plan, TextPopulation, dict[str, Any]]:
    """Draw so many texts under the matcher, by the size of their groups; return also the design's columns."""
    corpus = corpus_of(data, matcher, progress)
    ranking = snapshot_under(data, matcher, None, progress).ranking
    group = groups_of(matcher, corpus, population(data), progress).get(Clustering.CONNECTED, np.arange(len(corpus)))
    plan = draw_plan(corpus, ranking, group, drawn)
    columns = design_columns(plan, corpus, ranking) | {"pairs": ranking.pairs}
    return plan, corpus, columns | {"details": columns["details"] | {"texts": data.version}}


def drawn_before(session: Session, project_id: int) -> int:
    """Return how many texts the newest design has."""
    design = newest_design(session, project_id, DesignKind.ENTITIES)
    return 0 if design is None else len(design.details["weights"])


def store_entity_design(
    session: Session, matcher: StoredModel, folder: str, columns: dict[str, Any], tasks: list[dict[str, Any]]
) -> Design:
    """Store the design and, if there are tasks, their audit batch. folder: names the job, which stores it once."""
    project_id = matcher.project_id
    last = session.scalar(select(func.max(Design.number)).where(Design.project_id == project_id)) or 0
    design = Design(
        project_id=project_id,
        number=last + 1,
        kind=DesignKind.ENTITIES,
        matcher_id=matcher.id,
        folder=folder,
        **columns,
    )
    session.add(design)
    session.flush()
    if tasks:
        batch = Round(project_id=project_id, strategy=DesignKind.ENTITIES, size=len(tasks), matcher_id=matcher.id)
        session.add(batch)
        session.flush()
        add_audit_tasks(session, batch, design, tasks)
        open_batch(session, batch)
    return design


def entity_tasks(
    plan: Plan, corpus: TextPopulation, answers: Answers, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the columns of the tasks, text by text in random order; a pair of two drawn texts is asked once."""
    return [row | {"position": place} for place, row in enumerate(_rows(plan, corpus, answers, rng))]


def _rows(plan: Plan, corpus: TextPopulation, answers: Answers, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    answered = set(answers)
    share = np.r_[plan.bands.share, 1.0]
    for place in rng.permutation(len(plan.texts)).tolist():
        pairs = plan.pairs[place]
        text = int(plan.texts[place])
        texts = np.full(len(pairs.partner), text)
        scores = corpus.scores(texts, pairs.partner).tolist()
        items = pairs_as_items(corpus, np.column_stack([texts, pairs.partner]))
        for (left, right), band, score in zip(items, pairs.band.tolist(), scores, strict=True):
            if (left, right) not in answered:
                answered.add((left, right))
                yield {
                    "left_id": left,
                    "right_id": right,
                    "score": score,
                    "stratum": band,
                    "inclusion": float(share[band]),
                    "turned": right == corpus.ids[text],
                }
