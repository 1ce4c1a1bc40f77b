"""The words of the product: enums, settings, estimates. Imports nothing of the project."""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
SEED_STRATEGY = "most-similar"  # of batches chosen before there is a trained model
SPREAD_STRATEGY = "spread"  # in its place where all answers so far are positive: a model needs negatives

GrowthKind = Literal["exponential", "linear", "constant"]
Distance = Literal["cosine", "dot", "l2"]
BatchOrder = Literal["likely first", "contested first"]
Search = Literal["auto", "exact", "faiss-flat", "faiss-hnsw", "faiss-ivf"]


class Kind(StrEnum):
    SYMMETRIC = "symmetric"  # one list, unordered pairs
    BIPARTITE = "bipartite"  # left x right


class Side(StrEnum):
    LEFT = "left"
    RIGHT = "right"


class Split(StrEnum):
    TRAIN = "train"
    EVALUATION = "evaluation"
    BOTH = "both"  # right side of a bipartite project: shared by train and evaluation pairs


class AnswerKind(StrEnum):
    """What an annotator did with a pair. The last one of an annotator on a pair counts."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    UNSURE = "unsure"  # an answer that does not train
    SKIP = "skip"  # no answer: the pair goes to the back of this annotator's queue
    RETRACT = "retract"  # undo: the pair is unanswered again


LONGEST_NOTE = 2_000  # characters of what an annotator remarks on a pair
LABELS = (AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE)
# Endings of files that can run code when they are read; weights are read from safetensors alone.
PICKLED = (".bin", ".ckpt", ".dill", ".joblib", ".pickle", ".pkl", ".pt", ".pth")


class Queue(StrEnum):
    """In which jobs wait for a worker."""

    GPU = "gpu"  # what trains, or encodes whole lists
    CPU = "cpu"  # what reads labels, and vectors that are there: people wait for it


class Purpose(StrEnum):
    TRAIN = "train"
    AUDIT = "audit"  # drawn for measuring; never trains a model


class DesignKind(StrEnum):
    """What an audit batch's tasks are drawn for."""

    AUDIT = "audit"  # every figure over all pairs, where there is no gold
    CORRECTION = "correction"  # how many pairs that gold does not name are positives all the same
    MINED = "mined"  # the precision of pairs that a pipeline mined; its labels train all the same


class CheckKind(StrEnum):
    """What a check compares an answer with."""

    GOLD = "gold"  # the known answer, or what a review settled
    REPEAT = "repeat"  # what the same annotator said before


class Role(StrEnum):
    """What a person is in one project; `annotate/access/roles.py` says what each may do."""

    ADMINISTRATOR = "administrator"
    ADJUDICATOR = "adjudicator"
    ANNOTATOR = "annotator"
    VIEWER = "viewer"


class EventKind(StrEnum):
    """What people do to projects, and to the installation, beside answering; the value reads as it is shown."""

    MADE = "project made"
    SETTINGS = "settings changed"
    ROLE = "role changed"
    INVITED = "invitation made"
    INVITATION_USED = "invitation used"
    WITHDRAWN = "invitation withdrawn"
    IMPORTED = "labels imported"
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


def version_of(guidelines: str) -> str:
    """The version of guidelines: eight digits of their SHA-256. The same text is the same version in every project."""
    return sha256(guidelines.encode()).hexdigest()[:8]


RENAMED = {"crowding": "hubness", "second_look": "double_check", "rush": "fast_answers"}  # settings, old name to new


def renamed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings, or details of a model, under the names that they have today."""
    return {RENAMED.get(name, name): value for name, value in given.items()}


class Settings(BaseModel):
    """A project's settings; the defaults suit one person who labels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _renamed(cls, given: Any) -> Any:
        """Read the names of earlier versions: databases, archives and files of experiments hold them."""
        return renamed(given) if isinstance(given, dict) else given

    question: str = Field("Do these two texts mean the same?", description="The question put to annotators.")
    guidelines: str = Field("", description="Guidelines for annotators, in Markdown.")
    overlap: float = Field(
        0.0, ge=0, le=1, description="Share of a batch's pairs, drawn at random, that several annotators label."
    )
    double_check: bool = Field(
        False, description="Let other annotators label a pair too that somebody calls a match or is unsure of."
    )
    votes: int = Field(2, ge=2, le=9, description="Annotators who label such a pair.")
    gold_share: float = Field(
        0.0, ge=0, le=0.5, description="Pairs with a known answer that are slipped in, for each pair that is labelled."
    )
    repeat_share: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description="Own pairs of an annotator that are slipped in once more, for each pair labelled.",
    )
    fast_answers: int = Field(
        15,
        ge=0,
        le=1_000,
        description="Equal answers in a row, each faster than anyone reads, that administrators learn of (0: never).",
    )
    encoder: str = Field(
        DEFAULT_ENCODER, min_length=1, description="Encoder: a sentence-transformers or Hugging Face name, or a folder."
    )
    first: int = Field(40, ge=2, le=1_000_000, description="Pairs in the first batch (n₁).")
    growth: float = Field(1.5, ge=1, le=10, description="Each batch is this many times the one before.")
    growth_kind: GrowthKind = Field(
        "exponential",
        description="How batches grow: growth times (exponential), by the same number (linear), or not (constant).",
    )
    neighbours: int = Field(100, ge=1, le=10_000, description="Nearest neighbours searched for each text (m).")
    search: Search = Field(
        "auto",
        description="Neighbour search: exact, or by an index that misses some (HNSW, IVF). Auto: exact up to 250,000 "
        "texts, 5,000,000 on a GPU, IVF above. What is missed is measured and said.",
    )
    evaluation_share: float = Field(
        0.3, ge=0, lt=1, description="Share of the items kept for measuring; their pairs are never trained on."
    )
    audit_every: int = Field(
        6, ge=0, le=1_000, description="Where no known pairs measure, one task in this many is an audit task (0: none)."
    )
    target_precision: float = Field(
        0.8, gt=0, lt=1, description="Precision at the threshold that the Monitor page announces once it is certain."
    )
    strategy: str = Field("uncertainty", description="How later batches are chosen.")
    per_text: int = Field(0, ge=0, le=1_000_000, description="Most pairs of a batch that share one text (0: no cap).")
    per_neighbourhood: int = Field(
        0, ge=0, le=1_000_000, description="Most pairs of a batch from one neighbourhood of texts (0: no cap)."
    )
    control_share: float = Field(
        0.0, ge=0, le=1, description="Share of a batch that is drawn at random from the candidates."
    )
    reranker: str = Field(
        "",
        description="Folder of a re-ranker that puts each batch in order; empty: the strategy's own order. Which pairs "
        "are in the batch stays the strategy's to say.",
    )
    batch_order: BatchOrder = Field(
        "likely first",
        description="With a re-ranker: the pairs that it calls likely matches come first, or those whose place it "
        "disputes most with the model that chose them.",
    )
    epochs: int = Field(2, ge=1, le=100, description="Passes over the labels in each training.")
    learning_rate: float = Field(2e-5, gt=0, lt=1, description="Learning rate of the encoder.")
    batch_size: int = Field(16, ge=2, le=4096, description="Pairs in one training step.")
    group_pairs: bool = Field(
        False, description="Put pairs that share a text into the same training step: faster, as each text is read once."
    )
    initialization: Literal["balanced", "reference"] = Field(
        "balanced", description="Output layer at the start: w=1, b=0 (balanced) or the paper's code, w=10, b=-50."
    )
    hubness: float = Field(
        0.25,
        ge=0,
        le=0.33,
        description="How much a crowded neighbourhood counts against a text: this times the mean score of its three "
        "nearest texts is taken off all its scores, twice this in the shorter of two lists (0: the plain score).",
    )
    lexical: bool = Field(
        True,
        description="Let spelling count beside meaning (letters, rare words, numbers, length), as far as labels say it "
        "helps: a good start on texts full of names and numbers.",
    )
    implied: bool = Field(
        False,
        description="In one list, train also on pairs that follow from labels: matches of matches, and what differs "
        "from one of them.",
    )
    batch_norm: bool = Field(True, description="Train the output layer on scores in standard units (batch norm).")
    pooling: Literal["model", "mean", "cls", "max"] = Field(
        "model", description="How token vectors become a text's vector: as the encoder's folder says, or another way."
    )
    distance: Distance = Field("cosine", description="Score of two texts: cosine, inner product or -(distance)².")
    warm_start: bool = Field(False, description="Continue from the last round's encoder instead of the base encoder.")
    auto_train: bool = Field(True, description="Train by itself when a batch is complete.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of everything random in the project.")


SIMULATED = ("pooling", "distance")  # settings of simulations alone: projects compare texts by the model's own cosine

# Paper 004, section 4 and appendix A: n₁ = 2,048, growth 3/2, m = 1,000 (QQP).
PAPER_SETTINGS = {"first": 2048, "growth": 1.5, "neighbours": 1000, "strategy": "uncertainty", "epochs": 2,
                  "learning_rate": 2e-5, "batch_size": 16, "hubness": 0.0, "lexical": False}  # fmt: skip


def batch_size_of(round_number: int, first: int, growth: float, kind: GrowthKind = "exponential") -> int:
    """The number of pairs in a batch, rounds counted from 0: n₁·growth^number (paper 004, section 4.2).

    Linear: n₁·(1 + (growth - 1)·number), so that the second batch is the same; constant: n₁.
    """
    times = {"exponential": growth**round_number, "linear": 1 + (growth - 1) * round_number, "constant": 1.0}
    return round(first * times[kind])
