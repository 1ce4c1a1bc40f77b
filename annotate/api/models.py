"""Requests and responses of the REST API; the OpenAPI document is made from these models."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from allpairs.annotate.labelling.queue import HELD, Reason
from allpairs.db.corpus.cells import MAX_CELL
from allpairs.db.corpus.corpus import MAX_ID
from allpairs.db.domain import (
    LONGEST_NOTE,
    AnswerKind,
    Clustering,
    DeliveryState,
    GroupEvent,
    Kind,
    NoticeKind,
    PublicationKind,
    Purpose,
    Side,
)
from allpairs.db.projects.webhook_addresses import LONGEST as LONGEST_URL

LARGEST = 2**31 - 1  # the largest integer of both databases
MOST_ANSWERS, MOST_LABELS, MOST_JOBS, MOST_DELIVERIES, MOST_GROUPS = 200, 1_000, 100, 100, 1_000
MOST_TEXTS, MOST_ASKED, MOST_CANDIDATES, LONGEST_TEXT = 5_000, 100, 100, 10_000
STORED = r"^[^\x00]*$"  # PostgreSQL stores no NUL character


def _whole(value: object) -> object:
    """Return a whole number as an integer: JSON makes no difference between 7.0 and 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[int, Field(ge=1, le=LARGEST), BeforeValidator(_whole)]
NAME = r"^[A-Za-z0-9_-]{1,80}$"  # anything named in an address
IN_PATH: dict[str, TypeAdapter[Any]] = {
    "project_id": TypeAdapter(Number),
    "job_id": TypeAdapter(Annotated[str, Field(pattern=NAME)]),
    "webhook_id": TypeAdapter(Number),
}


class Asked(BaseModel):
    """What a program sends: exactly the described fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Given(BaseModel):
    """What a program receives."""

    model_config = ConfigDict(frozen=True)


class Project(Given):
    """A project in which the token's person has a role."""

    id: int
    name: str
    kind: Kind
    state: Literal["active", "archived"]
    question: str = Field(description="The question that annotators answer about each pair.")
    guidelines: str = Field(description="For annotators, in Markdown.")
    created_at: datetime
    rounds: int = Field(description="Number of batches so far.")
    labels: int = Field(description="Number of labelled pairs.")


class Projects(Given):
    """The projects, the newest first."""

    projects: list[Project]


class Lease(Asked):
    """How many pairs to lease, and from which batch."""

    n: Annotated[int, Field(ge=1, le=HELD), BeforeValidator(_whole)] = Field(
        HELD, description="The most pairs to lease; repeated pairs, which check answers, come on top."
    )
    audit_batch: bool = Field(
        False,
        validation_alias=AliasChoices("audit_batch", "sitting"),  # the name in earlier versions
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
    task_id: Annotated[int, Field(ge=-LARGEST, le=LARGEST), BeforeValidator(_whole)] = Field(
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
    limit: int = Field(100, ge=1, le=MOST_LABELS)


class Label(Given):
    """The current label of a pair, with the columns of an exported file."""

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


class GroupsAfter(Asked):
    """Where a page of groups starts, and how many it holds; or which group."""

    cursor: int = Field(0, ge=0, le=LARGEST, description="The cursor of the previous page; 0: the first page.")
    limit: int = Field(100, ge=1, le=MOST_GROUPS)
    group: str | None = Field(None, pattern=r"^g[1-9][0-9]{0,8}$", description="Only the group of this id.")


class GroupedText(Given):
    """A text in a group."""

    side: Side
    ids: list[str] = Field(description="Its ids in the imported files; identical texts of a list are one text.")


class Group(Given):
    """A group of two texts or more."""

    id: str = Field(description="It stays over rounds, and is never given to another group.")
    texts: list[GroupedText]


class GroupUpdate(Given):
    """How the groups were made."""

    at: datetime
    round: int = Field(description="The round of the model; 0: the pre-trained encoder.")
    threshold: float
    p: float | None = Field(description="The model's probability at the threshold; null for the encoder.")
    clustering: Clustering
    groups: int
    texts: int = Field(description="Number of texts in groups.")


class Groups(Given):
    """A page of the project's groups, by the age of their ids."""

    groups: list[Group]
    update: GroupUpdate | None = Field(description="Null until somebody has found matches.")
    cursor: int = Field(description="Start of the next page.")
    more: bool = Field(description="Whether there may be more groups.")
    changes_cursor: int = Field(description="Read the changes from here on to keep these groups up to date.")


class ChangesAfter(Asked):
    """Where a page of changes starts, and how many it holds."""

    cursor: int = Field(0, ge=0, le=LARGEST, description="The cursor of the previous page; 0: the first page.")
    limit: int = Field(100, ge=1, le=MOST_GROUPS)


class NamedText(Given):
    """A text, under one of its ids."""

    side: Side
    id: str


class GroupChange(Given):
    """What became of one group. At most 20 groups and texts are named; the numbers count all."""

    cursor: int
    at: datetime
    round: int = Field(description="The round of the model; 0: the pre-trained encoder.")
    group: str
    event: GroupEvent
    before: int = Field(description="Number of its texts before; 0: it was made.")
    size: int = Field(description="Number of its texts now; 0: it ended.")
    added: int
    removed: int
    from_groups: list[str] = Field(description="Other groups that added texts were in, the most frequent first.")
    to_groups: list[str] = Field(description="Other groups that removed texts are in now, the most frequent first.")
    texts_added: list[NamedText]
    texts_removed: list[NamedText]


class GroupChanges(Given):
    """A page of changes, in the order in which they happened."""

    changes: list[GroupChange]
    cursor: int = Field(description="Start of the next page. Used later, it finds what has changed since.")
    more: bool = Field(description="Whether there may be more changes now.")


class Figure(Given):
    """A value over all pairs with its 95 % interval; the interval of an exact value is the value itself."""

    value: float
    low: float
    high: float
    method: str
    labels: int = Field(description="Number of labels it is estimated from; 0 if it is computed from known pairs.")


class Evaluation(Given):
    """The evaluation of a round's model."""

    round: int = Field(description="0: before training.")
    labels: int = Field(description="Number of labels it was trained on.")
    positives: int = Field(description="Number of positives among them.")
    pairs: int = Field(description="Number of pairs it was measured on.")
    figures: dict[str, Figure]


class Metrics(Given):
    """The figures of the page Monitor, round by round; empty until something has been measured."""

    evaluations: list[Evaluation]


class JobsAsked(Asked):
    """How many jobs to list."""

    limit: int = Field(20, ge=1, le=MOST_JOBS)


class Job(Given):
    """A job and its progress."""

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
    """The jobs, the newest first."""

    jobs: list[Job]


class JobStart(Asked):
    """The job to start."""

    kind: Literal["next_round"] = Field(description="Train on all answers so far, measure, and choose the next batch.")


Told = Literal[
    NoticeKind.BATCH_READY, NoticeKind.TRAINING_DONE, NoticeKind.TRAINING_FAILED, NoticeKind.TARGET_REACHED,
    NoticeKind.DISAGREEMENT, NoticeKind.GROUP_CHANGED,
]  # fmt: skip
HOST = r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"


class WebhookAdd(Asked):
    """A webhook to add: where messages go, and what they tell."""

    url: str = Field(
        max_length=LONGEST_URL,
        pattern=rf"^https?://{HOST}(:[1-9][0-9]{{0,4}})?([/?][!-\"$-~]*)?$",
        description="Private addresses are refused unless the operator allows their network.",
    )
    kinds: list[Told] = Field(min_length=1)


class Webhook(Given):
    """A webhook of the project. Its secret is shown only when it is added."""

    id: int
    url: str
    kinds: list[str]
    active: bool
    created_at: datetime


class NewWebhook(Webhook):
    """A new webhook, with the secret that signs its messages: it is not shown again."""

    secret: str


class Webhooks(Given):
    """The webhooks, the oldest first."""

    webhooks: list[Webhook]


class DeliveriesAsked(Asked):
    """How many deliveries to list."""

    limit: int = Field(20, ge=1, le=MOST_DELIVERIES)


class Delivery(Given):
    """A message on its way to a webhook."""

    id: int
    kind: NoticeKind
    state: DeliveryState
    attempts: int
    status: int | None = Field(description="The HTTP status of the last answer; null: there was none.")
    error: str | None = Field(description="Why the last attempt failed.")
    created_at: datetime
    next_at: datetime | None = Field(description="The next attempt, if it waits for one.")
    delivered_at: datetime | None


class Deliveries(Given):
    """The deliveries, the newest first."""

    deliveries: list[Delivery]


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]


class MatchAsked(Asked):
    """Texts, or records by the names of their columns, whose best candidates are wanted."""

    texts: list[Text | dict[str, Text]] = Field(
        min_length=1, max_length=MOST_ASKED, description="Either texts, or records: `{column: value}`."
    )
    k: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), BeforeValidator(_whole)] = Field(
        10, description="The most candidates of each text."
    )
    side: Side = Field(
        Side.LEFT,
        description="The list that the texts belong to; candidates come from the other, if there are two.",
    )
    why: bool = Field(True, description="Whether to give the parts of each score.")


class WhyPart(Given):
    """What one part adds to the log-odds of a match."""

    part: str
    amount: float
    words: list[str] = Field(description="Words behind it: shared ones, or numbers of either text.")


class Candidate(Given):
    """A text of the project that may match."""

    item: int = Field(description="Its number in the project.")
    ids: list[str] = Field(description="Its ids from the imported file.")
    group: str | None = Field(description="The id of its group; null: it is alone, or no groups are kept.")
    text: str
    fields: dict[str, str] | None = Field(description="Its columns, if it has several.")
    score: float
    p: float = Field(description="The probability of a match.")
    why: list[WhyPart] | None = Field(description="The parts of its log-odds, if they were asked for.")


class Recall(Given):
    """The share of a text's ten nearest that the search finds, with its 95 % interval."""

    value: float
    low: float
    high: float
    method: str
    labels: int = Field(description="Texts on which it was measured.")


class Matches(Given):
    """The best candidates of each text, best first, in the order of the texts."""

    round: int = Field(description="The round whose model answered.")
    publication: int = Field(description="The number of its publication.")
    recall: Recall | None = Field(description="Of the search; null if it is exact.")
    results: list[list[Candidate]]


class Publish(Asked):
    """Which round's model to publish."""

    round: Number | None = Field(None, description="The round; null for the newest.")
    note: str = Field("", max_length=LONGEST_NOTE, pattern=STORED, description="Why, for the history.")
    kind: PublicationKind = Field(
        PublicationKind.MODEL, description="model: it answers requests; shadow: it is compared on the same requests."
    )


class Publication(Given):
    """A round's model put into service, or the end of that."""

    id: int
    kind: PublicationKind
    round: int | None = Field(description="null: nothing of this kind is in service from here on.")
    note: str
    who: str = Field(description="Empty: the command line, or an app without sign-in.")
    at: datetime


class Agreement(Given):
    """How far the shadow agrees with the published model, on the candidates that are among the first ten of either."""

    texts: int = Field(description="Texts that were compared, since either model was published or named.")
    same_best: float = Field(description="Share of the texts with the same best candidate.")
    shared: float = Field(description="Mean share of the first ten candidates that both have.")
    pairs: int = Field(description="Candidates that were compared.")
    p_mean_difference: float = Field(description="Mean of the shadow's p less the published model's.")
    p_mean_distance: float = Field(description="Mean size of that difference.")
    gained: int = Field(description="Candidates at or above p = 1/2 under the shadow alone.")
    lost: int = Field(description="Candidates at or above p = 1/2 under the published model alone.")


class Publications(Given):
    """What is in service, and all publications, the newest first."""

    published: Publication | None
    shadow: Publication | None
    agreement: Agreement | None = Field(description="null before the first comparison.")
    publications: list[Publication]


class TextRecord(Asked):
    """A text, or the values of a record's text columns, under its id."""

    id: str = Field(min_length=1, max_length=MAX_ID, pattern=STORED)
    text: str | None = Field(
        None, max_length=MAX_CELL, pattern=STORED, description="Of a project with one text column."
    )
    columns: dict[str, Annotated[str, Field(max_length=MAX_CELL, pattern=STORED)]] | None = Field(
        None, description="Of a project with several text columns: the value of each, by its name."
    )


class Texts(Asked):
    """Texts to add and change, or ids to withdraw: one of the two. All of it is one change."""

    texts: list[TextRecord] = Field([], max_length=MOST_TEXTS, description="An id that the project has gets this text.")
    withdraw: list[Annotated[str, Field(min_length=1, max_length=MAX_ID, pattern=STORED)]] = Field(
        [], max_length=MOST_TEXTS
    )
    side: Side = Field(Side.LEFT, description="The list of the texts, if the project has two.")
    dry_run: bool = Field(False, description="Store nothing; only count what would change.")


class TextsChanged(Given):
    """How many ids a request changes, by kind, and the number of the change that is stored."""

    new: int = Field(description="New ids with new texts.")
    equal: int = Field(description="New ids of texts that the project has, or had.")
    changed: int = Field(description="Ids with another text than before.")
    same: int = Field(description="Ids with the same text as before.")
    withdrawn: int
    unknown: int = Field(description="Ids to withdraw that the project does not have.")
    notes: list[str]
    change: int | None = Field(description="Null if nothing was stored: a dry run, or nothing to change.")


class TextChange(Given):
    """A change of the project's texts."""

    number: int
    who: str = Field(description="Empty: somebody without sign-in.")
    source: str = Field(description="The name of the file; `records.jsonl` for records sent to this API.")
    added: int
    changed: int
    withdrawn: int
    at: datetime
    undone_at: datetime | None
    can_undo: bool = Field(description="Whether it is the newest change that stands.")


class TextChanges(Given):
    """The last changes of the project's texts, the newest first."""

    changes: list[TextChange]


class TextUndo(Asked):
    """The change to undo; with its number nobody undoes another one than they have seen."""

    number: Number | None = Field(None, description="Its number; null: whichever is the newest that stands.")
