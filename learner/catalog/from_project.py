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


FROM_PROJECT: dict[str, type[Section]] = {"few-shot-mining": SeedPairs}
# Fields of the configuration that keep their defaults: for what a project's pairs have not, and for a side of a figure.
ON_FILES_ALONE: dict[str, tuple[str, ...]] = {"few-shot-mining": ("task", "tagger", "reader", "generator")}
