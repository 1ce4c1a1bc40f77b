"""The project's machine rater: its setup, its worth, what it is asked, and its verdicts."""

from allpairs.annotate.features.labels.export import page_of_verdicts
from allpairs.annotate.features.raters import rater_setup as services
from allpairs.annotate.features.raters import schemas as m
from allpairs.annotate.features.raters.rater_state import dry_run, read_raters, read_worth
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api.operation import BUSY, ONE, Call, Operation
from allpairs.annotate.kit.jobs.requests import request_rating
from allpairs.db.domain import Scope


def show_rater(call: Call) -> m.Raters:
    """Show the project's machine raters, what they have cost, and what the newest one is worth."""
    states = read_raters(call.engine, call.here.id)
    worth = read_worth(call.engine, call.here.id)
    return m.Raters.model_validate(
        {"raters": [one.as_dict() for one in states], "worth": worth and worth.as_dict()},
    )


def set_rater(call: Call) -> m.Raters:
    """Put a machine rater into use; the one before it ends, and its verdicts stay. For administrators of everything.

    No key is sent: `key_name` names the environment variable of the worker that has it.
    """
    setup = services.checked_setup(call.given.model_dump(exclude_unset=True))
    services.set_up(call.engine, call.here.id, setup)
    return show_rater(call)


def run_rater(call: Call) -> m.RaterEstimate:
    """Ask the machine rater in a job of the worker; with `dry_run`, only say what it would take."""
    asked = call.here.id, call.given.pairs, call.given.purpose
    found = dry_run(call.engine, *asked)
    job = None if call.given.dry_run else request_rating(call.engine, *asked)
    return m.RaterEstimate(**found.as_dict(), job=job)


def resume_rater(call: Call) -> m.Raters:
    """Let the machine rater be asked again if it is paused; it pauses again if the reason still holds."""
    services.resume(call.engine, call.here.id)
    return show_rater(call)


def end_rater(call: Call) -> m.Raters:
    """End the machine rater in use: it is asked nothing more, and its verdicts stay."""
    services.end(call.engine, call.here.id)
    return show_rater(call)


def verdicts(call: Call) -> m.Verdicts:
    """List what machine raters said of pairs, in the order in which they said it."""
    page = page_of_verdicts(call.engine, call.here.id, call.given.cursor, call.given.limit)
    listed = [m.RaterVerdict.model_validate(row) for row in page.rows]
    return m.Verdicts(verdicts=listed, cursor=page.cursor, more=page.more)


RATER = f"{ONE}/rater"
C = Right.CHANGE
OPERATIONS = (
    Operation("GET", RATER, show_rater, m.Raters, Scope.READ, None, Right.SEE),
    Operation("PUT", RATER, set_rater, m.Raters, Scope.ADMINISTER, m.NewRater, Right.INSTALL, problems=BUSY),
    Operation("POST", f"{RATER}/run", run_rater, m.RaterEstimate, Scope.TRAIN, m.RaterRun, C, problems=BUSY),
    Operation("POST", f"{RATER}/resume", resume_rater, m.Raters, Scope.TRAIN, m.RaterAct, C, problems=BUSY),
    Operation("POST", f"{RATER}/end", end_rater, m.Raters, Scope.TRAIN, m.RaterAct, C, problems=BUSY),
    Operation("GET", f"{RATER}/verdicts", verdicts, m.Verdicts, Scope.READ, m.VerdictsAfter, C),
)
