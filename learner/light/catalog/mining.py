"""The configuration of few-shot mining (Joshi et al. 2022). Defaults are the paper's where it gives one."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from allpairs.learner.light.catalog.backbones import GeneratorSettings, ReaderSettings
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.light.catalog.section import Section


class MiningInputs(Section):
    """The files that few-shot mining reads; all of them CSV, TSV, JSON Lines or Parquet."""

    seed_pairs: str = Field(
        description="The known positive pairs: columns x and y; for reading comprehension x, answer and passage."
    )
    corpus_x: str = Field(description="Candidates for a pair's first text: columns id and text, and date if known.")
    corpus_y: str | None = Field(
        None, description="Candidates for its second text, likewise; without it pairs are made within the first list."
    )
    gold: str | None = Field(
        None,
        description="Known pairs to measure the mined ones by: columns id1, id2 and label; for reading comprehension "
        "id1, id2 (of a passage) and answer.",
    )
    test_pairs: str | None = Field(
        None,
        description="Pairs that are never trained on, to measure the trained models: columns as in the seed pairs.",
    )
    dev_pairs: str | None = Field(
        None,
        description="Pairs that choose learning rates and numbers of steps: columns as in the seed pairs.",
    )


class Classifier(Section):
    """The classifier beside the bi-encoder: does a text look like those of the seed pairs?"""

    side: Literal["none", "x", "y"] = Field("none", description="The texts that it filters: none, first or second.")
    weight: float = Field(1.0, gt=0, le=100, description="Its weight in the loss.")
    keep: Literal["threshold", "fraction"] = Field(
        "threshold", description="Keep texts by probability, or a fixed share."
    )
    threshold: float = Field(0.5, ge=0, le=1, description="Minimum probability to keep a text.")
    fraction: float = Field(0.2, gt=0, le=1, description="Share to keep (the paper on summaries: one in five).")


class Margin(Section):
    """Which pairs are proposed, and in what order."""

    neighbours: int = Field(4, ge=1, le=1000, description="Neighbours of each text in the margin (k).")
    margin: Literal["ratio", "distance", "absolute"] = Field(
        "ratio",
        description="Cosine divided by, or minus, the mean cosine of both texts' neighbours; or the cosine itself.",
    )
    retrieval: Literal["candidates", "forward", "backward", "intersection", "max"] = Field(
        "forward",
        description="All neighbours of each first text (the paper), the best pair of each first text, of each second, "
        "pairs that are both, or the best of all these.",
    )
    one_to_one: bool = Field(False, description="Use each text in at most one pair, the best first.")
    top: int = Field(2_000, ge=1, le=1_000_000, description="Pairs that go to the filters, the best first.")


class Filters(Section):
    """Filters on proposed pairs, before the cross-encoder reads them."""

    drop_seeds: bool = Field(True, description="Drop pairs that are seed pairs.")
    drop_verbatim: bool = Field(False, description="Drop pairs where one text contains the other word for word.")
    least_sentences: int = Field(
        0, ge=0, le=1000, description="Minimum number of sentences in a first text (the paper: 4)."
    )
    shortest: int = Field(0, ge=0, le=100_000, description="Minimum number of words in either text.")
    same_date: Literal["no", "day", "month", "year"] = Field(
        "no", description="Search only among texts of the same day, month or year (both lists need the column date)."
    )


class Crossencoder(Section):
    """The cross-encoder that reads both texts of a proposed pair, and re-ranks the pairs."""

    use: bool = Field(
        True, title="Re-rank", description="Re-rank with a cross-encoder; otherwise the margin's order stays."
    )
    keep_score: bool = Field(
        True,
        title="Keep the bi-encoder's score",
        description="Learn what to add to the bi-encoder's score; otherwise (the paper) begin anew.",
    )
    backbone: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="A cross-encoder's body: a Hugging Face name (the paper: facebook/bart-large), or a folder.",
    )
    objective: Literal["binary", "pairwise"] = Field(
        "binary",
        description="Classify each pair as right or wrong; or rank the right pair above a wrong one of the same text.",
    )
    steps: int = Field(200, ge=1, le=100_000, description="Training steps (the paper: 200 and 1,000).")
    batch_size: int = Field(16, ge=2, le=4096, description="Pairs in one step.")
    negatives: int = Field(
        4, ge=1, le=100, description="Wrong pairs for each seed pair, found by the bi-encoder for its first text."
    )
    learning_rate: float = Field(2e-5, gt=0, lt=1, description="Learning rate.")
    max_length: int = Field(192, ge=8, le=8192, description="Tokens of both texts together.")


class Development(Section):
    """How the development pairs choose: the model is kept that measures best on them."""

    checks: int = Field(4, ge=1, le=1000, description="Times that a model is measured in its training.")
    learning_rates: list[Annotated[float, Field(gt=0, lt=1)]] = Field(
        [],
        max_length=20,
        description="Learning rates to try for each model, instead of its own; not for the generator of self-training.",
    )


class Downstream(Section):
    """What the mined pairs are worth: a model trained with them and without, at equal counts."""

    amounts: list[int] = Field(
        [],
        max_length=20,
        description="Numbers of mined pairs to add to the seed pairs (such as 500): a model is trained and "
        "measured for each, which takes longer than all the rest. Empty: none.",
    )
    seeds: int = Field(1, ge=1, le=20, description="Repetitions; two or more give intervals.")
    generated: bool = Field(
        True,
        description="Compare with texts from a generator that was trained on the seed pairs alone (self-training).",
    )
    steps: int = Field(200, ge=1, le=100_000, description="Training steps of each retriever.")


BART = "facebook/bart-large"
READING = "reading-comprehension"
SUMMARIES = "summarization"
SMALL = "-small"  # the end of a task's name: the task from MiniLM

# The paper's values for its two tasks (sections 4 and 5), unless the configuration sets others.
_TASKS: dict[str, dict[str, dict[str, Any]]] = {
    READING: {
        "classifier": {"side": "x"},
        "margin": {"retrieval": "candidates"},
        "biencoder": {"steps": 200},
        "crossencoder": {"steps": 1000},
    },
    SUMMARIES: {
        "classifier": {"side": "y", "keep": "fraction"},
        "margin": {"retrieval": "candidates"},
        "filters": {"drop_verbatim": True, "least_sentences": 4, "same_date": "month"},
        "crossencoder": {"objective": "pairwise"},
        "generator": {"steps": 200, "beams": 6, "target_length": 64},
    },
}
_LARGE: dict[str, dict[str, Any]] = {
    "biencoder": {"backbone": BART},
    "crossencoder": {"backbone": BART, "keep_score": False},
    "reader": {"backbone": BART},
    "generator": {"backbone": BART},
}


def task_values(task: str) -> dict[str, dict[str, Any]]:
    """Return the values that the task brings, by part of the configuration; none for an unknown task."""
    values = _TASKS.get(task.removesuffix(SMALL))
    backbones = {} if task.endswith(SMALL) else _LARGE
    if values is None:
        return {}
    return {part: {**backbones.get(part, {}), **values.get(part, {})} for part in (*values, *backbones)}


class MiningConfig(Section):
    """How few-shot mining works."""

    task: Literal[
        "pairs", "reading-comprehension", "summarization", "reading-comprehension-small", "summarization-small"
    ] = Field(
        "pairs",
        description="Any pairs; a question and a passage with its answer; a document and its summary. The tasks of the "
        "paper bring its values for settings that are not given, and BART-large; with -small, MiniLM.",
    )
    tagger: str = Field(
        "patterns",
        min_length=1,
        description="Finds candidate answers in passages: patterns (English), or the name of a spaCy model.",
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of everything random.")
    wanted: int = Field(
        500, ge=1, le=1_000_000, title="Pairs to keep", description="Mined pairs to keep, the best first."
    )
    biencoder: RetrieverSettings = Field(default_factory=RetrieverSettings, title="Bi-encoder")
    classifier: Classifier = Field(default_factory=Classifier)
    margin: Margin = Field(default_factory=Margin)
    filters: Filters = Field(default_factory=Filters)
    crossencoder: Crossencoder = Field(default_factory=Crossencoder, title="Cross-encoder")
    development: Development = Field(default_factory=Development)
    downstream: Downstream = Field(default_factory=Downstream)
    reader: ReaderSettings = Field(default_factory=ReaderSettings)
    generator: GeneratorSettings = Field(default_factory=GeneratorSettings)

    @property
    def kind(self) -> str:
        """The task without the size of its models."""
        return self.task.removesuffix(SMALL)

    @model_validator(mode="before")
    @classmethod
    def _of_task(cls, values: Any) -> Any:
        """Fill in the task's values where none are given."""
        if not isinstance(values, dict):
            return values
        merged = dict(values)
        for part, defaults in task_values(str(values.get("task", "pairs"))).items():
            chosen = merged.get(part, {})
            merged[part] = {**defaults, **chosen} if isinstance(chosen, dict) else chosen
        return merged
