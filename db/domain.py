"""The words of the product: enums, pairs, settings, estimates. Imports nothing of the project."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
SEED_STRATEGY = "most-similar"  # of batches chosen before there is a trained model

# (stage, share of the stage that is done, 0 to 1); may raise Cancelled to stop the work.
Progress = Callable[[str, float], None]


def no_progress(stage: str, done: float) -> None:
    """Nothing: the progress of callers who do not want to know."""


class InputError(Exception):
    """Bad input from a person or a file; the message is one line that says what, where and what next."""


class Cancelled(Exception):
    """The work was cancelled by a person."""


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


LABELS = (AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE)


class Purpose(StrEnum):
    TRAIN = "train"
    AUDIT = "audit"  # drawn for measuring; never trains a model


class DesignKind(StrEnum):
    """What audit tasks are drawn for."""

    AUDIT = "audit"  # every figure over all pairs, where there is no gold
    CORRECTION = "correction"  # how many pairs that gold does not name are positives all the same


class Settings(BaseModel):
    """A project's settings; the defaults suit one person who labels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field("Do these two texts mean the same?", description="The question put to annotators.")
    guidelines: str = Field("", description="Guidelines for annotators, in Markdown.")
    encoder: str = Field(
        DEFAULT_ENCODER, min_length=1, description="Encoder: a sentence-transformers or Hugging Face name, or a folder."
    )
    first: int = Field(40, ge=2, le=1_000_000, description="Pairs in the first batch (n₁).")
    growth: float = Field(1.5, ge=1, le=10, description="Each batch is this many times the one before.")
    neighbours: int = Field(100, ge=1, le=10_000, description="Nearest neighbours searched for each text (m).")
    search: Literal["exact", "faiss-flat", "faiss-hnsw", "faiss-ivf"] = Field(
        "exact", description="Neighbour search: exact, or FAISS (HNSW and IVF miss some; they pay above 100,000 items)."
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
    epochs: int = Field(2, ge=1, le=100, description="Passes over the labels in each training.")
    learning_rate: float = Field(2e-5, gt=0, lt=1, description="Learning rate of the encoder.")
    batch_size: int = Field(16, ge=2, le=4096, description="Pairs in one training step.")
    initialization: Literal["balanced", "reference"] = Field(
        "balanced", description="Output layer at the start: w=1, b=0 (balanced) or the paper's code, w=10, b=-50."
    )
    warm_start: bool = Field(False, description="Continue from the last round's encoder instead of the base encoder.")
    auto_train: bool = Field(True, description="Train by itself when a batch is complete.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of everything random in the project.")


# Paper 004, section 4 and appendix A: n₁ = 2,048, growth 3/2, m = 1,000 (QQP).
PAPER_SETTINGS = {"first": 2048, "growth": 1.5, "neighbours": 1000, "strategy": "uncertainty", "epochs": 2,
                  "learning_rate": 2e-5, "batch_size": 16}  # fmt: skip


def batch_size_of(round_number: int, first: int, growth: float) -> int:
    """The number of pairs in a batch: n₁·growth^number, rounds counted from 0 (paper 004, section 4.2)."""
    return round(first * growth**round_number)


@dataclass(frozen=True)
class Estimate:
    """A value over all pairs with its 95 % interval, its method and the labels it rests on."""

    value: float
    low: float
    high: float
    method: str
    labels: int = 0

    def as_dict(self) -> dict[str, float | str]:
        """`{value, low, high, method, labels}`: the form of the files."""
        return asdict(self)
