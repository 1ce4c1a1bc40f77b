"""The tables. Answers and events are append-only; everything else is written only by its owner."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy import DateTime as SqlDateTime
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from allpairs.db.domain import (
    AnswerKind,
    CheckKind,
    Clustering,
    DeliveryState,
    DesignKind,
    EventKind,
    GroupEvent,
    Kind,
    NoticeKind,
    PublicationKind,
    Purpose,
    Queue,
    Representative,
    Role,
    Side,
    Split,
)


def now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)


class Instant(TypeDecorator[datetime]):
    """An aware UTC time on every database (SQLite itself loses the zone)."""

    impl = SqlDateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


COUNT_OF_PAIRS = BigInteger().with_variant(Integer, "sqlite")  # whose integers have 64 bits anyway


class Base(DeclarativeBase):
    type_annotation_map = {  # noqa: RUF012  (SQLAlchemy reads it so)
        dict[str, Any]: JSON,
        list[dict[str, Any]]: JSON,
        datetime: Instant,
        Kind: String(16),
        Side: String(8),
        Split: String(16),
        AnswerKind: String(16),
        Purpose: String(8),
        DesignKind: String(16),
        CheckKind: String(8),
        Queue: String(8),
        Role: String(16),
        EventKind: String(32),
        NoticeKind: String(32),
        DeliveryState: String(16),
        PublicationKind: String(8),
        Clustering: String(16),
        Representative: String(16),
        GroupEvent: String(16),
    }


def of_project() -> Mapped[int]:
    """Return a column that names the owning project."""
    return mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), index=True)


def of_item() -> Mapped[int]:
    """Return a column that names an item; without its index, deleting a project would scan the table for every item."""
    return mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)


class Project(Base):
    __tablename__ = "projects"
    # The number of a deleted project is never reused: folders and jobs contain it.
    __table_args__ = ({"sqlite_autoincrement": True},)
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    kind: Mapped[Kind]
    settings: Mapped[dict[str, Any]]
    # The names of each side's text columns: {"left": [...], "right": [...]}. Empty if no file had more than one.
    text_columns: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=now)
    archived_at: Mapped[datetime | None]  # since then it is hidden from lists, and no job runs for it
    deleted_at: Mapped[datetime | None]  # since then it is in the bin


class Item(Base):
    """One text. Identical texts are one item with several identifiers, and the columns of the first one."""

    __tablename__ = "items"
    __table_args__ = (
        Index("ix_items_counted", "project_id", "side", "split"),  # counting reads no texts
        Index(
            "ix_items_withdrawn", "project_id", sqlite_where=text("withdrawn_at IS NOT NULL"),
            postgresql_where=text("withdrawn_at IS NOT NULL"),
        ),  # few of very many texts are withdrawn
        Index(
            "ix_items_added", "project_id", "added_in", sqlite_where=text("added_in IS NOT NULL"),
            postgresql_where=text("added_in IS NOT NULL"),
        ),
    )  # fmt: skip
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    side: Mapped[Side]
    split: Mapped[Split]
    text: Mapped[str] = mapped_column(Text)
    # How many characters of the text each column's value has (`db/corpus/fields.py`); empty if there is one column.
    field_lengths: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))
    # Number of the change that brought the text, the last one if it came back; empty: it came with the project.
    added_in: Mapped[int | None]
    withdrawn_at: Mapped[datetime | None]  # since then no identifier names it


class Identifier(Base):
    """An item's id from the imported file."""

    __tablename__ = "identifiers"
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    side: Mapped[Side] = mapped_column(primary_key=True)
    external_id: Mapped[str] = mapped_column(String(500), primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)


class TextChange(Base):
    """An act that added, changed or withdrew texts of a project. Only the newest one that stands can be undone."""

    __tablename__ = "text_changes"
    __table_args__ = (UniqueConstraint("project_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    number: Mapped[int]  # from 1
    who: Mapped[str] = mapped_column(String(80))  # as in an event
    source: Mapped[str] = mapped_column(String(500))  # the file's name
    added: Mapped[int]  # identifiers that are new
    changed: Mapped[int]  # identifiers that name another text since
    withdrawn: Mapped[int]  # identifiers that name no text since
    measuring: Mapped[int]  # texts for evaluation that came or went
    at: Mapped[datetime] = mapped_column(default=now)
    undone_at: Mapped[datetime | None]


class IdentifierChange(Base):
    """What an identifier named before a change of texts, and after it."""

    __tablename__ = "identifier_changes"
    change_id: Mapped[int] = mapped_column(ForeignKey("text_changes.id", ondelete="CASCADE"), primary_key=True)
    side: Mapped[Side] = mapped_column(primary_key=True)
    external_id: Mapped[str] = mapped_column(String(500), primary_key=True)
    project_id: Mapped[int] = of_project()
    before_id: Mapped[int | None] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)
    after_id: Mapped[int | None] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)


class Gold(Base):
    """A known answer that came with the data, or follows from it by transitive closure."""

    __tablename__ = "gold"
    __table_args__ = (Index("ix_gold_drawn", "project_id", "positive", "left_id", "right_id"),)
    left_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), primary_key=True)
    right_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), primary_key=True, index=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    positive: Mapped[bool]
    closure: Mapped[bool] = mapped_column(default=False)


class Matcher(Base):
    """A trained model, or the pre-trained encoder of round 0 (`w` and `b` are then empty)."""

    __tablename__ = "matchers"
    __table_args__ = (UniqueConstraint("project_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    number: Mapped[int]  # trained on the answers of batches 1 … number
    folder: Mapped[str | None]  # below the artifact folder; empty for the base encoder itself
    encoder: Mapped[str]
    w: Mapped[float | None]
    b: Mapped[float | None]
    cutoff: Mapped[int] = mapped_column(default=0)  # the last answer that the training saw
    labels: Mapped[int] = mapped_column(default=0)
    positives: Mapped[int] = mapped_column(default=0)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)  # seed, loss, seconds by stage
    created_at: Mapped[datetime] = mapped_column(default=now)


class Evaluation(Base):
    """The figures of one matcher over all pairs of evaluation items."""

    __tablename__ = "evaluations"
    matcher_id: Mapped[int] = mapped_column(ForeignKey("matchers.id", ondelete="CASCADE"), primary_key=True)
    pairs: Mapped[int] = mapped_column(COUNT_OF_PAIRS)
    positives: Mapped[int | None]  # known positives; empty if they are estimated
    estimates: Mapped[dict[str, Any]]  # name -> {value, low, high, method, labels}
    curve: Mapped[dict[str, Any]]  # recall, precision, score, and if sampled low, high: lists of equal length
    histogram: Mapped[dict[str, Any]]  # edges, negatives, positives; if positives are estimated: edges, pairs
    # Strata, advice and top of an audit; with known positives also `estimates` that count the ones nobody named.
    audit: Mapped[dict[str, Any]] = mapped_column(default=dict)

    @property
    def by_audit(self) -> bool:
        """Whether audit labels alone give the figures."""
        return bool(self.audit) and self.positives is None


class Publication(Base):
    """A round's model put into service, or its end. Append-only; the newest of each kind counts."""

    __tablename__ = "publications"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    kind: Mapped[PublicationKind]
    # Empty: nothing of this kind is in service from here on, or a later training has replaced the model.
    matcher_id: Mapped[int | None] = mapped_column(ForeignKey("matchers.id", ondelete="SET NULL"), index=True)
    number: Mapped[int | None]  # the model's round; empty: an end
    note: Mapped[str] = mapped_column(Text, default="")
    who: Mapped[str] = mapped_column(String(80))  # empty: the command line, or an app without sign-in
    at: Mapped[datetime] = mapped_column(default=now)


class ShadowCounts(Base):
    """How the answers of a shadow differed from those of the published model: sums, and no text."""

    __tablename__ = "shadow_counts"
    published_id: Mapped[int] = mapped_column(ForeignKey("publications.id", ondelete="CASCADE"), primary_key=True)
    shadow_id: Mapped[int] = mapped_column(
        ForeignKey("publications.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    project_id: Mapped[int] = of_project()
    texts: Mapped[int]  # that were compared
    same_best: Mapped[int]  # texts with the same best candidate
    shared: Mapped[float]  # sum over texts: share of the first ten candidates that both have
    pairs: Mapped[int]  # candidates among the first ten of either
    more: Mapped[float]  # sum over pairs: p of the shadow less p of the published model
    away: Mapped[float]  # sum over pairs: the size of that difference
    gained: Mapped[int]  # pairs at or above p = 1/2 under the shadow alone
    lost: Mapped[int]  # pairs at or above p = 1/2 under the published model alone
    updated_at: Mapped[datetime] = mapped_column(default=now)


class Design(Base):
    """A sampling design for audit tasks: strata of all evaluation pairs, as ranked by a model, or of mined pairs."""

    __tablename__ = "designs"
    __table_args__ = (UniqueConstraint("project_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    number: Mapped[int]  # from 1
    kind: Mapped[DesignKind]
    matcher_id: Mapped[int | None] = mapped_column(ForeignKey("matchers.id", ondelete="SET NULL"))
    pairs: Mapped[int] = mapped_column(COUNT_OF_PAIRS)  # all pairs of evaluation items, or of the mined list
    strata: Mapped[list[dict[str, Any]]]  # the highest first: name, low, high (scores), size
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)  # of a correction: recall, threshold, true
    folder: Mapped[str]  # below the artifact folder: the sampling orders, and what the model's scores need
    created_at: Mapped[datetime] = mapped_column(default=now)


class GroupUpdate(Base):
    """An act that made the project's groups anew: by which model, from which score on, and how. Append-only."""

    __tablename__ = "group_updates"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    matcher: Mapped[int]  # its number; the row of a matcher may be replaced
    threshold: Mapped[float]
    p: Mapped[float | None]  # at the threshold, if the matcher has probabilities
    clustering: Mapped[Clustering]
    representative: Mapped[Representative]
    newest_by: Mapped[str] = mapped_column(Text)
    groups: Mapped[int]
    texts: Mapped[int]  # in groups
    created_at: Mapped[datetime] = mapped_column(default=now)


class GroupChange(Base):
    """What an update made of one group. Append-only; ids ascend in the order in which transactions were committed."""

    __tablename__ = "group_changes"
    __table_args__ = (
        Index("ix_group_changes_cursor", "project_id", "id"),
        Index("ix_group_changes_group", "project_id", "number"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    update_id: Mapped[int] = mapped_column(ForeignKey("group_updates.id", ondelete="CASCADE"), index=True)
    number: Mapped[int]  # of the group, from 1; never given to another one
    event: Mapped[GroupEvent]
    before: Mapped[int]  # its texts before; 0: it was made
    size: Mapped[int]  # its texts after; 0: it ended
    added: Mapped[int]
    removed: Mapped[int]
    # from_groups, to_groups: numbers of other groups; items_added, items_removed: [side, id]; the first of each only.
    details: Mapped[dict[str, Any]]


class GroupedItem(Base):
    """Which of the project's groups a text is in now; a text that is alone has no row."""

    __tablename__ = "grouped_items"
    __table_args__ = (Index("ix_grouped_items_group", "project_id", "number"),)
    item_id: Mapped[int] = mapped_column(
        ForeignKey("items.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    number: Mapped[int]


class Round(Base):
    """One batch of tasks: `size` tasks are the batch, the others are a reserve while the next one is prepared.

    An audit batch, whose tasks are only for measuring, is a round without a number.
    """

    __tablename__ = "rounds"
    __table_args__ = (UniqueConstraint("project_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    number: Mapped[int | None]  # from 1; empty: an audit batch
    strategy: Mapped[str]  # of an audit batch: the kind of its design
    size: Mapped[int]
    matcher_id: Mapped[int | None] = mapped_column(ForeignKey("matchers.id"))
    note: Mapped[str] = mapped_column(Text, default="")  # for annotators
    ordered: Mapped[str | None] = mapped_column(String(32))  # how a re-ranker ordered the batch, if one did
    created_at: Mapped[datetime] = mapped_column(default=now)


class Task(Base):
    """A pair chosen for labelling, and why."""

    __tablename__ = "tasks"
    __table_args__ = (
        UniqueConstraint("round_id", "left_id", "right_id"),
        Index("ix_tasks_round_position", "round_id", "position"),
        Index(
            "ix_tasks_several", "project_id", sqlite_where=text("votes > 1"), postgresql_where=text("votes > 1")
        ),  # few of very many tasks are for several annotators
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"))
    left_id: Mapped[int] = of_item()
    right_id: Mapped[int] = of_item()
    position: Mapped[int]  # from 0; a position at or above the round's size is in reserve
    strategy: Mapped[str]
    score: Mapped[float]  # cosine under the model that chose the pair
    p: Mapped[float | None]  # that model's probability of a positive
    inclusion: Mapped[float | None]  # probability with which the pair was sampled, if it was
    stratum: Mapped[int | None]  # place in the design's strata, from 0
    design_id: Mapped[int | None] = mapped_column(
        ForeignKey("designs.id", ondelete="CASCADE", name="fk_tasks_design_id"), index=True
    )
    purpose: Mapped[Purpose] = mapped_column(default=Purpose.TRAIN)
    turned: Mapped[bool] = mapped_column(default=False, server_default=false())  # shown with the right text first
    rerank: Mapped[float | None]  # the re-ranker's score, if one ordered the batch
    # Characters of the right text, if it is a passage: the sentence most similar to the left text.
    likely_start: Mapped[int | None]
    likely_end: Mapped[int | None]
    # The labelled pairs most similar to this one when it was chosen: [left_id, right_id, similarity (mean cosine)].
    alike: Mapped[list[Any] | None] = mapped_column(JSON)
    votes: Mapped[int] = mapped_column(default=1, server_default="1")  # annotators who should label it


class Lease(Base):
    """A reservation of a task for an annotator, in one of their browsers, for a limited time."""

    __tablename__ = "leases"
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    annotator: Mapped[str] = mapped_column(String(200), index=True)
    device: Mapped[str | None] = mapped_column(String(32))  # empty: any of the annotator's
    expires_at: Mapped[datetime]


class Answer(Base):
    """One act of one annotator on one pair. Append-only: undo and correction are new rows."""

    __tablename__ = "answers"
    __table_args__ = (
        Index("ix_answers_pair", "project_id", "left_id", "right_id", "annotator"),
        Index("ix_answers_counted", "project_id", "created_at", "answer"),
        Index("ix_answers_annotator", "project_id", "annotator", "id"),
        Index(
            "ix_answers_settling", "project_id", sqlite_where=text("settles = 1"), postgresql_where=text("settles")
        ),  # few of very many answers are a review's
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    task_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id", ondelete="SET NULL"), index=True)
    left_id: Mapped[int] = of_item()
    right_id: Mapped[int] = of_item()
    annotator: Mapped[str] = mapped_column(String(200))
    answer: Mapped[AnswerKind]
    key: Mapped[str] = mapped_column(String(80), unique=True)  # the client's own id: a replay is stored only once
    seconds: Mapped[float | None]  # time the pair was on screen
    note: Mapped[str | None] = mapped_column(Text)  # the annotator's remark on the pair
    settles: Mapped[bool] = mapped_column(default=False, server_default=false())  # given in the review of a pair
    guidelines: Mapped[str | None] = mapped_column(String(8))  # their version at that time; empty: unknown
    created_at: Mapped[datetime] = mapped_column(default=now)


class PairLabel(Base):
    """The current label of one pair. A trigger on `answers` maintains it (migration 0005); nothing else writes here."""

    __tablename__ = "labels"
    __table_args__ = (Index("ix_labels_counted", "project_id", "purpose", "answer"),)
    left_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    right_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    answer_id: Mapped[int] = mapped_column(index=True)
    answer: Mapped[AnswerKind]
    purpose: Mapped[Purpose]  # of the task that was answered; imported labels are for training


class Check(Base):
    """A pair shown to one annotator to see how they answer it. Its answers are not votes, and change no label."""

    __tablename__ = "checks"
    __table_args__ = (
        UniqueConstraint("before_id", "annotator"),
        Index("ix_checks_pair", "project_id", "annotator", "left_id", "right_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    annotator: Mapped[str] = mapped_column(String(200))
    kind: Mapped[CheckKind]
    left_id: Mapped[int] = of_item()
    right_id: Mapped[int] = of_item()
    expected: Mapped[AnswerKind]  # the known answer, or the annotator's earlier one
    task_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id", ondelete="SET NULL"), index=True)  # of the pair
    before_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id", ondelete="SET NULL"))  # shown before it
    created_at: Mapped[datetime] = mapped_column(default=now)


class CheckAnswer(Base):
    """One act of the annotator on a check. Append-only; the last one counts."""

    __tablename__ = "check_answers"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    check_id: Mapped[int] = mapped_column(ForeignKey("checks.id", ondelete="CASCADE"), index=True)
    answer: Mapped[AnswerKind]
    key: Mapped[str] = mapped_column(String(80), unique=True)  # as in an answer
    seconds: Mapped[float | None]
    note: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=now)


class FastAnswers(Base):
    """A run of identical answers of one annotator, each too fast to have read the texts. It grows while it lasts."""

    __tablename__ = "rushes"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    annotator: Mapped[str] = mapped_column(String(200))
    answer: Mapped[AnswerKind]
    first_id: Mapped[int] = mapped_column(ForeignKey("answers.id", ondelete="CASCADE"), index=True)
    last_id: Mapped[int] = mapped_column(ForeignKey("answers.id", ondelete="CASCADE"), index=True)
    answers: Mapped[int]
    seconds: Mapped[float]  # of all of them together


class FastAnswersTask(Base):
    """A task from fast answers that is queued again: for another annotator, or for the same one as a check."""

    __tablename__ = "rush_tasks"
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    rush_id: Mapped[int] = mapped_column(ForeignKey("rushes.id", ondelete="CASCADE"), index=True)
    project_id: Mapped[int] = of_project()


class Study(Base):
    """Questions that the models of a pipeline's run wrote, sampled for people to rate."""

    __tablename__ = "studies"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    run_id: Mapped[str] = mapped_column(String(80))  # it may be deleted: the units hold what is rated
    models: Mapped[list[str]] = mapped_column(JSON)  # in the order of the table
    per_model: Mapped[int]  # number of sampled passages: every model asks about each
    seed: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(default=now)


class StudyUnit(Base):
    """A question of a study with its passage; models that ask the same about a passage share it."""

    __tablename__ = "study_units"
    __table_args__ = (UniqueConstraint("study_id", "position"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    position: Mapped[int]  # from 0, in random order
    passage: Mapped[str] = mapped_column(Text)
    question: Mapped[str] = mapped_column(Text)
    models: Mapped[list[str]] = mapped_column(JSON)  # raters do not see them


class Rating(Base):
    """One rating by one rater of one unit: good or bad by four criteria. Append-only; a rater's last one counts."""

    __tablename__ = "ratings"
    __table_args__ = (Index("ix_ratings_unit", "unit_id", "rater"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    unit_id: Mapped[int] = mapped_column(ForeignKey("study_units.id", ondelete="CASCADE"))
    rater: Mapped[str] = mapped_column(String(200))
    naturalness: Mapped[bool]
    coverage: Mapped[bool]
    correctness: Mapped[bool]
    answerability: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(default=now)


class Job(Base):
    """The progress of a job. DBOS owns the job itself; this row is what pages show of it."""

    __tablename__ = "jobs"
    id: Mapped[str] = mapped_column(String(80), primary_key=True)  # the DBOS workflow id
    project_id: Mapped[int] = of_project()
    kind: Mapped[str] = mapped_column(String(40))
    state: Mapped[str] = mapped_column(String(16), default="waiting")  # waiting, running, done, failed, cancelled
    stage: Mapped[str] = mapped_column(default="")
    fraction: Mapped[float] = mapped_column(default=0.0)
    seconds_left: Mapped[float | None]
    cancel: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str | None] = mapped_column(Text)
    traceback: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now)


class Worker(Base):
    """A worker process and when it last reported."""

    __tablename__ = "workers"
    executor_id: Mapped[str] = mapped_column(String(80), primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    device: Mapped[str]
    queue: Mapped[Queue | None]  # whose jobs it takes; empty while it starts
    seen_at: Mapped[datetime] = mapped_column(default=now)


class MatchServer(Base):
    """A process that answers `match`: where it listens, and when it last reported."""

    __tablename__ = "match_servers"
    name: Mapped[str] = mapped_column(String(80), primary_key=True)
    host: Mapped[str]  # the machine
    pid: Mapped[int]
    address: Mapped[str]  # that the app reaches it at: host:port
    secret: Mapped[str] = mapped_column(String(64))  # what a request has to show; new at each start
    seen_at: Mapped[datetime] = mapped_column(default=now)


class Person(Base):
    """A person with an account. Never removed: answers carry the name, so nobody else may get it."""

    __tablename__ = "people"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    folded: Mapped[str] = mapped_column(String(400), unique=True)  # the name without regard to case or form
    password: Mapped[str | None] = mapped_column(Text)  # argon2id with its parameters; empty: no sign-in by password
    issuer: Mapped[str | None] = mapped_column(String(500))  # OpenID Connect provider of the person, and
    subject: Mapped[str | None] = mapped_column(String(255))  # their id there
    administrator: Mapped[bool] = mapped_column(default=False)  # of the whole installation, so of every project
    disabled_at: Mapped[datetime | None]
    changed_at: Mapped[datetime] = mapped_column(default=now)  # when their rights last changed, which ends open pages
    created_at: Mapped[datetime] = mapped_column(default=now)


class Membership(Base):
    """A person's role in a project."""

    __tablename__ = "memberships"
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[Role]


class Login(Base):
    """A browser in which somebody is signed in. Only the browser has the token; stored here is its SHA-256."""

    __tablename__ = "logins"
    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    token: Mapped[str] = mapped_column(String(64), unique=True)
    previous: Mapped[str | None] = mapped_column(String(64), index=True)  # valid for a minute after the rotation
    ticket_of: Mapped[str | None] = mapped_column(String(64))  # while it is a ticket: the browser that may redeem it
    created_at: Mapped[datetime]
    rotated_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class ApiToken(Base):
    """A program's token for the REST API, in place of a login. Stored as SHA-256."""

    __tablename__ = "api_tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    token: Mapped[str] = mapped_column(String(64), unique=True)
    purpose: Mapped[str] = mapped_column(String(80))  # what it is for, in the person's own words
    scopes: Mapped[list[str]] = mapped_column(JSON)  # what it lets a program do, within its person's role
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]


class Invitation(Base):
    """A link that lets one person join a project, once. Its token is stored as SHA-256."""

    __tablename__ = "invitations"
    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[str] = mapped_column(String(64), unique=True)
    project_id: Mapped[int] = of_project()
    role: Mapped[Role]
    made_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))  # empty: command line
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    used_at: Mapped[datetime | None]


class LoginAttempt(Base):
    """An attempt to sign in that failed or is being checked. In the database, so that all app processes share it."""

    __tablename__ = "login_attempts"
    __table_args__ = (
        Index("ix_login_attempts_name", "name", "at"),
        Index("ix_login_attempts_address", "address", "at"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(400))
    address: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime]


class Event(Base):
    """A change to a project, or without one to the installation. Append-only; answers are their own history."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int | None] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    who: Mapped[str] = mapped_column(String(80))  # empty: the command line, or an app without sign-in
    kind: Mapped[EventKind]
    about: Mapped[str] = mapped_column(Text)  # whom or what: a person's name, a file's, a project's
    old: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    new: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    at: Mapped[datetime] = mapped_column(default=now)


class Webhook(Base):
    """An address of another system that is told what happens in a project."""

    __tablename__ = "webhooks"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    url: Mapped[str] = mapped_column(String(2000))
    kinds: Mapped[list[str]] = mapped_column(JSON)  # of the notices that it gets
    secret: Mapped[str] = mapped_column(String(80))  # not hashed: each message is signed with it
    active: Mapped[bool] = mapped_column(default=True)  # if not, it gets no new notices, and waiting ones wait
    made_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class Notice(Base):
    """Something that happened and that webhooks tell, written in the transaction in which it happened."""

    __tablename__ = "notices"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    key: Mapped[str] = mapped_column(String(80), unique=True)  # the message's id, by which receivers drop repeats
    kind: Mapped[NoticeKind]
    body: Mapped[dict[str, Any]]  # the message, the same at each attempt
    created_at: Mapped[datetime] = mapped_column(default=now, index=True)


class Delivery(Base):
    """A notice on its way to one webhook."""

    __tablename__ = "deliveries"
    __table_args__ = (UniqueConstraint("notice_id", "webhook_id"), Index("ix_deliveries_due", "state", "next_at"))
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    notice_id: Mapped[int] = mapped_column(ForeignKey("notices.id", ondelete="CASCADE"))
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"), index=True)
    state: Mapped[DeliveryState] = mapped_column(default=DeliveryState.WAITING)
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime] = mapped_column(default=now)  # of the next attempt; during one, when it counts as lost
    status: Mapped[int | None]  # the HTTP status of the last answer; empty: there was none
    error: Mapped[str | None] = mapped_column(Text)  # of the last attempt
    delivered_at: Mapped[datetime | None]
