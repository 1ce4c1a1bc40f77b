"""What goes in and comes out of the REST API; the OpenAPI document is made from these."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from annotate.labelling.queue import BUFFER, Reason
from db.domain import LONGEST_NOTE, AnswerKind, Kind, Purpose

LARGEST = 2**31 - 1  # a number as both databases keep it
MOST_ANSWERS, MOST_LABELS, MOST_JOBS = 200, 1_000, 100
STORED = r"^[^\x00]*$"  # no database keeps the character 0


def _whole(value: object) -> object:
    """The number as an integer where it is one: JSON knows 7.0 as 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[int, Field(ge=1, le=LARGEST), BeforeValidator(_whole)]
NAME = r"^[A-Za-z0-9_-]{1,80}$"  # of anything in an address
IN_PATH: dict[str, TypeAdapter[Any]] = {
    "project_id": TypeAdapter(Number),
    "job_id": TypeAdapter(Annotated[str, Field(pattern=NAME)]),
}


class Asked(BaseModel):
    """What a program sends: as it is described, and nothing beyond."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Given(BaseModel):
    """What a program gets."""

    model_config = ConfigDict(frozen=True)


class Project(Given):
    """A project that the token's person was let into."""

    id: int
    name: str
    kind: Kind
    state: Literal["active", "archived"]
    question: str = Field(description="What is asked about each pair.")
    guidelines: str = Field(description="For annotators, in Markdown.")
    created_at: datetime
    rounds: int = Field(description="Batches so far.")
    labels: int = Field(description="Pairs that carry a label.")


class Projects(Given):
    """The projects, the newest first."""

    projects: list[Project]


class Lease(Asked):
    """How many pairs to lease, and from where."""

    n: Annotated[int, Field(ge=1, le=BUFFER), BeforeValidator(_whole)] = Field(
        BUFFER, description="How many at most; pairs that are asked again to check answers come on top."
    )
    audit_batch: bool = Field(
        False,
        validation_alias=AliasChoices("audit_batch", "sitting"),  # the name in earlier versions
        description="From the newest audit batch, which measures, instead of the training batch.",
    )


class Task(Given):
    """A pair to label. Why it was chosen is not told: it would sway the answer."""

    id: int
    left: str
    right: str


class Progress(Given):
    """How far the batch (or the audit batch) is."""

    number: int = Field(description="Of the batch; 0 before the first one, and of an audit batch.")
    size: int
    answered: int


class Tasks(Given):
    """The leased pairs, for ten minutes the person's alone; or why there is none."""

    tasks: list[Task]
    reason: Reason | None = Field(description="Why there is nothing to label; null where there is.")
    free_at: datetime | None = Field(description="When a pair that somebody else holds is free again.")
    progress: Progress


class Answer(Asked):
    """One act on a task. An undo is an act of its own: `retract`."""

    key: str = Field(
        pattern=r"^[!-~]{1,80}$",
        description="The client's own name of this act: sent again, it is stored once, as it came first.",
    )
    task_id: Annotated[int, Field(ge=-LARGEST, le=LARGEST), BeforeValidator(_whole)] = Field(
        description="As it was leased; it may be below 0."
    )
    answer: AnswerKind
    seconds: float | None = Field(None, ge=0, le=1e9, allow_inf_nan=False, description="How long it took.")
    note: str = Field("", max_length=LONGEST_NOTE, pattern=STORED)


class Answers(Asked):
    """Acts in their order."""

    answers: Annotated[list[Answer], Field(min_length=1, max_length=MOST_ANSWERS)]


class Refusal(Given):
    """An act that is not stored, and why: sending it again is of no use."""

    key: str
    reason: str


class Receipt(Given):
    """The keys of the acts that are stored, now or before, and those that are refused."""

    stored: list[str]
    refused: list[Refusal]


class LabelsAfter(Asked):
    """Where a page of labels begins, and how long it is."""

    cursor: int = Field(0, ge=0, le=LARGEST, description="The cursor of the page before; 0: from the first label on.")
    limit: int = Field(100, ge=1, le=MOST_LABELS)


class Label(Given):
    """The label of a pair as it counts now, by the columns of an exported file."""

    id1: str
    id2: str
    text1: str
    text2: str
    label: Literal[0, 1] | None = Field(description="1: positive, 0: negative, null: unsure.")
    answer: AnswerKind
    annotator: str
    round: int | None
    model: int | None = Field(description="The round of the model that chose the pair; 0: the pre-trained encoder.")
    guidelines: str | None = Field(description="The version of the guidelines under which it was given.")
    strategy: str | None
    score: float | None
    created_at: datetime
    purpose: Purpose = Field(description="audit: it measures, and never trains.")
    note: str | None


class Labels(Given):
    """Some labels in the order in which they were given."""

    labels: list[Label]
    cursor: int = Field(description="Begins the next page; later it finds what was labelled or changed since.")
    more: bool = Field(description="Whether there may be more at once.")


class Figure(Given):
    """A value over all pairs with its 95 % interval, which is the value itself where it is exact."""

    value: float
    low: float
    high: float
    method: str
    labels: int = Field(description="Labels that it rests on; 0 where it rests on known pairs.")


class Evaluation(Given):
    """A round's model, measured."""

    round: int = Field(description="0: before training.")
    labels: int = Field(description="Labels that it was trained on.")
    positives: int = Field(description="Positives among them.")
    pairs: int = Field(description="Pairs that it was measured on.")
    figures: dict[str, Figure]


class Metrics(Given):
    """The figures of the page Monitor, round by round; empty while nothing is measured."""

    evaluations: list[Evaluation]


class JobsAsked(Asked):
    """How many jobs to list."""

    limit: int = Field(20, ge=1, le=MOST_JOBS)


class Job(Given):
    """A job and how far it is."""

    id: str
    kind: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    stage: str
    fraction: float
    seconds_left: float | None
    error: str | None
    created_at: datetime
    updated_at: datetime


class Jobs(Given):
    """The newest jobs, the newest first."""

    jobs: list[Job]


class JobStart(Asked):
    """What to start."""

    kind: Literal["next_round"] = Field(description="Train on all answers so far, measure, and make the next batch.")
