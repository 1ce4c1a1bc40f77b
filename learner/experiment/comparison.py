"""Rows compared: figures at each number of labels, and how many labels a figure costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from allpairs.learner.experiment.paper import AP
from allpairs.learner.experiment.results import DEVELOPMENT, Results, means_of
from allpairs.learner.reports.means import Mean

SHARE = "share_positive"


@dataclass(frozen=True)
class CurvePoint:
    """A row after one round: means over `seeds` seeds of AP, of P@R20 and of the share of positive labels."""

    dataset: str
    row: str
    round: int
    labels: int
    seeds: int
    figures: dict[str, Mean]


@dataclass(frozen=True)
class Cost:
    """The labels after which a row first reaches this AP (mean over seeds); None if it never does.

    share: relative to the labels that the experiment's baseline needs.
    """

    dataset: str
    row: str
    target: float
    labels: int | None
    share: float | None


def points_of(results: Results, development: bool = False) -> list[CurvePoint]:
    """Return every row after every round, in the experiment's order; development: on that set, where there is one."""
    return [
        CurvePoint(
            dataset,
            row.name,
            records[0].round,
            round(sum(r.labels for r in records) / len(records)),
            len(records),
            _on_development(means_of(records)) if development else means_of(records),
        )
        for dataset in results.datasets
        for row in results.rows(dataset)
        for records in results.rounds(dataset, row.name)
    ]


def _on_development(figures: dict[str, Mean]) -> dict[str, Mean]:
    """Return the figures with those of the development set, if it was measured, in place of the others."""
    return figures | {
        name.removeprefix(DEVELOPMENT): mean for name, mean in figures.items() if name.startswith(DEVELOPMENT)
    }


def costs_of(results: Results, points: Sequence[CurvePoint]) -> list[Cost]:
    """Return what every row pays for each AP that the experiment lists, or else for its baseline's final AP."""
    return [cost for dataset in results.datasets for cost in _costs(results, dataset, points)]


def _costs(results: Results, dataset: str, points: Sequence[CurvePoint]) -> Iterator[Cost]:
    rows = [row.name for row in results.rows(dataset)]
    curves = {row: [point for point in points if (point.dataset, point.row) == (dataset, row)] for row in rows}
    named = results.experiment.baseline
    baseline = named if named in curves else rows[0]
    for target in results.experiment.reach or [curves[baseline][-1].figures[AP].value]:
        spent = {row: _labels_to(curve, target) for row, curve in curves.items()}
        usual = spent[baseline]
        for row, labels in spent.items():
            share = None if labels is None or usual is None else labels / usual
            yield Cost(dataset, row, target, labels, share)


def _labels_to(curve: Sequence[CurvePoint], target: float) -> int | None:
    return next((point.labels for point in curve if AP in point.figures and point.figures[AP].value >= target), None)
