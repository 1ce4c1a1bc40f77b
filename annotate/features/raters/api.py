"""Operations of the project's machine rater: its setup, its worth, what it is asked, and its verdicts."""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, field_validator

from allpairs.annotate.features.labels.export import page_of_verdicts
from allpairs.annotate.features.raters import project_raters as services
from allpairs.annotate.features.raters.project_raters import RaterEstimate, RaterList, dry_run, read_record
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api import (
    CONFLICT,
    PROJECT_PATH,
    URL_HOST,
    ApiInput,
    ApiOutput,
    Call,
    Operation,
    PageRequest,
    as_integer,
)
from allpairs.annotate.kit.jobs.requests import MOST_RATED, request_rating
from allpairs.db.domain import Scope, Verdict
from allpairs.db.rating import FUNCTION, RatedFor, RaterSetup


class NewRater(RaterSetup):
    """A machine rater to put into use: an endpoint's `url` and `model`, or a `function` of the worker's Python.

    `kind` may be left out: it follows from what is named.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["url", "model"], "properties": {"url": {"minLength": 1}, "model": {"minLength": 1}}},
                {"required": ["function"], "properties": {"function": {"pattern": f"^{FUNCTION}$"}}},
            ]
        }
    )

    url: str = Field(
        "",
        max_length=500,
        pattern=rf"^(https?://{URL_HOST}(:[1-9][0-9]{{0,4}})?(/[!-\"$->@-~]*)?)?$",
        description=RaterSetup.model_fields["url"].description,
    )

    _integers = field_validator("samples", "examples", "pairs_a_minute", mode="before")(as_integer)


class RunRaterRequest(ApiInput):
    """How many pairs to ask about, and what for."""

    pairs: Annotated[int, Field(ge=1, le=MOST_RATED), BeforeValidator(as_integer)] = Field(
        100,
        description="For labels: half of them pairs that people answered, if there are enough; else of the batch.",
    )
    purpose: RatedFor = Field(RatedFor.LABELS, description="Audit: it reads random pairs of the audit's strata.")
    dry_run: bool = Field(False, description="Ask nothing: say what it would take.")


class EmptyRequest(ApiInput):
    """Nothing: send `{}`."""


class VerdictDetails(ApiOutput):
    """What a machine rater said of a pair, with the columns of an exported file."""

    id1: str
    id2: str
    text1: str
    text2: str
    rater: str
    number: int = Field(description="The number of the rater.")
    verdict: Verdict
    p: float | None = Field(description="Its probability of a match, if it gives one.")
    prompt: str = Field(description="The version of the prompt.")
    created_at: datetime
    cost: float
    also1: str = Field(description="The other ids of the first text, as a JSON list; empty for none.")
    also2: str = Field(description="The other ids of the second text.")


class VerdictPage(ApiOutput):
    """A page of verdicts, in the order in which they were given. They are not labels."""

    verdicts: list[VerdictDetails]
    cursor: int = Field(description="Start of the next page. Used later, it finds the verdicts given since.")
    more: bool = Field(description="Whether there may be more verdicts now.")


def show_rater(call: Call) -> RaterList:
    """Show the project's machine raters, what they have cost, and what the newest one is worth."""
    return read_record(call.engine, call.project_id)


def set_rater(call: Call, request: NewRater) -> RaterList:
    """Put a machine rater into use; the one before it ends, and its verdicts stay. For administrators of everything.

    No key is sent: `key_name` names the environment variable of the worker that has it.
    """
    setup = services.checked_setup(request.model_dump(exclude_unset=True))
    services.set_up(call.engine, call.project_id, setup)
    return show_rater(call)


def run_rater(call: Call, request: RunRaterRequest) -> RaterEstimate:
    """Ask the machine rater in a job of the worker; with `dry_run`, only say what it would take."""
    estimate = dry_run(call.engine, call.project_id, request.pairs, request.purpose)
    if request.dry_run:
        return estimate
    job_id = request_rating(call.engine, call.project_id, request.pairs, request.purpose)
    return estimate.model_copy(update={"job": job_id})


def resume_rater(call: Call, request: EmptyRequest) -> RaterList:
    """Let the machine rater be asked again if it is paused; it pauses again if the reason still holds."""
    services.resume(call.engine, call.project_id)
    return show_rater(call)


def end_rater(call: Call, request: EmptyRequest) -> RaterList:
    """End the machine rater in use: it is asked nothing more, and its verdicts stay."""
    services.retire_rater(call.engine, call.project_id)
    return show_rater(call)


def verdicts(call: Call, request: PageRequest) -> VerdictPage:
    """List what machine raters said of pairs, in the order in which they said it."""
    page = page_of_verdicts(call.engine, call.project_id, request.cursor, request.limit)
    return VerdictPage(verdicts=page.rows, cursor=page.cursor, more=page.more)


RATER = f"{PROJECT_PATH}/rater"
OPERATIONS = (
    Operation("GET", RATER, show_rater, Scope.READ, Right.SEE),
    Operation("PUT", RATER, set_rater, Scope.ADMINISTER, Right.INSTALL, problems=CONFLICT),
    Operation("POST", f"{RATER}/run", run_rater, Scope.TRAIN, Right.CHANGE, problems=CONFLICT),
    Operation("POST", f"{RATER}/resume", resume_rater, Scope.TRAIN, Right.CHANGE, problems=CONFLICT),
    Operation("POST", f"{RATER}/end", end_rater, Scope.TRAIN, Right.CHANGE, problems=CONFLICT),
    Operation("GET", f"{RATER}/verdicts", verdicts, Scope.READ, Right.CHANGE),
)
