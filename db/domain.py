"""The words of the product: enums, settings, estimates. Imports nothing of the project."""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
READ_TOKENS = 256  # of a text, by the default encoder
# What chooses before there is a trained model: the first batch, as the setting says, and the batches after one of
# positives alone, since a model needs negatives.
SEED_STRATEGY = "most-similar"
HALF_SPREAD_STRATEGY = "half-spread"
SPREAD_STRATEGY = "spread"

GrowthKind = Literal["exponential", "linear", "constant"]
FirstBatch = Literal["half-spread", "most-similar"]  # strategies
Distance = Literal["cosine", "dot", "l2"]
RaterUse = Literal["measure", "train", "route"]
ROUTED = "routed"  # strategy of a task whose place in the batch a machine rater's verdict has decided
SecondStageUse = Literal["auto", "on", "off"]
Search = Literal["auto", "exact", "faiss-hnsw", "faiss-ivf"]


class Kind(StrEnum):
    SYMMETRIC = "symmetric"  # one list, unordered pairs
    BIPARTITE = "bipartite"  # left x right


class Side(StrEnum):
    LEFT = "left"
    RIGHT = "right"


class Split(StrEnum):
    TRAIN = "train"
    EVALUATION = "evaluation"
    SHARED = "both"  # right side of a bipartite project: shared by train and evaluation pairs


class Stated(StrEnum):
    """Which pairs accuracy and F1 are measured on: the known ones, with or without positives implied by closure."""

    CLOSED = "closed"
    AS_LISTED = "given"


class Clustering(StrEnum):
    """How matches make groups; the last two need two lists."""

    CONNECTED = "connected"
    AVERAGE = "average"
    CORRELATION = "correlation"
    ONE_TO_ONE = "one-to-one"
    ONE_TO_MANY = "one-to-many"


class Representative(StrEnum):
    """Which text stands for its group: of the most probable links in all, the longest, or the newest by a column."""

    CENTRAL = "central"
    LONGEST = "longest"
    NEWEST = "newest"


class GroupEvent(StrEnum):
    """What became of a group whose texts are not the same any more."""

    CREATED = "made"
    GROWN = "grown"  # texts were added, none removed
    SHRUNK = "shrunk"  # texts were removed, none added
    CHANGED = "changed"  # some were added and some removed
    JOINED = "joined"  # another group ended, and texts of it are in this one
    DIVIDED = "divided"  # texts of it are in a new group, and none of a group that ended are in it
    ENDED = "ended"  # fewer than two of its texts are together, or another group has its texts


class FieldKind(StrEnum):
    """What the values of a text column are, and so how two of them are compared."""

    TEXT = "text"
    NAME = "name"
    ORGANISATION = "organisation"
    ADDRESS = "address"
    EMAIL = "email"
    PHONE = "phone"
    CODE = "code"
    NUMBER = "number"
    PRICE = "price"  # compared, but not read by the model: two shops rarely agree on every digit
    DATE = "date"


class AnswerKind(StrEnum):
    """What an annotator did with a pair. An annotator's last answer on a pair counts."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    UNSURE = "unsure"  # not used for training
    SKIP = "skip"  # not an answer: the pair goes to the end of this annotator's queue
    RETRACT = "retract"  # undo: the pair is unanswered again


LONGEST_NOTE = 2_000  # characters in a note
LABELS = (AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE)
DECIDED = (AnswerKind.POSITIVE, AnswerKind.NEGATIVE)  # match, no match: without unsure
# Suffixes of files that can run code when they are read; weights are only read from safetensors.
PICKLED = (".bin", ".ckpt", ".dill", ".joblib", ".pickle", ".pkl", ".pt", ".pth")


class Queue(StrEnum):
    """The queues in which jobs wait for a worker."""

    GPU = "gpu"  # jobs that train, or encode whole lists
    CPU = "cpu"  # jobs that read labels and stored vectors, and that people wait for


class Purpose(StrEnum):
    TRAIN = "train"
    AUDIT = "audit"  # sampled for measuring; never used for training


class DesignKind(StrEnum):
    """What the tasks of an audit batch are sampled for."""

    AUDIT = "audit"  # every figure over all pairs, if there is no gold
    CORRECTION = "correction"  # how many pairs missing from gold are positives after all
    ENTITIES = "entities"  # how good groups are: pairs of drawn texts, by which their entities are complete
    MINED = "mined"  # the precision of a pipeline's mined pairs; these labels are used for training, too


class CheckKind(StrEnum):
    """What an answer to a check is compared with."""

    GOLD = "gold"  # the known answer, or what a review settled
    REPEAT = "repeat"  # the same annotator's earlier answer


class Role(StrEnum):
    """A person's role in one project; `annotate/frame/access/roles.py` says what each role may do."""

    ADMINISTRATOR = "administrator"
    ADJUDICATOR = "adjudicator"
    ANNOTATOR = "annotator"
    VIEWER = "viewer"


class Scope(StrEnum):
    """What a token lets a program do, within what its person's role allows."""

    READ = "read"  # projects, labels, groups, figures, jobs, matches of new records
    LABEL = "label"  # lease pairs and answer them
    TRAIN = "train"  # start and cancel jobs, change texts, publish models, ask machine raters, add and delete webhooks
    ADMINISTER = "administer"  # the metrics of the installation, where machine raters send texts


class EventKind(StrEnum):
    """Changes that people make to projects or the installation, apart from answering; the value is shown as it is."""

    CREATED = "project made"
    SETTINGS = "settings changed"
    ROLE = "role changed"
    INVITED = "invitation made"
    INVITATION_USED = "invitation used"
    WITHDRAWN = "invitation withdrawn"
    IMPORTED = "labels imported"
    TEXTS = "texts changed"
    TEXTS_BACK = "change of texts undone"
    MINED_USED = "mined pairs made labels"
    MINED_BACK = "mined pairs taken back"
    STUDY_REMOVED = "study removed"
    ARCHIVED = "project archived"
    BINNED = "project put into the bin"
    RESTORED = "project restored"
    REMOVED = "project removed for good"
    ACCOUNT = "account made"
    ADMINISTRATOR = "administrator changed"
    DISABLED = "account disabled"
    ENABLED = "account enabled"
    PASSWORD = "password changed"
    LOGGED_OUT = "logins ended"
    TOKEN = "token made"
    TOKEN_WITHDRAWN = "token withdrawn"
    WEBHOOK_ADDED = "webhook added"
    WEBHOOK_CHANGED = "webhook changed"
    WEBHOOK_REMOVED = "webhook removed"
    PUBLISHED = "model published"
    PUBLICATION_ENDED = "publication ended"
    RATER_SET = "machine rater set up"
    RATER_PAUSED = "machine rater paused"
    RATER_RESUMED = "machine rater resumed"
    RATER_ENDED = "machine rater ended"


class NoticeKind(StrEnum):
    """What a webhook can tell; the value is the `type` of the message."""

    BATCH_READY = "batch.ready"
    TRAINING_DONE = "training.done"
    TRAINING_FAILED = "training.failed"
    TARGET_REACHED = "target.reached"
    DISAGREEMENT = "disagreement.waiting"
    GROUP_CHANGED = "group.changed"
    TEST = "test"  # asked for by a person, sent to one webhook


class DeliveryState(StrEnum):
    """What became of a notice on its way to one webhook."""

    WAITING = "waiting"  # for its first attempt, or for the next one
    DELIVERED = "delivered"
    GIVEN_UP = "given up"  # after a day of attempts


class PublicationKind(StrEnum):
    """What a round's model is put into service as."""

    MODEL = "model"  # answers requests
    SHADOW = "shadow"  # scores the same requests besides, to be compared


class Verdict(StrEnum):
    """What a machine rater says of a pair. It is never a person's answer, nor the pair's label."""

    YES = "yes"  # a match
    NO = "no"
    ABSTAIN = "abstain"


def version_of(guidelines: str) -> str:
    """Return the version of guidelines: eight digits of their SHA-256, so equal texts have equal versions."""
    return sha256(guidelines.encode()).hexdigest()[:8]


# Settings that a stored project or experiment has, all of them; nobody writes them all.
STORED = {"encoder", "lexical", "initialization", "batch_norm", "warm_start"}
REMOVED = {"per_neighbourhood", "reranker", "batch_order"}  # settings that a stored project may still have


def without_removed(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings without those that were removed; a removed strategy becomes the usual one."""
    settings = {name: value for name, value in stored.items() if name not in REMOVED}
    if settings.get("strategy") == "committee":
        settings["strategy"] = "uncertainty"
    return settings


class Settings(BaseModel):
    """A project's settings; the defaults suit a single annotator."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _of_stored(cls, values: Any) -> Any:
        """Leave out what a project was stored with and this version has no more."""
        return without_removed(values) if isinstance(values, dict) and values.keys() >= STORED else values

    question: str = Field("Do these two texts mean the same?", description="The question that annotators answer.")
    guidelines: str = Field("", description="Guidelines for annotators, in Markdown.")
    overlap: float = Field(
        0.0, ge=0, le=1, description="Share of a batch's pairs, chosen at random, that several annotators label."
    )
    double_check: bool = Field(False, description="Let other annotators double-check pairs marked match or unsure.")
    votes: int = Field(2, ge=2, le=9, description="Number of annotators for each shared or double-checked pair.")
    gold_share: float = Field(
        0.0, ge=0, le=0.5, description="Hidden test pairs (with a known answer) for each pair that is labelled."
    )
    repeat_share: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description="Repeated pairs (an annotator's own earlier ones) for each pair that is labelled.",
    )
    fast_answers: int = Field(
        15,
        ge=0,
        le=1_000,
        description="Warn administrators after this many identical answers in a row, each too fast to have read the "
        "texts (0: never).",
    )
    encoder: str = Field(
        DEFAULT_ENCODER, min_length=1, description="Encoder: a sentence-transformers or Hugging Face name, or a folder."
    )
    first: int = Field(40, ge=2, le=1_000_000, description="Pairs in the first batch (n₁).")
    growth: float = Field(1.5, ge=1, le=10, description="The second batch is this many times as large as the first.")
    growth_kind: GrowthKind = Field(
        "exponential",
        description="How batches grow: by a factor (exponential), by the same number (linear), or not (constant).",
    )
    neighbours: int = Field(100, ge=1, le=10_000, description="Nearest neighbours to find for each text (m).")
    search: Search = Field(
        "auto",
        description="Neighbour search: exact, or by an approximate index that misses some (HNSW, IVF). Auto: exact up "
        "to 250,000 texts (5,000,000 on a GPU), IVF above. The share that is missed is measured and reported.",
    )
    evaluation_share: float = Field(
        0.3, ge=0, lt=1, description="Share of texts in the evaluation set; their pairs are never used for training."
    )
    audit_every: int = Field(
        6,
        ge=0,
        le=1_000,
        description="Without known pairs to measure on, one pair in this many is an audit pair (0: none).",
    )
    target_precision: float = Field(
        0.8, gt=0, lt=1, description="Precision to reach at the threshold; the page “Monitor” says when it is certain."
    )
    strategy: str = Field("uncertainty", description="How later batches are chosen.")
    first_batch: FirstBatch = Field(
        "half-spread",
        description="How pairs are chosen before a model is trained: the most similar ones, or half of them from "
        "further down the ranking, so that there are matches and non-matches to learn from. In a list of several "
        "columns these are doubtful pairs and likely matches.",
    )
    per_text: int = Field(0, ge=0, le=1_000_000, description="Maximum pairs of one text in a batch (0: no limit).")
    control_share: float = Field(
        0.0, ge=0, le=1, description="Share of a batch that is sampled at random from the candidates."
    )
    epochs: int = Field(2, ge=1, le=100, description="Passes over the labels in each training.")
    learning_rate: float = Field(2e-5, gt=0, lt=1, description="Learning rate of the encoder.")
    batch_size: int = Field(16, ge=2, le=4096, description="Pairs in one training step.")
    group_pairs: bool = Field(
        False,
        description="Put pairs that share a text into the same training step: faster, since each text is encoded once.",
    )
    initialization: Literal["balanced", "reference"] = Field(
        "balanced",
        description="Initial output layer: w=1, b=0 (balanced), or w=10, b=-50 as in the paper's code (reference).",
    )
    hubness: float = Field(
        0.25,
        ge=0,
        le=0.33,
        description="Hubness correction: this share of the mean score of a text and its three nearest texts is "
        "subtracted from the text's scores; in the shorter of two lists, twice this share (0: no correction).",
    )
    lexical: bool = Field(
        True,
        description="Use lexical features (letters, rare words, numbers, length) beside the encoder, as far as the "
        "labels support it: a good start on texts full of names and numbers.",
    )
    second_stage: SecondStageUse = Field(
        "auto",
        description="Second stage: score the best pairs again by what both texts say together (numbers, prices, rare "
        "words) and by the other candidates of each text. Auto: only where there are several columns to compare, or "
        "labels that it has not seen bear it out.",
    )
    implied: bool = Field(
        False,
        description="In one list, also train on implied pairs: matches of matches, and non-matches of matches.",
    )
    batch_norm: bool = Field(True, description="Train the output layer on standardized scores (batch norm).")
    pooling: Literal["model", "mean", "cls", "max"] = Field(
        "model", description="Pooling of token vectors into a text's vector: the encoder's own, or another one."
    )
    distance: Distance = Field("cosine", description="Score of two texts: cosine, inner product, or -(distance)².")
    max_length: int = Field(
        128, ge=8, le=8192, description="Most tokens of a text that the encoder reads, up to the model's own limit."
    )
    warm_start: bool = Field(False, description="Continue from the last round's encoder instead of the base encoder.")
    rater_use: RaterUse = Field(
        "measure",
        description="What a machine rater's verdicts are for. Measure: only to see what it is worth. Train: each batch "
        "is rated, and verdicts on pairs that nobody labels train with a weight fitted by agreement with people. "
        "Route: they also decide the order in which people are asked; a random fifth stays a spot check.",
    )
    auto_train: bool = Field(True, description="Train automatically when a batch is complete.")
    keep_groups: bool = Field(
        False,
        description="After each round and each change of texts, find all matches and update the project's groups: at "
        "the probability and with the clustering of the last update, at 50% and average linkage before the first. A "
        "list without a trained round gets groups of texts that are nearly the same.",
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of everything random in the project.")


SIMULATED = ("pooling", "distance", "max_length")  # for simulations only: in projects the model itself decides
# Settings that no job reads: a change of them applies at once.
AT_ONCE = frozenset(
    {
        "question",
        "guidelines",
        "double_check",
        "votes",
        "gold_share",
        "repeat_share",
        "fast_answers",
        "auto_train",
        "keep_groups",
        "target_precision",
    }
)

# Mussmann, Jia and Liang (2020), section 4 and appendix A: n₁ = 2,048, growth 3/2, m = 1,000 (QQP).
PAPER_SETTINGS = {
    "first": 2048,
    "growth": 1.5,
    "neighbours": 1000,
    "strategy": "uncertainty",
    "epochs": 2,
    "first_batch": "most-similar",
    "learning_rate": 2e-5,
    "batch_size": 16,
    "hubness": 0.0,
    "lexical": False,
    "second_stage": "off",
}


def batch_size_of(round_number: int, first: int, growth: float, kind: GrowthKind = "exponential") -> int:
    """Return the size of a batch: n₁·growth^number, rounds from 0 (Mussmann, Jia and Liang 2020, section 4.2).

    Linear: n₁·(1 + (growth - 1)·number), so that the second batch is the same; constant: n₁.
    """
    times = {"exponential": growth**round_number, "linear": 1 + (growth - 1) * round_number, "constant": 1.0}
    return round(first * times[kind])
