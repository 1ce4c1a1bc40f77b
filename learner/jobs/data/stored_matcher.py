"""The row of the matcher that a round has made, and its figures over all pairs."""

from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from allpairs.db.domain import NoticeKind, Settings
from allpairs.db.estimate import stored_estimate
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.projects.notices import add_notice
from allpairs.db.schema.tables import Design, Evaluation, Publication, Round, StoredModel, now
from allpairs.learner.evaluation.exact import AllPairs
from allpairs.learner.jobs.data.round_files import model_name
from allpairs.learner.jobs.data.round_plan import Plan, layer_of, rater_details


def store_matcher(
    session: Session, job_id: str, project_id: int, settings: Settings, plan: Plan, measured: AllPairs | None
) -> int:
    """Store the matcher of the plan's number with its figures, in place of one of that number, and return its id.

    The row stays when another model takes its place: batches and audit batches refer to it.
    """
    trained = plan.get("training", {})
    layer = layer_of(plan)
    seconds = {"train": trained.get("seconds"), "encode": plan["encode_seconds"], "evaluate": plan["evaluate_seconds"]}
    number = plan["number"] if plan["trains"] else 0
    folder = model_name(project_id, job_id, plan)
    before = matcher_of(session, project_id, number)
    if before is not None:
        _forget_figures(session, before, (before.folder, before.encoder) != (folder, settings.encoder))
    row = StoredModel(
        id=before.id if before else None,
        project_id=project_id,
        number=number,
        folder=folder,
        encoder=settings.encoder,
        w=layer.w if layer else None,
        b=layer.b if layer else None,
        cutoff=plan["cutoff"] if plan["trains"] else 0,
        labels=plan["labels"] if plan["trains"] else 0,
        positives=plan["positives"] if plan["trains"] else 0,
        details={
            "seed": settings.seed,
            **({"texts": plan["version"]} if plan.get("version") else {}),
            **plan["blend"],
            **rater_details(plan),
            **plan["known"],
            "loss": trained.get("loss"),
            "seconds": {stage: value for stage, value in seconds.items() if value is not None},
        },
        created_at=now(),
    )
    row = session.merge(row)
    session.flush()
    if measured:
        session.add(
            Evaluation(
                matcher_id=row.id,
                pairs=measured.pairs,
                positives=measured.positives,
                estimates={name: estimate.as_dict() for name, estimate in measured.estimates.items()},
                curve=measured.curve.thinned().as_dict(),
                histogram=measured.histogram,
            )
        )
    # The demo's first batch exists before its first model: it belongs to the pre-trained encoder.
    orphan = (Round.project_id == project_id) & Round.matcher_id.is_(None)
    session.execute(update(Round).where(orphan).values(matcher_id=row.id))
    if plan["trains"]:
        add_notice(session, project_id, NoticeKind.TRAINING_DONE, _notice(job_id, row, measured))
    return row.id


def _forget_figures(session: Session, matcher: StoredModel, is_replaced: bool) -> None:
    """Forget the matcher's figures and, if another model replaces it, what was drawn under it or published of it."""
    session.execute(delete(Evaluation).where(Evaluation.matcher_id == matcher.id))
    for table in (Design, Publication) if is_replaced else ():
        session.execute(update(table).where(table.matcher_id == matcher.id).values(matcher_id=None))


def _notice(job_id: str, row: StoredModel, measured: AllPairs | None) -> dict[str, Any]:
    """Return what webhooks tell of a trained matcher; audit labels measure it later."""
    figures = {name: estimate.as_dict() for name, estimate in measured.estimates.items()} if measured else {}
    precision = stored_estimate(figures, "average_precision")
    counts = {"labels": row.labels, "positives": row.positives}
    return {"job": job_id, "round": row.number, **counts, "average_precision": precision and precision.as_dict()}
