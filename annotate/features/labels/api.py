"""Operations of labelling: tasks, answers, and current labels."""

from datetime import datetime
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from allpairs.annotate.features.label.queue import LEASED, Reason, record, serve
from allpairs.annotate.features.label.shown_pairs import Pair
from allpairs.annotate.features.labels.export import page_of_labels
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api import (
    CONFLICT,
    LARGEST_INTEGER,
    PROJECT_PATH,
    WITHOUT_NUL,
    ApiInput,
    ApiOutput,
    Call,
    Operation,
    PageRequest,
    as_integer,
)
from allpairs.db.domain import LONGEST_NOTE, AnswerKind, Purpose, Scope


class LeaseRequest(ApiInput):
    """How many pairs to lease, and from which batch."""

    n: Annotated[int, Field(ge=1, le=LEASED), BeforeValidator(as_integer)] = Field(
        LEASED, description="The most pairs to lease; repeated pairs, which check answers, come on top."
    )
    audit_batch: bool = Field(
        False,
        description="Lease from the newest audit batch, which is used for measuring, instead of the training batch.",
    )


class ColumnTexts(ApiOutput):
    """A text column, with the values of both texts."""

    column: str
    left: str
    right: str


class TaskDetails(ApiOutput):
    """A pair to label. The reason why it was chosen is left out: it would bias the answer."""

    id: int
    left: str
    right: str
    rows: list[ColumnTexts] = Field(description="The text columns side by side; empty if the files had only one.")


class LabellingProgress(ApiOutput):
    """Progress of the batch, or of the audit batch."""

    number: int = Field(description="Number of the batch; 0 before the first one, and for an audit batch.")
    size: int
    answered: int


class LeasedTasks(ApiOutput):
    """The leased pairs, reserved for this person for ten minutes; or why there are none."""

    tasks: list[TaskDetails]
    reason: Reason | None = Field(description="Why there is nothing to label; null if there is something.")
    free_at: datetime | None = Field(description="When a pair that somebody else has leased becomes free.")
    progress: LabellingProgress


class AnswerAct(ApiInput):
    """One act on a task. To undo an answer, send `retract` as an act of its own."""

    key: str = Field(
        pattern=r"^[!-~]{1,80}$",
        description="The client's own key for this act. If it is sent twice, only the first one is stored.",
    )
    task_id: Annotated[int, Field(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER), BeforeValidator(as_integer)] = Field(
        description="The id from the lease; it may be negative."
    )
    answer: AnswerKind
    seconds: float | None = Field(None, ge=0, le=1e9, allow_inf_nan=False, description="Time on screen.")
    note: str = Field("", max_length=LONGEST_NOTE, pattern=WITHOUT_NUL)


class AnswersRequest(ApiInput):
    """Acts in their order."""

    answers: Annotated[list[AnswerAct], Field(min_length=1, max_length=200)]


class RefusedAct(ApiOutput):
    """An act that was not stored, and why. Do not send it again."""

    key: str
    reason: str


class AnswersReceipt(ApiOutput):
    """The keys of the acts that are stored, by this or an earlier request, and those that are refused."""

    stored: list[str]
    refused: list[RefusedAct]


class LabelDetails(ApiOutput):
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


class LabelPage(ApiOutput):
    """A page of labels, in the order in which they were given."""

    labels: list[LabelDetails]
    cursor: int = Field(description="Start of the next page. Used later, it finds what was labelled or changed since.")
    more: bool = Field(description="Whether there may be more labels now.")


def next_tasks(call: Call, request: LeaseRequest) -> LeasedTasks:
    """Lease the next pairs to the token's person for ten minutes; pairs they already hold come first."""
    pairs, standing = serve(call.engine, call.project_id, call.annotator, request.n, request.audit_batch)
    tasks = [_task(pair) for pair in pairs]
    return LeasedTasks(tasks=tasks, reason=standing.reason, free_at=standing.free_at, progress=standing.progress)


def _task(pair: Pair) -> TaskDetails:
    rows = [ColumnTexts(column=column, left=left, right=right) for column, left, right in pair.rows]
    return TaskDetails(id=pair.task_id, left=pair.left, right=pair.right, rows=rows)


def answers(call: Call, request: AnswersRequest) -> AnswersReceipt:
    """Store acts of the token's person: answers, skips and retractions.

    An act that is already stored is not stored again. An answer counts even if its lease has expired, as in the app, so
    that no label is lost. It is stored under the person's name, whoever now holds the lease. Starts the training that
    is due.
    """
    # A key is unique in the project: another person's key must not collide with this one.
    keys = {_stored_key(call, act.key): act.key for act in request.answers}
    events = [act.model_dump() | {"key": _stored_key(call, act.key)} for act in request.answers]
    receipt = record(call.engine, call.project_id, call.annotator, events)
    return AnswersReceipt(
        stored=[keys[stored_key] for stored_key in receipt.stored],
        refused=[
            RefusedAct(key=key, reason=receipt.refused[stored_key])
            for stored_key, key in keys.items()
            if stored_key in receipt.refused
        ],
    )


def _stored_key(call: Call, key: str) -> str:
    return f"api-{sha256(f'{call.project_id} {key} {call.annotator}'.encode()).hexdigest()}"


def labels(call: Call, request: PageRequest) -> LabelPage:
    """List the labels that count now, one for each pair of ids, in the order in which they were given.

    The limit counts pairs of texts; equal texts have a label for each id.
    """
    page = page_of_labels(call.engine, call.project_id, request.cursor, request.limit)
    return LabelPage(labels=page.rows, cursor=page.cursor, more=page.more)


OPERATIONS = (
    Operation("POST", f"{PROJECT_PATH}/tasks", next_tasks, Scope.LABEL, Right.LABEL, problems=CONFLICT),
    Operation("POST", f"{PROJECT_PATH}/answers", answers, Scope.LABEL, Right.LABEL),
    Operation("GET", f"{PROJECT_PATH}/labels", labels, Scope.READ, Right.CHANGE),
)
