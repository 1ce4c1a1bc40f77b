"""Tasks to label, answers, and current labels."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from allpairs.annotate.features.label.queue import HELD, Reason
from allpairs.annotate.kit.api.schema import LARGEST, STORED, Asked, Given, as_whole
from allpairs.db.domain import LONGEST_NOTE, AnswerKind, Purpose

MOST_ANSWERS = 200
MOST_LABELS = 1_000


class Lease(Asked):
    """How many pairs to lease, and from which batch."""

    n: Annotated[int, Field(ge=1, le=HELD), BeforeValidator(as_whole)] = Field(
        HELD, description="The most pairs to lease; repeated pairs, which check answers, come on top."
    )
    audit_batch: bool = Field(
        False,
        description="Lease from the newest audit batch, which is used for measuring, instead of the training batch.",
    )


class Row(Given):
    """A text column, with the values of both texts."""

    column: str
    left: str
    right: str


class Task(Given):
    """A pair to label. The reason why it was chosen is left out: it would bias the answer."""

    id: int
    left: str
    right: str
    rows: list[Row] = Field(description="The text columns side by side; empty if the files had only one.")


class Progress(Given):
    """Progress of the batch, or of the audit batch."""

    number: int = Field(description="Number of the batch; 0 before the first one, and for an audit batch.")
    size: int
    answered: int


class Tasks(Given):
    """The leased pairs, reserved for this person for ten minutes; or why there are none."""

    tasks: list[Task]
    reason: Reason | None = Field(description="Why there is nothing to label; null if there is something.")
    free_at: datetime | None = Field(description="When a pair that somebody else has leased becomes free.")
    progress: Progress


class Answer(Asked):
    """One act on a task. To undo an answer, send `retract` as an act of its own."""

    key: str = Field(
        pattern=r"^[!-~]{1,80}$",
        description="The client's own key for this act. If it is sent twice, only the first one is stored.",
    )
    task_id: Annotated[int, Field(ge=-LARGEST, le=LARGEST), BeforeValidator(as_whole)] = Field(
        description="The id from the lease; it may be negative."
    )
    answer: AnswerKind
    seconds: float | None = Field(None, ge=0, le=1e9, allow_inf_nan=False, description="Time on screen.")
    note: str = Field("", max_length=LONGEST_NOTE, pattern=STORED)


class Answers(Asked):
    """Acts in their order."""

    answers: Annotated[list[Answer], Field(min_length=1, max_length=MOST_ANSWERS)]


class Refusal(Given):
    """An act that was not stored, and why. Do not send it again."""

    key: str
    reason: str


class Receipt(Given):
    """The keys of the acts that are stored, by this or an earlier request, and those that are refused."""

    stored: list[str]
    refused: list[Refusal]


class LabelsAfter(Asked):
    """Where a page of labels starts, and how many it holds."""

    cursor: int = Field(0, ge=0, le=LARGEST, description="The cursor of the previous page; 0: the first page.")
    limit: int = Field(100, ge=1, le=MOST_LABELS, description="Pairs of texts; equal texts have a label for each id.")


class Label(Given):
    """The current label of a pair of ids, with the columns of an exported file."""

    id1: str
    id2: str
    text1: str
    text2: str
    label: Literal[0, 1] | None = Field(description="1: positive, 0: negative, null: unsure.")
    answer: AnswerKind
    annotator: str
    round: int | None
    model: int | None = Field(description="The round of the model that chose the pair; 0: the pre-trained encoder.")
    guidelines: str | None = Field(description="The version of the guidelines at the time of the answer.")
    strategy: str | None
    score: float | None
    created_at: datetime
    purpose: Purpose = Field(description="audit: used for measuring, never for training.")
    note: str | None
    withdrawn: Literal[0, 1] = Field(description="1: one of the texts has been withdrawn, so the label is not used.")


class Labels(Given):
    """A page of labels, in the order in which they were given."""

    labels: list[Label]
    cursor: int = Field(description="Start of the next page. Used later, it finds what was labelled or changed since.")
    more: bool = Field(description="Whether there may be more labels now.")
