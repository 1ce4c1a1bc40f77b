"""What a pipeline may start with in a project: one model for each pipeline that can run on one."""

from typing import Any, Literal

from pydantic import Field

from allpairs.learner.light.catalog.section import Section

FEWEST = 2  # positive pairs; fewer tell nothing about what a pair is


PairSource = Literal["labels first", "labels", "known pairs"]


def _source(title: str) -> Any:
    """Return the field of where pairs come from."""
    description = "Positive labels if there are at least two, else known pairs; or only one of the two."
    return Field("labels first", title=title, description=description)


def _known(usual: int) -> Any:
    """Return the field of how many known pairs are drawn."""
    description = "How many known pairs to draw, if they are used."
    return Field(usual, ge=FEWEST, le=1_000_000, title="Known pairs to draw", description=description)


class SeedPairs(Section):
    """The positive pairs that the pipeline starts with."""

    source: PairSource = _source("Seed pairs")
    known: int = _known(100)


class SourcePairs(SeedPairs):
    """The questions (left) with passages (right) that the models are trained on first, of this project or another one.

    Everything else comes from this project: the questions, the passages, and the pairs to measure with.
    """

    source: PairSource = _source("Source pairs")
    known: int = _known(5_000)
    project: str = Field(
        "", title="From the project", description="Name of another project to take the pairs from; empty: this one."
    )


class NamedSource(SourcePairs):
    """The source pairs as the job gets them: the number of the other project, whose use was allowed, or None."""

    source_id: int | None = None


class JudgedPairs(Section):
    """Right and wrong passages: a pair's first text is the query, its second one the passage."""

    source: Literal["both", "labels", "known pairs"] = Field(
        "both",
        title="Pairs",
        description="Labels and known pairs of training texts (labels win), or only one of them. Where wrong passages "
        "are not known, they are drawn at random.",
    )


MEASURING = ("reading", "paraphrases", "entities", "sentiment")


class Passages(Section):
    """The texts to make questions for, questions with answers to train on, and what the encoder is tested on.

    Files are named by their path on the worker's machine; what has no file is not measured.
    """

    texts: Literal["first list", "second list", "both"] = Field(
        "both", description="Training texts of the project; the second list exists only in a project with two lists."
    )
    questions: str | None = Field(
        None,
        title="File of questions",
        description="Questions with answers on the worker's machine: MRQA's JSON Lines, SQuAD's JSON, or a table with "
        "the columns x, answer, passage. Without it noisy sentences of the passages are used, which teach little.",
    )
    reading: str | None = Field(
        None, title="File of other questions", description="Likewise; only for measuring reading, never trained on."
    )
    paraphrases: str | None = Field(
        None,
        title="File of paraphrases",
        description="A table of pairs of sentences: columns dataset, split (train or test), x, y, label (1 or 0).",
    )
    entities: str | None = Field(
        None,
        title="File of entities",
        description="Sentences: a table with the columns dataset, split (train or test), tokens and tags (IOB2), both "
        "separated by blanks.",
    )
    sentiment: str | None = Field(
        None,
        title="File of opinions",
        description="A table with the columns dataset, text, label (1: positive, 0).",
    )

    @property
    def measured_with(self) -> dict[str, str]:
        """The files to measure with, by field."""
        return {name: path for name in MEASURING if (path := getattr(self, name)) is not None}


FROM_PROJECT: dict[str, type[Section]] = {
    "few-shot-mining": SeedPairs,
    "back-training": SourcePairs,
    "multi-view-reranking": JudgedPairs,
    "quip": Passages,
}
ON_WORKER = {"quip": ("questions", *MEASURING)}  # fields that name files on the worker's machine
TWO_LISTS = ("back-training",)  # these need a project with two lists
# Fields of the configuration that a run on a project does not need, such as those for answers in passages: they keep
# their defaults.
ON_FILES_ALONE: dict[str, tuple[str, ...]] = {
    "few-shot-mining": ("task", "tagger", "development", "reader", "generator"),
    "multi-view-reranking": ("sizes",),
}
