"""What a pipeline may begin with in a project: one model for each pipeline that can run on one."""

from typing import Literal

from pydantic import Field

from learner.catalog.section import Section

FEWEST = 2  # positive pairs; fewer say nothing about what a pair is


class SeedPairs(Section):
    """The positive pairs that the pipeline begins with."""

    source: Literal["labels first", "labels", "known pairs"] = Field(
        "labels first", title="Seed pairs",
        description="Positive labels where there are at least two, else known pairs; or one of both.",
    )  # fmt: skip
    known: int = Field(
        100, ge=FEWEST, le=1_000_000, title="Known pairs to draw", description="How many, where known pairs are taken."
    )


class SourcePairs(SeedPairs):
    """The questions (left) with passages (right) that the models learn first, of this project or of another one.

    Everything else is this project's own: the questions, the passages, and the pairs that measure.
    """

    source: Literal["labels first", "labels", "known pairs"] = Field(
        "labels first", title="Source pairs",
        description="Positive labels where there are at least two, else known pairs; or one of both.",
    )  # fmt: skip
    known: int = Field(
        5_000, ge=FEWEST, le=1_000_000, title="Known pairs to draw",
        description="How many, where known pairs are taken.",
    )  # fmt: skip
    project: str = Field(
        "", title="From the project", description="Another project whose pairs these are, by its name; empty: this one."
    )


class JudgedPairs(Section):
    """What tells right passages from wrong ones: a pair's first text is the query, its second one the passage."""

    source: Literal["both", "labels", "known pairs"] = Field(
        "both", title="Pairs",
        description="Labels and known pairs of training texts (labels go first), or one of both. Wrong passages that "
        "nobody has named are drawn at random.",
    )  # fmt: skip


MEASURING = ("reading", "paraphrases", "entities", "sentiment")


class Passages(Section):
    """The texts that questions are made for, questions with answers to learn from, and what the encoder is tried on.

    Files are named by their path on the worker's machine; what has no file is not measured.
    """

    texts: Literal["first list", "second list", "both"] = Field(
        "both", description="Training texts of the project; one that has a single list has no second."
    )
    questions: str | None = Field(
        None, title="File of questions",
        description="Questions with answers on the worker's machine: MRQA's JSON Lines, SQuAD's JSON, or a table with "
        "the columns x, answer, passage. Without it sentences of the passages are made noisy, which teaches little.",
    )  # fmt: skip
    reading: str | None = Field(
        None, title="File of other questions", description="Likewise; nothing learns from them: they measure reading."
    )
    paraphrases: str | None = Field(
        None, title="File of paraphrases",
        description="A table of pairs of sentences: columns dataset, split (train or test), x, y, label (1 or 0).",
    )  # fmt: skip
    entities: str | None = Field(
        None, title="File of entities",
        description="Sentences: a table with the columns dataset, split (train or test), tokens and tags (IOB2), both "
        "with a blank between.",
    )  # fmt: skip
    sentiment: str | None = Field(
        None, title="File of opinions",
        description="A table with the columns dataset, text, label (1: positive, 0).",
    )  # fmt: skip

    @property
    def measured_with(self) -> dict[str, str]:
        """The files that measure, by their fields."""
        return {name: path for name in MEASURING if (path := getattr(self, name)) is not None}


FROM_PROJECT: dict[str, type[Section]] = {
    "few-shot-mining": SeedPairs,
    "back-training": SourcePairs,
    "multi-view-reranking": JudgedPairs,
    "quip": Passages,
}
ON_WORKER = {"quip": ("questions", *MEASURING)}  # fields that name files of the worker's machine
TWO_LISTS = ("back-training",)  # these need a project with two lists
# Fields of the configuration that a run on a project does not need, such as those for answers in passages: they keep
# their defaults.
ON_FILES_ALONE: dict[str, tuple[str, ...]] = {
    "few-shot-mining": ("task", "tagger", "reader", "generator"),
    "multi-view-reranking": ("sizes",),
}
