"""A sample of a pipeline's mined pairs, queued for labelling, to estimate the precision of the whole list."""

from typing import Any
from uuid import uuid4

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.papers.mined_pairs import Mined, check_items, mined_pairs
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.annotate.kit.jobs.requests import require_no_audit_batch
from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import answer_at_once
from allpairs.db.labels.mined_samples import (
    UNDO,
    count_drawn,
    drawn_pairs,
    mined_designs,
    next_design_number,
    own_labels,
)
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.tasks import add_tasks
from allpairs.db.labels.withdrawn import open_batch
from allpairs.db.projects.jobs import AUDIT, CORRECTION, ENTITIES, open_job, run_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Design, Round
from allpairs.learner.light.stats.precision_by_rank import Band, allocate_labels, ranks

DRAW = 50  # pairs by default


def put_up(engine: Engine, project_id: int, run_id: str, number: int, draw: int, rng: np.random.Generator) -> int:
    """Queue a stratified random sample of the mined pairs by rank as an audit batch; return its size.

    No pair is sampled twice. Labelled pairs may be sampled: they count, and nobody is asked again. If the label is only
    the pipeline's own, it is undone, so that a person is asked. Raises InputError while another audit batch is open or
    being prepared, and if no pair is left.

    """
    mined = mined_pairs(engine, project_id, run_id, number)
    with acting(engine, Right.CHANGE, project_id) as session:
        run_of(session, project_id, run_id)
        _require_room(session, project_id)
        before = drawn_pairs(session, [design.id for design in mined_designs(session, project_id, run_id, number)])
        strata = [mined[first - 1 : last] for first, last in ranks(len(mined))]
        drawn = _draw(strata, before, draw, rng)
        if not drawn:
            raise InputError("every mined pair is already in a sample: see its figures")
        pairs = [mined_pair.pair for _, mined_pair, _ in drawn]
        check_items(session, project_id, pairs)
        _ask_again(session, project_id, pairs)
        design = _design(session, project_id, {"run": run_id, "made": number}, strata)
        _store(session, design, drawn, rng)
    return len(drawn)


def _require_room(session: Session, project_id: int) -> None:
    require_no_audit_batch(session, project_id)
    job = open_job(session, project_id)
    if job is not None and job.kind in (AUDIT, CORRECTION, ENTITIES):
        raise InputError("a running job may add an audit batch: wait until it is done")


def _draw(
    strata: list[list[Mined]], before: set[Pair], draw: int, rng: np.random.Generator
) -> list[tuple[int, Mined, float]]:
    """Return band, pair and probability of each sampled pair. All samples of a band together are one random sample."""
    left = [[mined for mined in stratum if mined.pair not in before] for stratum in strata]
    drawn = []
    for place, n in enumerate(allocate_labels(draw, [len(rest) for rest in left])):
        sampled = len(strata[place]) - len(left[place]) + n
        chosen = rng.permutation(len(left[place]))[:n].tolist()
        drawn += [(place, left[place][i], sampled / len(strata[place])) for i in chosen]
    return drawn


def _ask_again(session: Session, project_id: int, pairs: list[Pair]) -> None:
    labels = own_labels(session, project_id, pairs)
    for annotator in set(labels.values()):
        repeated = [pair for pair, name in labels.items() if name == annotator]
        answer_at_once(session, project_id, annotator, repeated, AnswerKind.RETRACT, f"{UNDO}{uuid4().hex}")


def _design(session: Session, project_id: int, details: dict[str, Any], strata: list[list[Mined]]) -> Design:
    bounds = ranks(sum(map(len, strata)))
    design_number = next_design_number(session, project_id)
    design = Design(
        project_id=project_id,
        number=design_number,
        kind=DesignKind.MINED,
        pairs=sum(map(len, strata)),
        strata=[
            {
                "name": f"ranks {first:,} to {last:,}",
                "low": min(mined.score for mined in stratum),
                "high": max(mined.score for mined in stratum),
                "size": len(stratum),
                "first": first,
                "last": last,
            }
            for (first, last), stratum in zip(bounds, strata, strict=True)
        ],
        details=details,
        folder=f"project-{project_id}/design-{design_number}",
    )
    session.add(design)
    session.flush()
    return design


def _store(session: Session, design: Design, drawn: list[tuple[int, Mined, float]], rng: np.random.Generator) -> None:
    """Store the pairs as an audit batch in random order, so that the first labels are a sample of each band, too."""
    audit_batch = Round(project_id=design.project_id, number=None, strategy=DesignKind.MINED, size=len(drawn))
    session.add(audit_batch)
    session.flush()
    order = rng.permutation(len(drawn)).tolist()
    add_tasks(
        session,
        [
            {
                "project_id": design.project_id,
                "round_id": audit_batch.id,
                "design_id": design.id,
                "stratum": stratum,
                "left_id": mined.pair[0],
                "right_id": mined.pair[1],
                "score": mined.score,
                "inclusion": inclusion,
                "strategy": DesignKind.MINED,
                "position": position,
            }
            for position, (stratum, mined, inclusion) in zip(order, drawn, strict=True)
        ],
    )
    open_batch(session, audit_batch)


def bands_of(engine: Engine, project_id: int, run_id: str, number: int) -> list[Band]:
    """Return the bands of the run's mined pairs with the counts of sampled labels; none before a sample is drawn."""
    with reading(engine) as session:
        designs = mined_designs(session, project_id, run_id, number)
        counts = count_drawn(session, [row.id for row in designs])
    if not designs:
        return []
    pairs_by_answer = {(row.stratum, row.answer): row.pairs for row in counts}
    return [
        Band(
            stratum["first"],
            stratum["last"],
            sum(pairs for (band, _), pairs in pairs_by_answer.items() if band == place),
            pairs_by_answer.get((place, AnswerKind.POSITIVE), 0),
            pairs_by_answer.get((place, AnswerKind.NEGATIVE), 0),
            pairs_by_answer.get((place, AnswerKind.UNSURE), 0),
        )
        for place, stratum in enumerate(designs[0].strata)
    ]
