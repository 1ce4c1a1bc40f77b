"""Measure the groups of every matcher, by every clustering: on the texts of the entity audit, and by known pairs."""

from typing import Any

import numpy as np
from sqlalchemy import Engine

from allpairs.db.domain import DesignKind
from allpairs.db.labels.answers import known_answers
from allpairs.db.labels.audits import designs_of
from allpairs.db.progress import Progress
from allpairs.db.projects.matchers import matchers_of
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Design, StoredModel
from allpairs.learner.evaluation.entities.figures import entity_figures
from allpairs.learner.evaluation.entities.sample import EntitySample, draw_unseen, grouped
from allpairs.learner.jobs.data.evaluation_snapshot import has_model, knows, population
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.entities.draw import corpus_of
from allpairs.learner.jobs.entities.exact import measure_exactly
from allpairs.learner.jobs.entities.groups import groups_of
from allpairs.learner.jobs.entities.stored import read_sample

FEWEST = 20  # texts that must be complete before there are figures
FEW = "too few texts are complete to measure the groups"


def measure_groups(engine: Engine, project_id: int, data: ProjectData, progress: Progress) -> str:
    """Store the figures of every matcher's groups, by the known pairs and by the audit; return a summary."""
    exact, audited = (measure(engine, project_id, data, progress) for measure in (measure_exactly, _measure_by_audit))
    if exact:
        return " and ".join(["the groups are measured exactly", *([f"on {audited} texts"] if audited else [])])
    return f"the groups are measured on {audited} texts" if audited else FEW


def _measure_by_audit(engine: Engine, project_id: int, data: ProjectData, progress: Progress) -> int:
    """Store the figures with the newest design that has enough texts; return how many these are, 0 without any."""
    with reading(engine) as session:
        answers = known_answers(session, project_id)
        designs = designs_of(session, project_id, DesignKind.ENTITIES)
        matchers = {matcher.id: matcher for matcher in matchers_of(session, project_id) if has_model(matcher)}
    for design in reversed(designs):
        if design.matcher_id not in matchers:
            continue
        texts = data.measuring_by(design.details.get("texts", 0))
        view = data.within(texts)  # minus those withdrawn since
        sample = read_sample(design, corpus_of(view, matchers[design.matcher_id], progress), answers)
        enough = len(sample.texts) >= FEWEST
        newest = max(matchers.values(), key=lambda matcher: matcher.number)
        known = [matcher for matcher in matchers.values() if matcher is newest or knows(matcher, view)]
        rounds = _rounds(view, known, sample, design, progress) if enough else {}
        _store(engine, design, sample, rounds)
        if enough:
            return len(sample.texts)
    return 0


def _rounds(
    data: ProjectData, matchers: list[StoredModel], sample: EntitySample, design: Design, progress: Progress
) -> dict[str, Any]:
    """Return the figures by round and clustering, all from the same draws of what was not labelled."""
    seed = [data.settings.seed, design.number]
    draws = draw_unseen(sample, np.random.default_rng(seed))
    rounds: dict[str, Any] = {}
    for matcher in matchers:
        of_round = groups_of(matcher, corpus_of(data, matcher, progress), population(data), progress)
        for clustering, group in of_round.items():
            rng = np.random.default_rng([*seed, 1])  # the same texts weigh more in the draws of all of them
            estimates = entity_figures(draws, grouped(sample, group), data.dataset.symmetric, rng)
            of_clustering = rounds.setdefault(str(matcher.number), {})
            of_clustering[clustering.value] = {name: estimate.as_dict() for name, estimate in estimates.items()}
    return rounds


def _store(engine: Engine, design: Design, sample: EntitySample, rounds: dict[str, Any]) -> None:
    """Keep the figures, and how many texts are complete, with the design."""
    positives = int(sample.pairs.positive.sum())
    results: dict[str, Any] = {"complete": len(sample.texts), "labels": len(sample.pairs), "positives": positives}
    with writing(engine) as session:
        row = session.get_one(Design, design.id)
        before = row.details.get("found", {}).get("rounds", {}) if rounds else {}
        results["rounds"] = before | rounds  # rounds older than some of the texts keep their figures
        row.details = row.details | {"found": results}
