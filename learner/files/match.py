"""The matching pairs of a file, or of two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from allpairs.db.corpus.cells import with_noun
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.equal_texts import EQUAL, MODEL, MOST_ID_PAIRS, IdPairs, omitted_pairs, pairs_of_ids
from allpairs.db.corpus.table_files import require_writable, write_frame
from allpairs.db.domain import Kind, Split
from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.files.evaluate import dataset_for
from allpairs.learner.files.groups import column_order, group_table
from allpairs.learner.light.groups.grouping import Grouping
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.scoring.explanation import part_lists
from allpairs.learner.scoring.matcher import PairModel, load_matcher
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import as_left, as_right, scores
from allpairs.learner.search.top_pairs import LOWEST, best_pairs


@dataclass(frozen=True)
class Cut:
    """Where the list of matches ends: exactly one of the three is given."""

    top: int | None = None
    threshold: float | None = None
    precision: float | None = None


@dataclass(frozen=True)
class ScoredMatches:
    """The matching pairs of texts, equal ones of two lists first, then the best; p: 1 for these, None without a layer.

    equal: (m,) bool.
    """

    pairs: Pairs
    p: np.ndarray | None
    equal: np.ndarray


def match_corpus(
    model: str | PairModel,
    corpus: Corpus,
    cut: Cut,
    out: Path,
    progress: Progress = no_progress,
    explain: bool = False,
    grouping: Grouping | None = None,
    answers: Labelled | None = None,
    values: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the matching pairs to `out`; return their number and the lowest score. Raises InputError for a bad cut.

    Equal texts match whatever the cut. explain: add a column with the parts of each score. grouping: also write groups,
    to the file beside it that `groups_file` names. answers: as in `group_table`; values: of `column_values`.
    """
    require_writable(out)
    check_cut(cut)
    matcher = model if isinstance(model, PairModel) else load_matcher(model)
    threshold = threshold_of(matcher, cut)
    if grouping is not None:
        grouping.require_possible(corpus.kind, matcher.layer is not None)
    dataset = dataset_for(matcher, corpus)
    if dataset.symmetric and sum(len(item.ids) for item in corpus.items) < 2:
        raise InputError("the file has one row, which makes no pair: name a file with two or more")
    encoded = matcher.encoder.encode(dataset.texts, progress)
    several = _several([item.ids for item in corpus.items], dataset.symmetric)
    matches = best_matches(matcher, dataset, encoded, _counting(cut, len(several)), threshold, progress)
    reasons = _reasons(matcher, dataset, encoded, matches.pairs) if explain else None
    table, omitted = _table(corpus, matches, reasons)
    scores = matches.pairs.score[~matches.equal]
    result = {
        "pairs": len(table),
        "equal": int((table["reason"] == EQUAL).sum()),
        "left_out": omitted,
        "lowest_score": float(scores[-1]) if len(scores) else None,
        "out": str(out),
    }
    if grouping is not None:
        least = _least(matcher, matches.pairs, threshold)
        equal = np.column_stack([matches.pairs.left, matches.pairs.right])
        order = column_order(corpus, grouping, values)
        groups = group_table(corpus, matches.pairs, matches.p, least, grouping, answers, order, equal[matches.equal])
        result["note"] = order.note
        write_frame(groups_file(out), groups)
        result |= {"groups": int(groups["group"].max()) if len(groups) else 0, "groups_out": str(groups_file(out))}
    write_frame(out, table)
    return result


def equal_in_words(equal: int, omitted: int) -> Iterator[str]:
    """Yield what to say of so many pairs of equal texts, and of so many pairs that the file leaves out."""
    if equal:
        yield f"{with_noun(equal, 'pair')} of equal texts: p 1, reason “{EQUAL}”"
    if omitted:
        yield (
            f"{with_noun(omitted, 'pair')} left out: where two texts make more than {MOST_ID_PAIRS} pairs of ids, "
            "each id stands beside the first one of the other text alone; groups name every id"
        )


def _least(matcher: PairModel, pairs: Pairs, threshold: float) -> float:
    """Return the p, or without one the score, at the threshold; without a threshold that of the last pair."""
    ends = np.append(pairs.score[-1:], [threshold] if threshold > LOWEST else [])  # rounding may put either below
    values = ends if matcher.layer is None else matcher.layer.probability(ends)
    return float(values.min(initial=np.inf))


def groups_file(out: Path) -> Path:
    """Return the name of the file of groups that belongs to a file of pairs."""
    return out.with_name(f"{out.stem}-groups{out.suffix}")


def matches_of(
    matcher: PairModel, left: RecordTexts, right: RecordTexts | None, cut: Cut, threshold: float
) -> pd.DataFrame:
    """Return the best pairs of two lists, or within the left one, equal ones first, then the best.

    Columns: left, right (places in the lists), score (none for equal texts of one list), p, reason.
    """
    records, places = distinct_records(left if right is None else left + right)
    splits = [Split.EVALUATION] * len(records.texts)
    dataset = make_dataset(records.texts, records.sides, splits, right is None, np.empty((0, 2)), records=records)
    cut = _counting(cut, len(_several(places, dataset.symmetric)))
    matches = best_matches(matcher, dataset, matcher.encoder.encode(dataset.texts), cut, threshold, no_progress)
    _, ids, columns = _of_ids(matches, places, right is None)
    pairs = np.array([ids.first, ids.second], dtype=np.int64).reshape(2, -1)
    first, second = np.sort(pairs, axis=0) if right is None else (pairs[0], pairs[1] - len(left.texts))
    return pd.DataFrame({"left": first, "right": second, **columns})


def distinct_records(records: RecordTexts) -> tuple[RecordTexts, list[list[int]]]:
    """Return each text of a list once, and its places among the records."""
    places: dict[tuple[str, str | int], list[int]] = {}
    for place, text in enumerate(records.texts):
        key = identity(text) or place  # of two records without a value nobody knows whether they are the same
        places.setdefault((records.sides[place], key), []).append(place)
    same = list(places.values())
    return records.take([first for first, *_ in same]), same


def best_matches(
    matcher: PairModel, dataset: Dataset, encoded: np.ndarray, cut: Cut, threshold: float, progress: Progress
) -> ScoredMatches:
    """Return the matches of the dataset's evaluation texts, whose vectors (texts, e) are the matcher's encoder's."""
    vectors = matcher.vectors(dataset, encoded, progress)
    space = matcher.space
    left = dataset.evaluation_left
    right = dataset.evaluation_right
    rescored = matcher.rescored(dataset, vectors, progress)
    top = None if cut.top is None else max(cut.top, 1)
    best = best_pairs(
        as_left(vectors[left], space),
        as_right(vectors[right], space),
        dataset.symmetric,
        top=top,
        threshold=threshold,
        rescored=rescored.within(left, right),
        progress=progress,
    )
    best = Pairs(left[best.left], right[best.right], best.score)
    same_left, same_right = dataset.equal_pairs.T
    same_score = rescored.replace(same_left, same_right, scores(vectors, same_left, same_right, space))
    same = Pairs(same_left, same_right, same_score)
    rows = len(dataset.texts)
    unequal = best.take(~np.isin(best.keys(rows), same.keys(rows)))
    unequal = unequal.take(slice(None if cut.top is None else max(cut.top - len(same), 0)))
    pairs = Pairs(
        *(np.concatenate([getattr(same, name), getattr(unequal, name)]) for name in ("left", "right", "score"))
    )
    equal = np.arange(len(pairs)) < len(same)
    p = None if matcher.layer is None else np.where(equal, 1.0, matcher.layer.probability(pairs.score))
    return ScoredMatches(pairs, p, equal)


def _several(ids: Sequence[Sequence[Any]], one_list: bool) -> np.ndarray:
    """Return the texts of one list that have several ids; of two lists none, whose pairs are of a text of each."""
    return np.array([row for row, names in enumerate(ids) if one_list and len(names) > 1], dtype=np.int64)


def _counting(cut: Cut, pairs: int) -> Cut:
    """Return the cut after so many pairs that come first."""
    return cut if cut.top is None else replace(cut, top=max(cut.top - pairs, 0))


def check_cut(cut: Cut) -> None:
    """Raise InputError unless the cut gives exactly one end, within its bounds."""
    ends = [name for name in ("top", "threshold", "precision") if getattr(cut, name) is not None]
    if len(ends) != 1:
        raise InputError(f"give exactly one of top, threshold and precision (given: {', '.join(ends) or 'none'})")
    if cut.precision is not None and not 0 < cut.precision <= 1:
        raise InputError(f"precision is a share between 0 and 1, not {cut.precision:g}")


def threshold_of(matcher: PairModel, cut: Cut) -> float:
    """Return the lowest score that the cut keeps. Raises InputError as `check_cut`, and if precision is not known."""
    check_cut(cut)
    if cut.precision is not None:
        return _score_at_precision(matcher, cut.precision)
    return cut.threshold if cut.threshold is not None else LOWEST


def _score_at_precision(matcher: PairModel, precision: float) -> float:
    """Return the lowest score at or above which the matcher's measured precision was reached."""
    name = matcher.encoder.name
    curve = matcher.curve
    if not curve:
        raise InputError(f"precision has not been measured for {name}: use top or threshold")
    scores = np.array(curve["score"])
    measured = np.array(curve["precision"])
    reached = measured >= precision
    if not reached.any():
        raise InputError(f"{name} does not reach precision {precision:g}: its highest is {measured.max():.3f}")
    return float(scores[reached].min())


def _table(corpus: Corpus, matches: ScoredMatches, reasons: Sequence[str] | None) -> tuple[pd.DataFrame, int]:
    """Return the pairs of ids, and how many are left out because they are many."""
    items = corpus.items
    ids = [item.ids for item in items]
    pairs, names, columns = _of_ids(matches, ids, corpus.kind == Kind.SYMMETRIC)
    left = pairs.left[names.text_pair].tolist()
    right = pairs.right[names.text_pair].tolist()
    table = pd.DataFrame({"id1": names.first, "id2": names.second, **columns})
    table["text1"] = [items[row].text for row in left]
    table["text2"] = [items[row].text for row in right]
    if reasons is not None:
        words = [EQUAL] * (len(pairs) - len(reasons)) + list(reasons)
        table["why"] = [words[place] for place in names.text_pair.tolist()]
    return table, omitted_pairs(ids, pairs.left.tolist(), pairs.right.tolist())


def _of_ids(
    matches: ScoredMatches, ids: Sequence[Sequence[Any]], one_list: bool
) -> tuple[Pairs, IdPairs, dict[str, Any]]:
    """Return the pairs of texts after each text of one list with itself, their pairs of ids, and columns of these."""
    several = _several(ids, one_list)
    left = np.append(several, matches.pairs.left)
    right = np.append(several, matches.pairs.right)
    pairs = Pairs(left, right, np.append(np.full(len(several), np.nan, dtype=np.float32), matches.pairs.score))
    names = pairs_of_ids(ids, left.tolist(), right.tolist())
    equal = np.append(np.ones(len(several), dtype=bool), matches.equal)[names.text_pair]
    columns: dict[str, Any] = {"score": pairs.score[names.text_pair]}
    if matches.p is not None:
        columns["p"] = np.append(np.ones(len(several)), matches.p)[names.text_pair]
    return pairs, names, columns | {"reason": np.where(equal, EQUAL, MODEL)}


def _reasons(matcher: PairModel, dataset: Dataset, encoded: np.ndarray, pairs: Pairs) -> list[str]:
    """Return in words what each part adds to the log-odds of each pair, or to the score of a bare encoder."""
    vectors = matcher.vectors(dataset, encoded)
    first = replace(pairs, score=scores(vectors, pairs.left, pairs.right, matcher.space))
    features = matcher.pair_features(dataset, vectors) if matcher.second else None
    return [
        ", ".join(map(str, parts)) for parts in part_lists(matcher, vectors, first, matcher.lexicon(dataset), features)
    ]
