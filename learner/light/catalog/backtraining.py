"""The configuration of back-training (Kulshreshtha et al. 2021).

Defaults are the paper's where it gives one, except for the retriever, which fits a CPU: one tower, the cosine, 100
steps.
"""

from typing import Literal, get_args

from pydantic import Field

from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.light.catalog.section import Section

Variant = Literal[
    "self-training",
    "self-training-self",
    "self-training-cross",
    "self-training-both",
    "back-training",
    "back-training-self",
    "back-training-cross",
    "back-training-both",
    "supervised",
]
SUPERVISED = get_args(Variant)[-1]


class BackTrainingInputs(Section):
    """The files that back-training reads: CSV, TSV, JSON Lines, Parquet; source pairs also as DPR's JSON.

    Pairs have the columns x (question) and y (passage), or target_text and input_text.
    """

    source_pairs: str = Field(description="Pairs of another domain, or a few of this one: x, y, and answer if known.")
    questions: str = Field(description="Questions of the target domain: text (or target_text), and id if there is one.")
    passages: str = Field(description="Passages of the target domain: text (or input_text), and id if there is one.")
    dev_pairs: str | None = Field(
        None,
        description="Known pairs of the target domain, for thresholds and early stopping; without them a fifth of "
        "the source pairs.",
    )
    test_pairs: str | None = Field(None, description="Known pairs that are never trained on; without them dev_pairs.")
    test_passages: str | None = Field(
        None, description="Passages to search for the known ones, duplicates included; without it: passages."
    )
    supervised_pairs: str | None = Field(
        None, description="Known pairs of the target domain to train on, for the upper bound `supervised`."
    )
    source_test: str | None = Field(None, description="Pairs of the source domain that are never trained on.")
    question_labels: str | None = Field(
        None, description="Questions of the domain (label 1) and others (0), to filter out questions of other domains."
    )
    question_types: str | None = Field(
        None, description="Questions and their types: columns text and type; without it patterns assign the types."
    )


class Amounts(Section):
    """How much of each input is used, drawn by the seed; empty: all."""

    source_pairs: int | None = Field(None, ge=2, description="Source pairs.")
    questions: int | None = Field(None, ge=2, description="Questions to retrieve a passage for.")
    passages: int | None = Field(None, ge=2, description="Passages to generate a question for.")
    dev_pairs: int | None = Field(None, ge=2, description="Development pairs.")
    test_pairs: int | None = Field(None, ge=2, description="Test pairs.")
    test_passages: int | None = Field(
        None, ge=2, description="Passages to search in when measuring, besides the known ones."
    )


class PassageRetriever(RetrieverSettings):
    """The retriever, and its training on the source pairs (the paper: DPR's two encoders, dot product)."""

    batch_size: int = Field(8, ge=2, le=4096, description="Pairs in one step; the texts of the others are negatives.")
    negatives: int = Field(1, ge=0, le=100, description="Further negatives of each pair in a step, found by BM25.")


class Adaptation(Section):
    """Further training of the models on generated and retrieved pairs, in each iteration."""

    generator_epochs: int = Field(5, ge=1, le=1000, description="Epochs of the generator over its pairs.")
    generator_rate: float = Field(1e-5, gt=0, lt=1, description="Its learning rate.")
    retriever_epochs: int = Field(5, ge=1, le=1000, description="Epochs of the retriever over its pairs.")
    retriever_rate: float = Field(1e-5, gt=0, lt=1, description="Its learning rate.")
    supervised_epochs: int = Field(15, ge=1, le=1000, description="Epochs of the upper bound's generator.")


class PairLists(Section):
    """How pairs are made, and which of them the filters keep."""

    decoding: Literal["beam", "sample"] = Field(
        "beam", description="Generated questions: the most likely, or drawn at random."
    )
    negatives: int = Field(
        7, ge=1, le=100, description="Wrong passages of each pair, found by BM25; one is used in each step."
    )
    thresholds: Literal["quantiles", "paper"] = Field(
        "quantiles",
        description="From the source models' values on the development pairs; or the paper's two numbers, "
        "which fit only its own models.",
    )
    generator_quantile: float = Field(
        0.5, ge=0, le=1, description="Keep pairs below this quantile of the negative log-likelihoods."
    )
    retriever_quantile: float = Field(0.1, ge=0, le=1, description="Keep pairs above this quantile of the scores.")
    in_domain: float = Field(
        0.8, ge=0, le=1, description="Minimum probability that a question is of the domain, if labels are given."
    )


class Measuring(Section):
    """How generated questions and retrieval are measured."""

    ties: Literal["average", "optimistic", "pessimistic"] = Field(
        "average",
        description="The right passage's rank among others with the same score, its own copies included where they "
        "count as others.",
    )
    by_position: bool = Field(
        False, description="Count copies of the right passage as wrong, as the paper's released code does (average)."
    )
    traces: int = Field(32, ge=1, le=10_000, description="Test pairs on which perplexity is tracked during training.")


class BackTrainingConfig(Section):
    """How back-training works, and what it is compared with."""

    seed: int = Field(0, ge=0, le=2**31 - 1, title="First seed", description="Seed of everything random.")
    seeds: int = Field(1, ge=1, le=20, title="Repetitions", description="Two or more give intervals (the paper: 5).")
    variants: list[Variant] = Field(
        ["self-training", "back-training"],
        min_length=1,
        max_length=len(get_args(Variant)),
        description=f"Variants to compare: {', '.join(get_args(Variant))}. The source models are always measured.",
    )
    wanted: int = Field(
        500,
        ge=1,
        le=1_000_000,
        title="Generated questions",
        description="Passages for which the best generator writes a question at the end.",
    )
    iterations: int = Field(
        1, ge=1, le=10, description="Rounds of making new pairs and training on them (the paper: 3)."
    )
    iterate: Literal["all", "unfiltered"] = Field(
        "all",
        title="Variants that iterate",
        description="Which variants continue after the first iteration: all, or those without a filter.",
    )
    stop_early: bool = Field(True, description="Stop iterating when neither model improves on the development pairs.")
    amounts: Amounts = Field(default_factory=Amounts)
    generator: GeneratorSettings = Field(default_factory=GeneratorSettings)
    retriever: PassageRetriever = Field(default_factory=PassageRetriever)
    adaptation: Adaptation = Field(default_factory=Adaptation)
    lists: PairLists = Field(default_factory=PairLists, title="Generated and retrieved pairs")
    measuring: Measuring = Field(default_factory=Measuring)
