"""Figures over all pairs from Python: of known pairs, of an audit's labels, and of simulated rounds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from allpairs.arguments import (
    checked,
    finite,
    flag,
    group_names,
    group_or_text,
    list_of,
    name_or_nothing,
    optional,
    pairs_or_file,
    path_of,
    texts_or_file,
    whole,
)
from allpairs.db.errors import InputError
from allpairs.db.estimate import Estimate
from allpairs.matcher import Matcher, matcher_or_path
from allpairs.tables import WRITTEN, as_pairs, places_as_arguments, read_corpus

if TYPE_CHECKING:
    import pandas as pd

    from allpairs.learner.files.evaluate import Model
    from allpairs.tables import Pairs, Texts

SEED = whole(0, 2**63 - 1)


@checked(
    matcher=matcher_or_path,
    left=texts_or_file,
    right=optional(texts_or_file),
    gold=optional(pairs_or_file),
    audit=optional(pairs_or_file),
    seed=SEED,
)
def evaluate(
    matcher: Matcher | str | PathLike[str],
    left: Texts,
    right: Texts | None = None,
    *,
    gold: Pairs | None = None,
    audit: Pairs | None = None,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Return the matcher's figures over all pairs by name, each with its 95 % interval.

    matcher: a Matcher, its folder, or the folder or name of any sentence-transformers model. left, right: lists of
    texts, data frames with the columns id and text, or files of these; without `right`, the pairs within `left`. gold:
    all matching pairs that are known, as pairs of positions or ids, or with the columns id1, id2 and optionally label.
    audit: what `draw_audit` drew, with its column `label` filled with 1 and 0. seed: of sampled figures and intervals.

    Give gold or audit. An audit's intervals hold what its labels leave open, also of the deepest pairs
    (docs/estimators.md); pairs of no stratum are left out. Raises InputError.
    """
    from allpairs.learner.files.evaluate import (
        AUDIT_COLUMNS,
        MORE_OF_AUDIT,
        Method,
        evaluate_audit,
        evaluate_corpus,
        training_columns,
    )

    if (gold is None) == (audit is None):
        raise InputError("give gold or audit, one of the two")
    model = _model(matcher)
    with TemporaryDirectory() as folder, places_as_arguments():
        corpus = read_corpus(left, right, gold, Path(folder), training_columns(model))
        if audit is None:
            estimates = evaluate_corpus(model, corpus, Method(seed=seed))
        else:
            labels = as_pairs(audit, Path(folder) / WRITTEN.format("audit"), AUDIT_COLUMNS, MORE_OF_AUDIT)
            estimates = evaluate_audit(model, corpus, labels, seed)
    parts = {field.name for field in fields(Estimate)}
    return {
        name: Estimate(**estimate)
        for name, estimate in estimates.items()
        if isinstance(estimate, Mapping) and set(estimate) == parts
    }


@checked(
    found=group_names,
    true=group_names,
    second=optional(list_of(flag)),
    by=group_or_text,
    name=optional(list_of(name_or_nothing)),
)
def evaluate_groups(
    found: Iterable[Hashable],
    true: Iterable[Hashable],
    *,
    second: Iterable[bool] | None = None,
    by: str | Iterable[Any] = "",
    name: Iterable[str | None] | None = None,
) -> dict[str, Any]:
    """Return how good groups are beside the true ones, by pairs, by whole groups and B³, and what both look like.

    found, true: the group of each text, in the same order, by any names; a text whose group is None is alone. second:
    for two lists, whether each text is of the second one; then only pairs of both lists count as pairs. by: `size`,
    `source` (which of two lists), or a value of each text; adds B³ of the texts of each size of the true groups, of
    each list, or of each of the 20 most frequent values. name: of each text, None or empty where there is none; adds to
    `found` the share of groups with several names (`name_variation`) and with a name that another group has, too
    (`homonymy`). Raises InputError if the lengths differ, and for the source of one list.

    Example: evaluate_groups([1, 1, 1, 2], ["a", "a", "b", "b"])["b_cubed"]["f1"]  # 0.7059
    """
    import numpy as np

    from allpairs.learner.files.group_figures import SIZE, SOURCE, codes, compare_with_entities

    count = len(list(found))
    for argument, values in {"true": true, "second": second, "by": by, "name": name}.items():
        if isinstance(values, list) and len(values) != count:
            raise InputError(f"{argument} has {len(values):,} values for {count:,} texts: give one for each text")
    if isinstance(by, str) and by not in ("", SIZE, SOURCE):
        raise InputError(f"by is {by!r}: give {SIZE!r}, {SOURCE!r}, or a value for each text")
    sides = None if second is None else np.array(second, dtype=bool)
    values = by if isinstance(by, str) else list(by)
    return compare_with_entities(
        codes(list(found)), codes(list(true)), sides, values, () if name is None else list(name)
    )


@checked(
    matcher=matcher_or_path,
    left=texts_or_file,
    right=optional(texts_or_file),
    pairs=whole(1),
    seed=SEED,
)
def draw_audit(
    matcher: Matcher | str | PathLike[str],
    left: Texts,
    right: Texts | None = None,
    *,
    pairs: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Draw pairs whose labels measure this matcher, and others on the same texts, over all pairs.

    Arguments as in `evaluate`. Returns the columns id1, id2, also1, also2 (other ids of equal texts, as JSON),
    text1, text2, label (empty: fill it with 1 and 0), inclusion (the chance that this pair was drawn), stratum, its
    size and its band. Label every pair, or leave out at random. Raises InputError.
    """
    import pandas as pd

    from allpairs.learner.files import audit
    from allpairs.learner.files.evaluate import training_columns

    model = _model(matcher)
    with TemporaryDirectory() as folder, places_as_arguments():
        corpus = read_corpus(left, right, None, Path(folder), training_columns(model))
        drawn = audit.draw_corpus_audit(model, corpus, pairs, seed)
    items = corpus.items
    return pd.DataFrame(
        {
            "id1": [items[row].ids[0] for row in drawn.left],
            "id2": [items[row].ids[0] for row in drawn.right],
            "also1": audit.other_ids(corpus, drawn.left),
            "also2": audit.other_ids(corpus, drawn.right),
            "text1": [items[row].text for row in drawn.left],
            "text2": [items[row].text for row in drawn.right],
            "label": pd.array([None] * len(drawn.left), dtype="Int8"),
            "inclusion": drawn.inclusion,
            "stratum": drawn.stratum,
            "size": drawn.size,
            "band": drawn.band,
        }
    )


@checked(
    left=texts_or_file,
    right=optional(texts_or_file),
    gold=pairs_or_file,
    out=path_of,
    rounds=whole(1),
    test_fraction=finite,
    seed=SEED,
)
def simulate(
    left: Texts,
    right: Texts | None = None,
    *,
    gold: Pairs,
    out: str | PathLike[str],
    rounds: int = 5,
    test_fraction: float = 0.5,
    seed: int = 0,
    **settings: Any,
) -> pd.DataFrame:
    """Replay the rounds of labelling with known pairs in the annotator's place: how good would so many labels be?

    settings: those of a project, by the names of docs/reference.md, such as `strategy`, `first`, `encoder`. A share of
    the items, `test_fraction`, is kept for measuring. Returns a row for each round: its number, labels, positives,
    whether it could train (labels of one class teach nothing), and average precision and precision at a recall of 20 %,
    each with low and high. `out` gets rounds.jsonl, labels.csv, split.csv and `model/`, which `Matcher.load` loads.
    Raises InputError.
    """
    import pandas as pd

    from allpairs.learner.files.simulate import checked_simulation_settings, simulate_corpus

    configuration = checked_simulation_settings({**settings, "seed": seed, "evaluation_share": test_fraction})
    with TemporaryDirectory() as folder, places_as_arguments():
        corpus = read_corpus(left, right, gold, Path(folder))
        rows, _ = simulate_corpus(corpus, configuration, rounds, Path(out))
    figures = ("average_precision", "precision_at_recall_20")
    return pd.DataFrame(
        {
            **{name: row[name] for name in ("round", "labels", "positives", "trained")},
            **{
                name + end: row[name][part]
                for name in figures
                for end, part in (("", "value"), ("_low", "low"), ("_high", "high"))
            },
        }
        for row in rows
    )


def _model(matcher: Matcher | str | PathLike[str]) -> Model:
    """Return what is loaded, or what names a folder or a model."""
    return matcher.loaded if isinstance(matcher, Matcher) else str(matcher)
