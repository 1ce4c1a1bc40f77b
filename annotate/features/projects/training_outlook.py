"""What annotators are told of the first training: what it has to learn from, what is missing, and when it comes."""

from dataclasses import dataclass

from sqlalchemy import Engine

from allpairs.annotate.frame.language.translator import Words
from allpairs.db.domain import SEED_STRATEGY
from allpairs.db.labels.tasks import BatchProgress
from allpairs.db.labels.training_labels import training_counts
from allpairs.db.projects.jobs import NEXT_ROUND, last_job, open_job
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.projects.projects import project_settings
from allpairs.db.schema.engine import reading
from allpairs.learner.light.catalog import STRATEGIES


@dataclass(frozen=True)
class Outlook:
    """What the first training has to learn from, and what comes before it.

    matches, non_matches: answers that train; left: pairs of the batch without an answer; searches: whether the next
    batch is chosen to hold what is missing; automatic: whether a complete batch starts the job.
    """

    matches: int
    non_matches: int
    left: int
    searches: bool
    automatic: bool


def outlook_of(engine: Engine, project_id: int, batch: BatchProgress) -> Outlook | None:
    """Return what is known of the first training; batch: the progress of the newest batch.

    None once a model is trained, while a job is open, and where nobody has answered yet.
    """
    if batch.number <= 1 and not batch.answered and not batch.extra:
        return None
    with reading(engine) as session:
        matcher = newest_matcher(session, project_id)
        if (matcher is not None and matcher.w is not None) or open_job(session, project_id):
            return None
        settings = project_settings(session, project_id)
        last = last_job(session, project_id, [NEXT_ROUND])
        return Outlook(
            *training_counts(session, project_id),
            left=batch.size - batch.answered,
            searches=STRATEGIES[settings.strategy].seed == SEED_STRATEGY,
            automatic=settings.auto_train and (last is None or last.state == "done"),
        )


def outlook_in_words(outlook: Outlook, _: Words) -> str:
    """Return what there is to learn from, what is missing, and what comes next."""
    if outlook.matches and outlook.non_matches:
        return _when_it_trains(outlook, _)
    facts = _("No answer so far is yes or no.")
    missing = _("A model learns from both.")
    if outlook.matches:
        facts = _.ngettext(
            "{n} answer so far is yes, and none is no.", "{n} answers so far are yes, and none is no.", outlook.matches
        )
    elif outlook.non_matches:
        facts = _.ngettext(
            "{n} answer so far is no, and none is yes.",
            "{n} answers so far are no, and none is yes.",
            outlook.non_matches,
        )
    following = _("The next batch is chosen to find what is missing.") if outlook.searches else ""
    return " ".join(part for part in (facts, missing, following) if part)


def _when_it_trains(outlook: Outlook, _: Words) -> str:
    if not outlook.automatic or not outlook.left:
        return _("There are answers of both kinds. The first training starts when somebody asks for it.")
    return _.ngettext(
        "There are answers of both kinds. The first training starts when this batch is complete: {n} pair is left.",
        "There are answers of both kinds. The first training starts when this batch is complete: {n} pairs are left.",
        outlook.left,
    )
