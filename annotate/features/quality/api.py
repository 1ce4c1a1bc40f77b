"""The operation of the rounds' figures."""

from pydantic import Field

from allpairs.annotate.features.quality.rounds import read_report
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api import PROJECT_PATH, ApiOutput, Call, Operation
from allpairs.annotate.kit.text.measures import TITLES, estimate
from allpairs.db.domain import Scope
from allpairs.db.estimate import Estimate
from allpairs.db.schema.tables import Evaluation, StoredModel


class RoundFigures(ApiOutput):
    """The evaluation of a round's model."""

    round: int = Field(description="0: before training.")
    labels: int = Field(description="Number of labels it was trained on.")
    positives: int = Field(description="Number of positives among them.")
    pairs: int = Field(description="Number of pairs it was measured on.")
    figures: dict[str, Estimate]


class Metrics(ApiOutput):
    """The figures of the page Monitor, round by round; empty until something has been measured."""

    evaluations: list[RoundFigures]


def metrics(call: Call) -> Metrics:
    """Report the figures over all pairs, round by round, with their intervals."""
    report = read_report(call.engine, call.project_id, tally=())
    return Metrics(evaluations=[_figures(matcher, evaluation) for matcher, evaluation in report.measured])


def _figures(matcher: StoredModel, evaluation: Evaluation) -> RoundFigures:
    figures = {measure: estimate(evaluation, measure) for measure in TITLES}
    return RoundFigures(
        round=matcher.number,
        labels=matcher.labels,
        positives=matcher.positives,
        pairs=evaluation.pairs,
        figures={measure: figure for measure, figure in figures.items() if figure is not None},
    )


OPERATIONS = (Operation("GET", f"{PROJECT_PATH}/metrics", metrics, Scope.READ, Right.SEE),)
