"""Figures of the rounds."""

from allpairs.annotate.features.quality import schemas as m
from allpairs.annotate.features.quality.rounds import read_report
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api.operation import ONE, Call, Operation
from allpairs.annotate.kit.text.measures import TITLES, estimate
from allpairs.db.domain import Scope
from allpairs.db.schema.tables import Evaluation, StoredModel


def metrics(call: Call) -> m.Metrics:
    """Report the figures over all pairs, round by round, with their intervals."""
    report = read_report(call.engine, call.here.id, tally=())
    return m.Metrics(evaluations=[_evaluation(*each) for each in report.measured])


def _evaluation(matcher: StoredModel, evaluation: Evaluation) -> m.Evaluation:
    found = {measure: estimate(evaluation, measure) for measure in TITLES}
    return m.Evaluation(
        round=matcher.number,
        labels=matcher.labels,
        positives=matcher.positives,
        pairs=evaluation.pairs,
        figures={measure: m.Figure(**one.as_dict()) for measure, one in found.items() if one is not None},
    )


OPERATIONS = (Operation("GET", f"{ONE}/metrics", metrics, m.Metrics, Scope.READ, None, Right.SEE),)
