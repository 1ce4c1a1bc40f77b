"""Measure the groups of every matcher, by every clustering, where known pairs say what the entities are."""

from typing import Any

import numpy as np
from sqlalchemy import Engine

from allpairs.db.corpus.graph import components
from allpairs.db.estimate import Estimate
from allpairs.db.progress import Progress
from allpairs.db.projects.matchers import GROUP_FIGURES, matchers_of
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.evaluation.entities.drawing import TextPopulation
from allpairs.learner.jobs.data.evaluation_snapshot import has_model, knows, population
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.entities.draw import corpus_of
from allpairs.learner.jobs.entities.groups import groups_of
from allpairs.learner.light.groups import measures


def measure_exactly(engine: Engine, project_id: int, data: ProjectData, progress: Progress) -> bool:
    """Store the exact figures of every matcher's groups; return whether known pairs give any.

    A matcher that is older than some of the texts keeps its figures.
    """
    if not len(data.dataset.evaluation_positives):
        return False
    with reading(engine) as session:
        matchers = [matcher for matcher in matchers_of(session, project_id) if has_model(matcher)]
    figures_by_matcher = {
        matcher.id: _by_clustering(data, matcher, progress)
        for matcher in matchers
        if matcher is matchers[0] or knows(matcher, data)
    }
    with writing(engine) as session:
        for matcher_id, figures in figures_by_matcher.items():
            row = session.get_one(StoredModel, matcher_id)
            row.details = row.details | {GROUP_FIGURES: figures}
    return True


def _by_clustering(data: ProjectData, matcher: StoredModel, progress: Progress) -> dict[str, Any]:
    corpus = corpus_of(data, matcher, progress)
    entity = entities_of(data, corpus)
    return {
        clustering.value: {
            name: estimate.as_dict() for name, estimate in exact_entity_figures(group, entity, corpus.second).items()
        }
        for clustering, group in groups_of(matcher, corpus, population(data), progress).items()
    }


def entities_of(data: ProjectData, corpus: TextPopulation) -> np.ndarray:
    """Return the entity of each text of the corpus, (n,) int64: what known positives connect; others are alone."""
    left, right = data.dataset.evaluation_positives.T
    if not data.dataset.symmetric:
        right = right + len(corpus.sides.left)
    return components(len(corpus), np.column_stack([left, right]))


def exact_entity_figures(group: np.ndarray, entity: np.ndarray, second: np.ndarray | None) -> dict[str, Estimate]:
    """Return the figures of an entity audit by name, exact: those that are defined. Arguments as in `measures`."""
    qualities = {
        "b_cubed": measures.b_cubed(group, entity, second),
        "pairwise": measures.pairwise(group, entity, second),
    }
    if second is None:
        qualities["cluster"] = measures.clusters(group, entity)
    parts = {
        f"{name}_{part}": getattr(quality, part)
        for name, quality in qualities.items()
        for part in ("precision", "recall", "f1")
    }
    return {name: Estimate(value, value, value, "exact") for name, value in parts.items() if value is not None}
