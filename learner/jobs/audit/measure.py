"""Measure the models of a project on its audit labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind, Settings
from allpairs.db.labels.audits import MOST_CHANGED, newest_design
from allpairs.db.progress import Progress
from allpairs.db.projects.evaluations import matchers_with_evaluations
from allpairs.db.projects.notices import announcing_target
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Design, Evaluation, StoredModel
from allpairs.learner.evaluation.audit.figures import as_estimate
from allpairs.learner.evaluation.audit.measure import (
    View,
    histogram,
    label_advice,
    labels_needed,
    measure,
    measure_top,
    model_changes,
    reached,
    strata_table,
)
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.reliability import by_tenth
from allpairs.learner.evaluation.audit.sample import Posterior, Sample
from allpairs.learner.jobs.audit.designs import AuditDesign, decided_among, make_design, read_designs
from allpairs.learner.jobs.audit.labels import LabelledAudit, posterior_of, read_usable
from allpairs.learner.jobs.data.evaluation_snapshot import (
    EvaluationSnapshot,
    blend_of,
    has_model,
    item_pair_scores,
    knows,
    sides,
    take_snapshot,
)
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.stored_vectors import snapshot_under
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.bare import KEY as BARE
from allpairs.learner.scoring.bare import bare_vectors
from allpairs.learner.search.exact import count_pairs
from allpairs.learner.search.top_pairs import best_pairs

BEYOND = 0.1  # share of a model's best pairs below the top that calls for a new design
MOST_BEYOND = 100_000  # of a model's best pairs, looked at at most


def is_measured(data: ProjectData) -> bool:
    """Return whether the project has evaluation pairs."""
    dataset = data.dataset
    return count_pairs(len(dataset.evaluation_left), len(dataset.evaluation_right), dataset.symmetric) > 0


def is_audited(data: ProjectData) -> bool:
    """Return whether audit labels alone measure the project: it has evaluation pairs, none of them a known positive."""
    return is_measured(data) and not len(data.dataset.evaluation_positives)


def measure_models(
    engine: Engine, project_id: int, data: ProjectData, progress: Progress, fresh: Mapping[int, np.ndarray]
) -> None:
    """Store every matcher's figures from all audit labels, and make a design if there is none.

    Where known positives measure the matchers, their figures stay; those with the positives that nobody named are
    stored beside them. Figures are of the texts of the design that they rest on, without those that were withdrawn
    since. A matcher keeps its figures if its model was not imported with its archive, or if it is older than some of
    these texts. fresh: the vectors of all items by matcher id, as far as they are at hand.
    """
    with reading(engine) as session:
        matchers = [matcher for matcher, _ in matchers_with_evaluations(session, project_id) if has_model(matcher)]
        has_design = newest_design(session, project_id, DesignKind.AUDIT) is not None
    newest = matchers[-1]
    if not has_design:
        make_design(engine, data, newest, snapshot_under(data, newest, fresh.get(newest.id), progress), progress)
    with reading(engine) as session:
        design, labelled = read_usable(session, project_id, data, read_designs(session, project_id, data))
    data = data.within(design.rows)
    matchers = [matcher for matcher in matchers if matcher is newest or knows(matcher, data)]
    # keep one model's vectors in memory at a time
    views = [
        _view(data, matcher, snapshot_under(data, matcher, fresh.get(matcher.id), progress), labelled)
        for matcher in matchers
    ]
    rng = np.random.default_rng([data.settings.seed, design.number])
    posterior = posterior_of(labelled, np.column_stack([view.ranks for view in views]), rng)
    top = design.strata.top
    more = label_advice(labelled.sample, posterior, top) if posterior else {"halve": None, "below": None}
    audits = [_audit(data.settings, design, labelled, posterior, view) | more for view in views]
    if posterior is None:
        rows = [_unmeasured(*columns, labelled) for columns in zip(matchers, views, audits, strict=True)]
    else:
        rank = _early_rank(labelled.sample, posterior, views[-1])
        audits[-1]["beyond"] = _beyond(data, design, take_snapshot(data, newest, None, progress), rank, progress)
        rows = _measured(matchers, views, audits, labelled.sample, posterior, rng)
    bare = _bare(data, newest, labelled, progress)
    with writing(engine) as session, announcing_target(session, project_id):
        for evaluation in rows:
            _store(session, evaluation, adds=not is_audited(data))
        if bare:
            session.get_one(StoredModel, newest.id).details = newest.details | bare
        row = session.get_one(Design, design.id)
        row.details = row.details | {"sample": labelled.placed(), "rated": labelled.rated()}


def _store(session: Session, evaluation: Evaluation, adds: bool) -> None:
    """Store the figures, or put them beside those that known positives give."""
    stored = session.get(Evaluation, evaluation.matcher_id) if adds else None
    if stored is None:
        session.merge(evaluation)
    else:
        stored.audit = evaluation.audit | ({"estimates": evaluation.estimates} if evaluation.estimates else {})


def _bare(data: ProjectData, matcher: StoredModel, labelled: LabelledAudit, progress: Progress) -> dict[str, Any]:
    """Return the details of the matcher's bare score with its average precision; empty while that is unknown."""
    known = matcher.details.get(BARE)
    if not known or not is_audited(data):
        return {}
    bare = bare_vectors(take_snapshot(data, matcher, None, progress).vectors, blend_of(matcher))
    pair_sides = sides(data, bare)
    scores = item_pair_scores(data, bare, labelled.left_ids, labelled.right_ids)
    known_scores = [
        item_pair_scores(data, bare, pairs[:, 0], pairs[:, 1]) for pairs in (labelled.known, labelled.known_negatives)
    ]
    ranking = rank_all(pair_sides.left, pair_sides.right, pair_sides.symmetric, progress)
    view = View(ranking, scores, known["threshold"], *known_scores)
    rng = np.random.default_rng(data.settings.seed)
    posterior = posterior_of(labelled, view.ranks[:, None], rng)
    if posterior is None:
        return {}
    precision = measure(labelled.sample, posterior, view, rng).estimates["average_precision"]
    return {BARE: known | {"average_precision": precision.as_dict()}}


def _unmeasured(matcher: StoredModel, view: View, audit: dict[str, Any], labelled: LabelledAudit) -> Evaluation:
    """Return a row without figures, for a project that lacks labels."""
    bars = histogram(view) if len(labelled.left_ids) else {}
    return Evaluation(
        matcher_id=matcher.id,
        pairs=view.ranking.pairs,
        positives=None,
        estimates={},
        curve={},
        histogram=bars,
        audit=audit,
    )


def _measured(
    matchers: list[StoredModel],
    views: list[View],
    audits: list[dict[str, Any]],
    sample: Sample,
    posterior: Posterior,
    rng: np.random.Generator,
) -> list[Evaluation]:
    """Return a row for each matcher, all from the same draws; from the second on with its changes."""
    rows = []
    for place, (matcher, view, audit) in enumerate(zip(matchers, views, audits, strict=True)):
        measured = measure(sample, posterior, view, rng)
        audit["reliability"] = _reliability(matcher, view, sample, posterior, rng.spawn(1)[0])
        for part, pairs in ((audit, np.inf), (audit["top"], audit["top"]["pairs"])):
            if place:
                differences = model_changes(sample, posterior, views[place - 1], view, rng, pairs)
                since = {"since": matchers[place - 1].number}
                part["changes"] = {name: estimate.as_dict() | since for name, estimate in differences.items()}
        highest = measure_top(sample, posterior, view, audit["top"]["pairs"], rng)
        audit["top"]["estimates"] = {name: estimate.as_dict() for name, estimate in highest.items()}
        rows.append(
            Evaluation(
                matcher_id=matcher.id,
                pairs=measured.pairs,
                positives=None,
                estimates={name: estimate.as_dict() for name, estimate in measured.estimates.items()},
                curve=measured.curve.as_dict(),
                histogram=measured.histogram,
                audit=audit,
            )
        )
    return rows


def _reliability(
    matcher: StoredModel, view: View, sample: Sample, posterior: Posterior, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the reliability of the matcher's probabilities, by tenth; empty if it has no output layer."""
    if matcher.w is None or matcher.b is None:
        return []
    return by_tenth(view.positives_by_rank(sample, posterior), view, OutputLayer(matcher.w, matcher.b), rng)


def _view(data: ProjectData, matcher: StoredModel, snapshot: EvaluationSnapshot, labelled: LabelledAudit) -> View:
    scores = item_pair_scores(data, snapshot.vectors, labelled.left_ids, labelled.right_ids, snapshot.rescored)
    threshold = -matcher.b / matcher.w if matcher.w and matcher.b is not None else None
    known = [
        item_pair_scores(data, snapshot.vectors, pairs[:, 0], pairs[:, 1], snapshot.rescored)
        for pairs in (labelled.known, labelled.known_negatives)
    ]
    return View(snapshot.ranking, scores, threshold, *known)


def _audit(
    settings: Settings, design: AuditDesign, labelled: LabelledAudit, posterior: Posterior | None, view: View
) -> dict[str, Any]:
    """Return what the page shows of the audit besides the figures (see `Evaluation.audit`)."""
    sample = labelled.sample
    edges = [1.0, *design.strata.edges.tolist()]
    places = [
        {"name": name, "low": edges[band + 1], "high": edges[band], "far": stratum >= design.strata.top}
        for stratum, (name, band) in enumerate(zip(design.names, design.strata.band.tolist(), strict=True))
    ]
    return {
        "design": design.number,
        "labels": len(sample.positive),
        "positives": int(sample.positive.sum()),
        "unsure": labelled.unsure,
        "needed": labels_needed(sample.labels, sample.sizes),
        "strata": [place | row for place, row in zip(places, strata_table(sample, posterior), strict=True)],
        "top": {"pairs": design.strata.top_pairs, "estimates": {}},
        "reached": reached(sample, view, settings.target_precision, design.strata.top) if posterior else None,
        "changes": {},
        "beyond": 0.0,
        "rater": _rater(design, sample, posterior),
    }


def _rater(design: AuditDesign, sample: Sample, posterior: Posterior | None) -> dict[str, Any] | None:
    """Return how many pairs a machine rater has read for the audit, and its sensitivity over all of their strata."""
    if sample.verdicts is None or posterior is None or posterior.sensitivity is None:
        return None
    sensitivity = as_estimate(posterior.sensitivity, len(sample.positive)).as_dict()
    return {"name": design.rater, "read": int(sample.verdicts.read.sum()), "sensitivity": sensitivity}


def _early_rank(sample: Sample, posterior: Posterior, view: View) -> int:
    """Return roughly the rank by which a fifth of the positives is found."""
    rank = np.median(view.positives_by_rank(sample, posterior).rank_at(np.array([0.2])))
    return int(np.clip(rank, 1, MOST_BEYOND))


def _beyond(
    data: ProjectData, design: AuditDesign, snapshot: EvaluationSnapshot, rank: int, progress: Progress
) -> float:
    """Return the share of a model's `rank` best pairs that lie below the top of the design."""
    pair_sides = sides(data, snapshot.vectors, rescored=snapshot.rescored)
    best = best_pairs(
        pair_sides.left,
        pair_sides.right,
        pair_sides.symmetric,
        top=rank,
        rescored=pair_sides.rescored,
        progress=progress,
    )
    ids = pair_sides.left_ids[best.left], pair_sides.right_ids[best.right]
    under_design = item_pair_scores(data, design.vectors, *ids, design.rescored)
    return float((under_design < design.strata.floor).mean())


def renew_design(engine: Engine, project_id: int, data: ProjectData, progress: Progress) -> None:
    """Make a new design if the newest one's top lacks many of the newest model's pairs.

    Also if more than a tenth of the texts for evaluation has come or gone since, and if people have decided of pairs
    that its strata hold: these are known, and need no audit.
    """
    with reading(engine) as session:
        matcher, evaluation = matchers_with_evaluations(session, project_id)[-1]
        newest = read_designs(session, project_id, data)[-1]
        decided = decided_among(session, project_id, data)
    beyond = evaluation is not None and evaluation.audit.get("beyond", 0.0) > BEYOND
    if beyond or newest.changed_by(data) > MOST_CHANGED or decided.keys() - newest.decided.keys():
        make_design(engine, data, matcher, snapshot_under(data, matcher, None, progress), progress)
        measure_models(engine, project_id, data, progress, {})
