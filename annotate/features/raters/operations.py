"""The project's machine rater: its setup, its worth, what it is asked, and its verdicts."""

from allpairs.annotate.features.labels.export import page_of_verdicts
from allpairs.annotate.features.raters import rater_setup as services
from allpairs.annotate.features.raters import schemas as m
from allpairs.annotate.features.raters.rater_state import RaterEstimate, RaterList, dry_run, read_record
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api.operation import BUSY, ONE, Call, Operation
from allpairs.annotate.kit.jobs.requests import request_rating
from allpairs.db.domain import Scope


def show_rater(call: Call) -> RaterList:
    """Show the project's machine raters, what they have cost, and what the newest one is worth."""
    return read_record(call.engine, call.here.id)


def set_rater(call: Call) -> RaterList:
    """Put a machine rater into use; the one before it ends, and its verdicts stay. For administrators of everything.

    No key is sent: `key_name` names the environment variable of the worker that has it.
    """
    setup = services.checked_setup(call.given.model_dump(exclude_unset=True))
    services.set_up(call.engine, call.here.id, setup)
    return show_rater(call)


def run_rater(call: Call) -> RaterEstimate:
    """Ask the machine rater in a job of the worker; with `dry_run`, only say what it would take."""
    run = call.here.id, call.given.pairs, call.given.purpose
    estimate = dry_run(call.engine, *run)
    job = None if call.given.dry_run else request_rating(call.engine, *run)
    return estimate.model_copy(update={"job": job})


def resume_rater(call: Call) -> RaterList:
    """Let the machine rater be asked again if it is paused; it pauses again if the reason still holds."""
    services.resume(call.engine, call.here.id)
    return show_rater(call)


def end_rater(call: Call) -> RaterList:
    """End the machine rater in use: it is asked nothing more, and its verdicts stay."""
    services.retire_rater(call.engine, call.here.id)
    return show_rater(call)


def verdicts(call: Call) -> m.VerdictPage:
    """List what machine raters said of pairs, in the order in which they said it."""
    page = page_of_verdicts(call.engine, call.here.id, call.given.cursor, call.given.limit)
    listed = [m.RaterVerdict.model_validate(row) for row in page.rows]
    return m.VerdictPage(verdicts=listed, cursor=page.cursor, more=page.more)


RATER = f"{ONE}/rater"
C = Right.CHANGE
OPERATIONS = (
    Operation("GET", RATER, show_rater, RaterList, Scope.READ, None, Right.SEE),
    Operation("PUT", RATER, set_rater, RaterList, Scope.ADMINISTER, m.NewRater, Right.INSTALL, problems=BUSY),
    Operation("POST", f"{RATER}/run", run_rater, RaterEstimate, Scope.TRAIN, m.RaterRun, C, problems=BUSY),
    Operation("POST", f"{RATER}/resume", resume_rater, RaterList, Scope.TRAIN, m.RaterAct, C, problems=BUSY),
    Operation("POST", f"{RATER}/end", end_rater, RaterList, Scope.TRAIN, m.RaterAct, C, problems=BUSY),
    Operation("GET", f"{RATER}/verdicts", verdicts, m.VerdictPage, Scope.READ, m.VerdictsAfter, C),
)
