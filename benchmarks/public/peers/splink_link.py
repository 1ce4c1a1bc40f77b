"""Splink between two lists: a Fellegi–Sunter model, trained in the order that its documents recommend.

    PYTHON_WITH_SPLINK -m benchmarks.public.peers.splink_link TASK

Titles are compared as bags of words by the frequencies of the words they share, as its example for business names does;
other columns by Jaro–Winkler or, a price, by its relative difference. Splink does not choose what to label: answers are
asked about a random part of the 2,000 likeliest training pairs of the model without labels, and those that match
estimate m, as its example of pairwise labels does.
"""

from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import splink.comparison_level_library as cll
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

from benchmarks.public.peers.task import Record, Task, begun

REVIEWED = 2_000  # likeliest pairs that labels are drawn from
RARE = 3  # words of a record that block
COMMON = 0.01  # share of records from which on a word does not
SHARED = (1e-16, 1e-13, 1e-10, 1e-8, 1e-6, 1e-4)  # products of the frequencies of shared words
RECALL = 0.7  # our guess of how many matches the deterministic rules find
Frequencies = dict[str, float]


def main() -> None:
    """Train and score at each budget."""
    task, answers = begun()
    tables = [table(records, task, frequencies(task)) for records in (task.left, task.right)]
    place = np.full(len(task.left), -1)
    place[task.evaluation] = np.arange(len(task.evaluation))
    first = predicted(trained(task, tables, np.empty((0, 2), dtype=np.int64)))
    ranked = likeliest(*first, place)
    for labels in task.labels:
        with answers.alone():
            matches = reviewed(task, ranked, labels)
            left, right, weight = predicted(trained(task, tables, matches)) if labels else first
            kept = place[left] >= 0
            answers.sparse(labels, len(matches), place[left[kept]], right[kept], weight[kept])
    answers.finish(shown(task), {"splink": version("splink"), "duckdb": version("duckdb")})


def likeliest(left: np.ndarray, right: np.ndarray, weight: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the training pairs of the highest match weights, (k, 2); place: below 0 for training rows."""
    training = np.flatnonzero(place[left] < 0)
    best = training[np.argsort(-weight[training], kind="stable")[:REVIEWED]]
    return np.column_stack([left, right])[best]


def reviewed(task: Task, ranked: np.ndarray, labels: int) -> np.ndarray:
    """Ask about that many of the ranked pairs, drawn by chance, and return those that match."""
    drawn = ranked[np.random.default_rng(task.seed).permutation(len(ranked))[:labels]]
    return drawn[[task.answer(left, right) for left, right in drawn.tolist()]]


def frequencies(task: Task) -> Frequencies:
    """Return the share of records, of both lists, that have each word."""
    records = [*task.left, *task.right]
    counts = Counter(word for record in records for word in words(record, task))
    return {word: count / len(records) for word, count in counts.items()}


def words(record: Record, task: Task) -> list[str]:
    """Return the distinct words of the first column, in order."""
    return list(dict.fromkeys(record[task.columns[0] if task.columns else "text"].lower().split()))


def table(records: Sequence[Record], task: Task, frequency: Frequencies) -> pa.Table:
    """Return the records as Splink reads them; empty values are null."""
    columns: dict[str, list[Any]] = {"unique_id": list(range(len(records))), "words": [], "rare": []}
    for record in records:
        found = words(record, task)
        columns["words"].append([{"word": word, "share": frequency[word]} for word in found])
        rare = sorted((word for word in found if frequency[word] < COMMON), key=lambda word: (frequency[word], word))
        columns["rare"].append(rare[:RARE])
    for name in task.columns:
        values = [record[name].lower() or None for record in records]
        columns[name] = [float(value.split()[0]) if value else None for value in values] if name == "price" else values
    return pa.table(columns)


def comparisons(task: Task) -> list[Any]:
    """Return the comparison of words, and one for each further column."""
    shared = """list_reduce(list_prepend(1.0::double, list_transform(
        list_intersect("words_l", "words_r"), lambda each: each.share::double)), lambda one, other: one * other)"""
    levels = [cll.CustomLevel(f"{shared} < {least}", label_for_charts=f"shared words < {least}") for least in SHARED]
    null = cll.CustomLevel("len(words_l) = 0 or len(words_r) = 0").configure(is_null_level=True)
    bags = cl.CustomComparison(output_column_name="words", comparison_levels=[null, *levels, cll.ElseLevel()])
    return [bags, *(price() if name == "price" else name_of(name) for name in task.columns[1:])]


def name_of(column: str) -> Any:
    """Return the comparison of a short name, in which agreeing on a rare value says more."""
    return cl.JaroWinklerAtThresholds(column, [0.9, 0.7]).configure(term_frequency_adjustments=True)


def price() -> Any:
    """Return the comparison of prices by their relative difference."""
    levels = [cll.PercentageDifferenceLevel("price", share) for share in (0.01, 0.1, 0.3)]
    return cl.CustomComparison(
        output_column_name="price", comparison_levels=[cll.NullLevel("price"), *levels, cll.ElseLevel()]
    )


def trained(task: Task, tables: Sequence[pa.Table], matches: np.ndarray) -> Linker:
    """Return a linker trained without labels or, given matches (k, 2), with them besides."""
    others = task.columns[1:]
    rules = [block_on("rare", arrays_to_explode=["rare"]), *(block_on(name) for name in others)]
    settings = SettingsCreator(
        link_type="link_only", comparisons=comparisons(task), blocking_rules_to_generate_predictions=rules
    )
    connection = duckdb.connect(config={"threads": 1})
    api = DuckDBAPI(connection)
    names = ("a_left", "b_right")
    linker = Linker(
        [api.register(each, dataset_display_name=name) for each, name in zip(tables, names, strict=True)], settings
    )
    sure = [block_on(task.columns[0] if task.columns else "words")]
    sure += [block_on("rare[1]", *others)] if others else []
    training = linker.training
    training.estimate_probability_two_random_records_match(sure, recall=RECALL)
    training.estimate_u_using_random_sampling(max_pairs=1e7, seed=task.seed + 1)
    if len(matches):
        pairs = {
            "source_dataset_l": [names[0]] * len(matches),
            "unique_id_l": matches[:, 0],
            "source_dataset_r": [names[1]] * len(matches),
            "unique_id_r": matches[:, 1],
        }
        known = linker.table_management.register_labels_table(api.register(pa.table(pairs)))
        training.estimate_m_from_pairwise_labels(known)
    for name in others or ["rare[1]"]:
        training.estimate_parameters_using_expectation_maximisation(block_on(name))
    return linker


def predicted(linker: Linker) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the left rows, right rows and match weights of all pairs that the blocking rules leave."""
    found = linker.inference.predict().as_duckdbpyrelation().fetchnumpy()
    assert set(found["source_dataset_l"]) == {"a_left"}
    return tuple(np.asarray(found[name]) for name in ("unique_id_l", "unique_id_r", "match_weight"))  # type: ignore[return-value]


def shown(task: Task) -> dict[str, Any]:
    """Return what was set."""
    return {
        "link_type": "link_only",
        "comparisons": [
            "words shared, by frequency",
            *(
                "price: relative difference"
                if name == "price"
                else f"{name}: Jaro–Winkler 0.9, 0.7, with term frequencies"
                for name in task.columns[1:]
            ),
        ],
        "blocking": [f"one of the {RARE} rarest words", *(f"same {name}" for name in task.columns[1:])],
        "training": "probability of a match by deterministic rules, u by random pairs, m by labels and by EM",
        "labels": f"a random part of the {REVIEWED:,} likeliest training pairs",
    }


if __name__ == "__main__":
    main()
