"""Figures of the rounds."""

from pydantic import Field

from allpairs.annotate.kit.api.schema import Given


class Figure(Given):
    """A value with its 95 % interval; the interval of an exact value is the value itself."""

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
