"""The paper's tables beside ours: the rows and figures of each one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from allpairs.db.domain import Stated
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.experiment.conditions import MARKS, conditions_of_row
from allpairs.learner.experiment.paper import (
    ACCURACY,
    AP,
    F1,
    MAP,
    NEAR,
    NEGATIVES,
    PAIR_F1,
    PAIRS,
    POSITIVES,
    PRECISION,
    Figures,
    printed,
)
from allpairs.learner.experiment.results import Record, Results, means_of
from allpairs.learner.experiment.spec import GridRow
from allpairs.learner.reports.means import Mean
from allpairs.learner.search.exact import count_pairs

TITLES = {
    AP: "AP",
    PRECISION: "P@R20",
    POSITIVES: "Positives",
    PAIRS: "Pairs",
    NEGATIVES: "Stated negatives",
    NEAR: "Near negatives",
    ACCURACY: "Accuracy",
    F1: "F1",
    MAP: "c-MAP",
    PAIR_F1: "a-F1",
}
COUNTS = (POSITIVES, PAIRS, NEGATIVES, NEAR)
COSINE = "cosine_"
CONCAT = "concat_"
RANKED = (PRECISION, AP)
TABLE3 = ("random", "stated", "static-retrieval", "adaptive-retrieval", "uncertainty")
TABLE5 = ("stratified-match", "stratified-all-positives")
TABLE6 = ("stated", "static-retrieval", "stratified-match", "uncertainty")


@dataclass(frozen=True)
class Line:
    """One line of a table: our means over `seeds` seeds by measure, and the paper's figures.

    sampled: the interval of a figure that comes from a sample, the means over seeds of its ends. marks: how the
    conditions differ from the paper's (see `conditions.MARKS`).
    """

    dataset: str
    row: str
    seeds: int
    means: Mapping[str, Mean]
    paper: Figures = field(default_factory=dict)
    sampled: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of `measures`; `note` says what a reader must know."""

    name: str
    title: str
    measures: Sequence[str]
    lines: list[Line]
    note: str = ""


def measure_title(measure: str) -> str:
    """Return the measure's display name."""
    for prefix, kind in ((COSINE, "CosineBERT"), (CONCAT, "ConcatBERT")):
        if measure.startswith(prefix):
            return f"{kind} {measure_title(measure.removeprefix(prefix))}"
    return TITLES[measure]


def is_count(measure: str) -> bool:
    """Return whether the measure is a count rather than a share."""
    return measure in COUNTS


def paper_tables(
    results: Results, datasets: Mapping[str, Dataset], developments: Mapping[str, Dataset] | None = None
) -> list[Table]:
    """Return the paper's Tables 1 to 6 as far as the experiment has their rows, the first of each strategy.

    developments: the data sets with a development set, with this to measure on.
    """
    tables = [
        Table("table1", "Data sets", COUNTS, list(_statistics(results, datasets, developments or {}))),
        Table(
            "table2",
            "ConcatBERT trained on stated data",
            (ACCURACY, F1, MAP, PAIR_F1, *RANKED),
            list(_backbones(results)),
            _known_pairs(results),
        ),
        Table("table3", "Strategies", RANKED, list(_strategies(results, "table3", TABLE3, RANKED))),
        Table("table4", "Positives found", (POSITIVES,), list(_strategies(results, "table4", TABLE3, (POSITIVES,)))),
        Table("table5", "Stratified labels (oracles)", RANKED, list(_strategies(results, "table5", TABLE5, RANKED))),
        Table(
            "table6",
            "CosineBERT and ConcatBERT on the same labels",
            [prefix + measure for prefix in (COSINE, CONCAT) for measure in RANKED],
            list(_models(results)),
        ),
    ]
    return [table for table in tables if table.lines]


def _known_pairs(results: Results) -> str:
    """Return which pairs the figures of Table 2 are of."""
    closed = [record.stated == Stated.CLOSED for record in results.records]
    closure = "with the positives that closure adds" if all(closed) else "as given, without positives by closure"
    if any(closed) and not all(closed):
        closure = "with the positives that closure adds in some runs, without them in others"
    return f"P@R20 and AP are over all pairs, the other figures over the known ones ({closure})."


def _statistics(
    results: Results, datasets: Mapping[str, Dataset], developments: Mapping[str, Dataset]
) -> Iterator[Line]:
    """Yield Table 1: positives, pairs, given negatives and near ones of the parts that train and that measure."""
    for name, dataset in datasets.items():
        files = results.experiment.datasets[name]
        sides = {"train": (dataset, dataset.train_left, dataset.train_right)}
        for part, measured in (("dev", developments.get(name)), (files.part, dataset)):
            if measured is not None:
                sides[part] = measured, measured.evaluation_left, measured.evaluation_right
        for part, side in sides.items():
            counts = _counts(*side) | ({NEAR: results.near[name, part]} if (name, part) in results.near else {})
            means = {measure: Mean(float(count)) for measure, count in counts.items()}
            yield Line(name, part, 0, means, printed("table1", files.paper, part))


def _counts(dataset: Dataset, left: np.ndarray, right: np.ndarray) -> dict[str, int]:
    """Return the positives, pairs and given negatives of these items."""
    return {
        POSITIVES: _within(dataset.positives, left, right),
        PAIRS: count_pairs(len(left), len(right), dataset.symmetric),
        NEGATIVES: _within(dataset.known_pairs[dataset.known_pairs[:, 2] == 0], left, right),
    }


def _within(pairs: np.ndarray, left: np.ndarray, right: np.ndarray) -> int:
    """Return how many of the pairs, rows of (left, right, …), are pairs of these items."""
    return int((np.isin(pairs[:, 0], left) & np.isin(pairs[:, 1], right)).sum())


def _strategies(results: Results, table: str, strategies: Sequence[str], measures: Sequence[str]) -> Iterator[Line]:
    """Yield one line for each strategy: the last round of its first row."""
    for dataset in results.datasets:
        for strategy in strategies:
            if row := _first(results, dataset, strategy):
                yield _line(results, table, dataset, row, strategy, _last(results, dataset, row, measures))


def _backbones(results: Results) -> Iterator[Line]:
    """Yield Table 2: every concat row that is trained on known pairs."""
    for dataset in results.datasets:
        for row in results.rows(dataset):
            if row.kind == "concat" and _source(results, row).strategy == "stated":
                measures = (ACCURACY, F1, MAP, PAIR_F1, PRECISION, AP)
                yield _line(results, "table2", dataset, row, row.backbone, _last(results, dataset, row, measures))


def _models(results: Results) -> Iterator[Line]:
    """Yield Table 6: both models for each source of labels that a concat row uses."""
    for dataset in results.datasets:
        for strategy in TABLE6:
            cosine = _first(results, dataset, strategy)
            concat = cosine and _learner_from(results, dataset, cosine.name)
            if cosine and concat:
                lines = [
                    (prefix, _line(results, "table6", dataset, row, strategy, _last(results, dataset, row)))
                    for prefix, row in ((COSINE, cosine), (CONCAT, concat))
                ]
                means = {prefix + name: mean for prefix, line in lines for name, mean in line.means.items()}
                sampled = {prefix + name: ends for prefix, line in lines for name, ends in line.sampled.items()}
                marks = tuple(mark for mark in MARKS if any(mark in line.marks for _, line in lines))
                yield replace(lines[0][1], means=means, sampled=sampled, marks=marks)


def _first(results: Results, dataset: str, strategy: str) -> GridRow | None:
    return results.row_of(dataset, lambda row: row.kind == "cosine" and row.strategy == strategy)


def _learner_from(results: Results, dataset: str, name: str) -> GridRow | None:
    """Return the first concat row that is trained on the labels of this row."""
    return results.row_of(dataset, lambda row: row.kind == "concat" and row.labels == name)


def _source(results: Results, row: GridRow) -> GridRow:
    return next(source for source in results.experiment.rows if source.name == row.labels)


def _last(results: Results, dataset: str, row: GridRow, measures: Sequence[str] = RANKED) -> dict[str, Mean]:
    means = means_of(results.last(dataset, row.name))
    return {measure: means[measure] for measure in measures if measure in means}


def _line(results: Results, table: str, dataset: str, row: GridRow, key: str, means: Mapping[str, Mean]) -> Line:
    paper = printed(table, results.experiment.datasets[dataset].paper, key)
    last = results.last(dataset, row.name)
    marks = conditions_of_row(results, dataset, row).marks if paper else ()
    return Line(dataset, row.name, len(last), means, paper, _sampled(last), marks)


def _sampled(records: Sequence[Record]) -> dict[str, tuple[float, float]]:
    """Return the mean ends of the intervals of the figures that all records have from samples."""
    common = [name for name in records[0].sampled if all(name in record.sampled for record in records)]
    ends = {name: np.mean([record.sampled[name] for record in records], axis=0).tolist() for name in common}
    return {name: (low, high) for name, (low, high) in ends.items()}
