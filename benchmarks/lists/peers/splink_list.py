"""Splink on a messy list without answers: a Fellegi–Sunter model trained in the order that its guide recommends.

    PYTHON_WITH_SPLINK -m benchmarks.lists.peers.splink_list TASK

All pairs are compared, so blocking loses nothing. Each column is compared by what it holds, as its library of
comparisons suggests; titles, long text without an order, by the words that they share.
"""

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import splink.comparison_level_library as cll
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

from benchmarks.lists.peers.prepared import prepared
from benchmarks.lists.task import ListTask, read_list_task

THRESHOLD = 0.95  # of the clusters, as in its tutorial
RECALL = 0.6  # our guess of how many matches the deterministic rules find
TRAINED_BY = 3  # blocks of EM
TITLES = 0.8  # share of different values from which on text has no order


@dataclass(frozen=True)
class ColumnSet:
    """The list as Splink reads it, its comparisons, and the columns of single values, the most different ones first.

    blocks: the columns that pairs share on which EM estimates.
    """

    table: pa.Table
    comparisons: list[Any]
    singles: list[str]
    blocks: list[list[str]]


def main() -> None:
    """Train without answers and group."""
    task = read_list_task()
    columns = column_set(task)
    linker, blocks = trained(task, columns)
    predictions = linker.inference.predict(threshold_match_probability=0.01)
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(predictions, THRESHOLD)
    rows = clusters.as_duckdbpyrelation().fetchnumpy()
    group = np.empty(len(task.records), dtype=np.int64)
    group[np.asarray(rows["unique_id"], dtype=np.int64)] = np.unique(rows["cluster_id"], return_inverse=True)[1]
    task.keep(0, group)
    settings = {"blocking": "none", "recall": RECALL, "threshold": THRESHOLD, "EM on pairs that share": blocks}
    task.finish(settings, {"splink": version("splink"), "duckdb": version("duckdb")})


def column_set(task: ListTask) -> ColumnSet:
    """Return the list's columns, under names that SQL takes."""
    records = [prepared(record, task.columns) for record in task.records]
    values: dict[str, list[Any]] = {"unique_id": list(range(len(records)))}
    comparisons = []
    distinct: dict[str, int] = {}
    for place, (name, holds) in enumerate(task.columns.items()):
        column = f"c{place}"
        texts = [record[name] for record in records]
        different = len(set(texts))
        if holds == "price":
            values[column] = [float(text) if text else None for text in texts]
        elif holds == "text" and different > TITLES * len(texts):
            values[column] = [sorted(set(text.split())) if text else None for text in texts]
            comparisons.append(cl.ArrayIntersectAtSizes(column, [6, 5, 4, 3, 2]))
            continue
        else:
            values[column] = texts
            distinct[column] = different
        comparisons.append(comparison(column, holds))
    names = [f"c{place}" for place, holds in enumerate(task.columns.values()) if holds == "name"]
    singles = sorted(distinct, key=lambda column: -distinct[column])
    blocks = [names] if len(names) > 1 else []
    return ColumnSet(pa.table(values), comparisons, singles, [*blocks, *([column] for column in singles)])


def trained(task: ListTask, columns: ColumnSet) -> tuple[Linker, list[str]]:
    """Return a linker trained by deterministic rules, random pairs and EM, and the columns that EM blocked on.

    EM fails on pairs that never differ in another column, and spoils the model: it begins again without that block.
    """
    blocks = columns.blocks
    while blocks:
        linker = new_linker(task, columns)
        for block in blocks[:TRAINED_BY]:
            try:
                linker.training.estimate_parameters_using_expectation_maximisation(block_on(*block))
            except ValueError:
                blocks = [other for other in blocks if other != block]
                break
        else:
            return linker, [" and ".join(block) for block in blocks[:TRAINED_BY]]
    raise ValueError("EM failed on all blocks")


def new_linker(task: ListTask, columns: ColumnSet) -> Linker:
    """Return a linker that knows how often random pairs match and agree."""
    settings = SettingsCreator(
        link_type="dedupe_only", comparisons=columns.comparisons, blocking_rules_to_generate_predictions=["1=1"]
    )
    api = DuckDBAPI(duckdb.connect(config={"threads": 1}))
    linker = Linker(api.register(columns.table), settings)
    rules = [block_on(column) for column in columns.singles[:2]]
    linker.training.estimate_probability_two_random_records_match(rules, recall=RECALL)
    linker.training.estimate_u_using_random_sampling(max_pairs=2e6, seed=task.seed + 1)
    return linker


def comparison(column: str, holds: str) -> Any:
    """Return the comparison of a column by what it holds; agreeing on a rare value says more."""
    if holds == "date":
        return cl.DateOfBirthComparison(column, input_is_string=True)
    if holds == "e-mail":
        return cl.EmailComparison(column).configure(term_frequency_adjustments=True)
    if holds == "price":
        levels = [cll.PercentageDifferenceLevel(column, share) for share in (0.01, 0.1, 0.3)]
        return cl.CustomComparison(
            output_column_name=column, comparison_levels=[cll.NullLevel(column), *levels, cll.ElseLevel()]
        )
    if holds in ("phone", "code"):
        return cl.DamerauLevenshteinAtThresholds(column, [1]).configure(term_frequency_adjustments=True)
    return cl.JaroWinklerAtThresholds(column, [0.92, 0.8]).configure(term_frequency_adjustments=True)


if __name__ == "__main__":
    main()
