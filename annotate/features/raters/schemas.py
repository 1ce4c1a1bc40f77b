"""Machine raters: setups, runs and verdicts."""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, field_validator

from allpairs.annotate.features.webhooks.schemas import HOST
from allpairs.annotate.kit.api.schema import LARGEST, Asked, Given, as_whole
from allpairs.annotate.kit.jobs.requests import MOST_RATED
from allpairs.db.domain import Verdict
from allpairs.db.rating import FUNCTION, RatedFor, RaterSetup

MOST_VERDICTS = 1_000


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
        pattern=rf"^(https?://{HOST}(:[1-9][0-9]{{0,4}})?(/[!-\"$->@-~]*)?)?$",
        description=RaterSetup.model_fields["url"].description,
    )

    _as_whole = field_validator("samples", "examples", "pairs_a_minute", mode="before")(as_whole)


class RaterRun(Asked):
    """How many pairs to ask about, and what for."""

    pairs: Annotated[int, Field(ge=1, le=MOST_RATED), BeforeValidator(as_whole)] = Field(
        100,
        description="For labels: half of them pairs that people answered, if there are enough; else of the batch.",
    )
    purpose: RatedFor = Field(RatedFor.LABELS, description="Audit: it reads random pairs of the audit's strata.")
    dry_run: bool = Field(False, description="Ask nothing: say what it would take.")


class RaterAct(Asked):
    """Nothing: send `{}`."""


class VerdictsAfter(Asked):
    """Where a page of verdicts starts, and how many it holds."""

    cursor: int = Field(0, ge=0, le=LARGEST, description="The cursor of the previous page; 0: the first page.")
    limit: int = Field(100, ge=1, le=MOST_VERDICTS)


class RaterVerdict(Given):
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


class VerdictPage(Given):
    """A page of verdicts, in the order in which they were given. They are not labels."""

    verdicts: list[RaterVerdict]
    cursor: int = Field(description="Start of the next page. Used later, it finds the verdicts given since.")
    more: bool = Field(description="Whether there may be more verdicts now.")
