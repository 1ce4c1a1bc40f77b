"""Where a project stands, and the one next thing to do in it."""

from collections.abc import Set
from dataclasses import dataclass

from sqlalchemy import Engine

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.language.translator import ENGLISH_WORDS, Words
from allpairs.db.domain import Settings
from allpairs.db.estimate import is_reached
from allpairs.db.labels.tasks import BatchProgress, batch_progress, open_audit_batch, unanswered
from allpairs.db.projects.evaluations import has_evaluation_items
from allpairs.db.projects.jobs import NEXT_ROUND, OPEN, newest_job
from allpairs.db.projects.project_list import newest_figures, newest_matchers
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job


@dataclass(frozen=True)
class Standing:
    """The state of a project: its newest batch, what waits or runs, and what is known of its model."""

    batch: BatchProgress
    audit_left: int = 0  # unlabelled pairs of the open audit batch
    job: Job | None = None  # the newest one
    rounds: int = 0  # trained so far
    measured: bool = False  # whether a model of it has figures
    measurable: bool = False  # whether there are evaluation items
    reached: bool = False  # whether the target precision is certain

    @property
    def running(self) -> Job | None:
        """Return the job that waits or runs."""
        return self.job if self.job is not None and self.job.state in OPEN else None

    @property
    def failed(self) -> bool:
        """Whether the newest job failed."""
        return self.job is not None and self.job.state == "failed"


@dataclass(frozen=True)
class NextStep:
    """What to do next, in a sentence, and the page where one does it; no page: wait."""

    reason: str
    page: str = ""
    act: str = ""


def read_standing(engine: Engine, project_id: int) -> Standing:
    """Return where the project stands."""
    with reading(engine) as session:
        project = project_of(session, project_id)
        audit = open_audit_batch(session, project_id)
        matcher = newest_matchers(session, [project_id]).get(project_id)
        figures = newest_figures(session, [project_id]).get(project_id)
        target = Settings.model_validate(project.settings).target_precision
        return Standing(
            batch=batch_progress(session, project_id),
            audit_left=unanswered(session, audit) if audit is not None else 0,
            job=newest_job(session, project_id),
            rounds=matcher.number if matcher is not None else 0,
            measured=bool(figures and figures.estimates),
            measurable=has_evaluation_items(session, project_id),
            reached=bool(figures and is_reached(figures.estimates, figures.reached, target)),
        )


def next_step(standing: Standing, rights: Set[Right], _: Words = ENGLISH_WORDS) -> NextStep:
    """Return the one next thing that a person with these rights can do, or what they wait for, in their language."""
    batch = standing.batch
    job = standing.running
    if standing.failed and Right.CHANGE in rights:
        return NextStep(_("The last job failed."), "jobs", _("See what failed"))
    if not batch.number:
        return _first_batch(standing, rights, _)
    if Right.LABEL not in rights:
        return NextStep(_left(batch, _), *(("monitor", _("See the figures")) if Right.SEE in rights else ()))
    if standing.audit_left:
        left = _.ngettext(
            "{n} pair of the audit batch is left.", "{n} pairs of the audit batch are left.", standing.audit_left
        )
        return NextStep(left, "label", _("Label the audit batch"))
    if standing.reached and Right.CHANGE in rights:
        sentence = _("The target precision is reached: export the matches, or label on.")
        return NextStep(sentence, "data", _("Export the matches"))
    if not batch.complete:
        unmeasured = standing.rounds and standing.measurable and not (standing.measured or batch.audits)
        if unmeasured and Right.CHANGE in rights:
            return NextStep(_("The model is trained, but not measured yet."), "monitor", _("Measure it"))
        return NextStep(_left(batch, _), "label", _("Label pairs"))
    if job is not None:
        following = _("Batch {number} is complete. The next one is being prepared.", number=batch.number)
        other_job = _("Batch {number} is complete, and another job is under way.", number=batch.number)
        return NextStep(following if job.kind == NEXT_ROUND else other_job, "label", _("Label extra pairs"))
    act = _("Prepare the next batch") if Right.CHANGE in rights else ""
    return NextStep(_("Batch {number} is complete.", number=batch.number), "label", act)


def _first_batch(standing: Standing, rights: Set[Right], _: Words) -> NextStep:
    if standing.running is not None or Right.CHANGE not in rights:
        return NextStep(_("The first batch is being prepared."))
    return NextStep(_("There is no batch yet."), "label", _("Prepare the first batch"))


def _left(batch: BatchProgress, _: Words) -> str:
    return _.ngettext(
        "{n} pair of batch {number} is left.",
        "{n} pairs of batch {number} are left.",
        batch.size - batch.answered,
        number=batch.number,
    )
