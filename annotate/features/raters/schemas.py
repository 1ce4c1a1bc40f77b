"""Machine raters: setups, what they have cost and are worth, and verdicts."""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, field_validator

from allpairs.annotate.features.quality.schemas import Figure
from allpairs.annotate.features.webhooks.schemas import HOST
from allpairs.annotate.kit.api.schema import LARGEST, Asked, Given, as_whole
from allpairs.annotate.kit.jobs.requests import MOST_RATED
from allpairs.db.domain import RatedFor, RaterSetup, Verdict
from allpairs.db.raters.setup_checks import FUNCTION

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


class Rater(Given):
    """A machine rater of the project: its setup, its state, and what it has rated and cost."""

    number: int
    setup: RaterSetup = Field(description="Without the key: `key_name` says which variable of the worker has it.")
    at: datetime = Field(description="When it was set up.")
    ended_at: datetime | None = Field(description="Null: it is in use.")
    paused_at: datetime | None = Field(description="Null: it is not paused.")
    paused_why: str | None
    pairs: int = Field(description="Number of pairs that it has rated.")
    tokens_in: int
    tokens_out: int
    cost: float
    leaves: str | None = Field(description="What is sent where when it is asked; null: it has ended.")


class RaterQuality(Given):
    """How verdicts compare with people's answers on some pairs; null where there is nothing to divide by."""

    pairs: int
    sensitivity: Figure | None = Field(description="Of the matches: called a match.")
    specificity: Figure | None = Field(description="Of the others: called none.")
    accuracy: Figure | None = Field(description="Share of its yes and no that people say, too.")
    abstains: Figure | None


class RaterBand(Given):
    """The same among pairs whose scores lie between `low` and `high`."""

    name: str
    low: float
    high: float
    quality: RaterQuality


class RaterTenth(Given):
    """The verdicts whose p lies in one tenth: the mean of p, and the share of matches with its 95 % interval."""

    p_from: float
    p_to: float
    p: float
    share: float
    low: float
    high: float
    pairs: int


class RaterAndPeople(Given):
    """On pairs with answers of several people: how often two of them agree, and how often the rater and one of them."""

    pairs: int
    people: Figure
    rater: Figure


class RaterAgainst(Given):
    """The rater against one person, on pairs that this person shares with others."""

    name: str
    pairs: int
    rater: float = Field(description="How often it agrees with the others at least as well as the person.")
    person: float = Field(description="How often the person agrees with the others at least as well as the rater.")
    p: float = Field(description="Of the test that the rater is less than epsilon behind.")
    wins: bool


class AlternativeAnnotator(Given):
    """The alternative annotator test (Calderon, Reichart and Dror 2025)."""

    against: list[RaterAgainst]
    winning_rate: float
    advantage: float = Field(description="How often, on average, it does at least as well as a person.")
    epsilon: float
    passes: bool


class RaterWorth(Given):
    """What a machine rater is worth, on pairs that people answered without seeing what it said."""

    quality: RaterQuality
    bands: list[RaterBand] = Field(description="By thirds of the matcher's scores; empty with fewer than 30.")
    calibration: list[RaterTenth] = Field(description="Of its probabilities; empty without them.")
    calibration_error: float | None = Field(description="The expected calibration error.")
    weight: float = Field(description="What a verdict counts beside a person's label where verdicts train; 0: nothing.")
    together: RaterAndPeople | None = Field(description="Null: no rated pair has answers of several people.")
    alternative_annotator: AlternativeAnnotator | None = Field(description="Null: too few people or pairs.")


class Raters(Given):
    """All machine raters that the project has had, the newest first; at most one is in use."""

    raters: list[Rater]
    worth: RaterWorth | None = Field(description="Of the newest one; null: there has been none.")


class RaterRun(Asked):
    """How many pairs to ask about, and what for."""

    pairs: Annotated[int, Field(ge=1, le=MOST_RATED), BeforeValidator(as_whole)] = Field(
        100,
        description="For labels: half of them pairs that people answered, if there are enough; else of the batch.",
    )
    purpose: RatedFor = Field(RatedFor.LABELS, description="Audit: it reads random pairs of the audit's strata.")
    dry_run: bool = Field(False, description="Ask nothing: say what it would take.")


class RaterEstimate(Given):
    """What the run takes, and what it sends where."""

    pairs: int
    tokens_in: int
    tokens_out: int
    cost: float
    minutes: float | None = Field(description="At the rate limit; null: there is none.")
    measured: bool = Field(description="Whether the tokens are told by pairs that it has rated, or by the texts.")
    leaves: str
    budget_left: float | None = Field(description="Null: there is no budget.")
    job: str | None = Field(description="The id of the job that asks; null for a dry run.")


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


class Verdicts(Given):
    """A page of verdicts, in the order in which they were given. They are not labels."""

    verdicts: list[RaterVerdict]
    cursor: int = Field(description="Start of the next page. Used later, it finds the verdicts given since.")
    more: bool = Field(description="Whether there may be more verdicts now.")
