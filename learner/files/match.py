"""The matching pairs of a file, or of two."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.table_files import require_writable, write_frame
from allpairs.db.domain import Split
from allpairs.db.errors import InputError
from allpairs.db.groups.grouping import Grouping
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.files.evaluate import dataset_for
from allpairs.learner.files.groups import group_table
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.scoring.explanation import explained
from allpairs.learner.scoring.matcher import Matcher, load_matcher, read_details
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import as_left, as_right, scores
from allpairs.learner.search.top_pairs import LOWEST, best_pairs


@dataclass(frozen=True)
class Cut:
    """Where the list of matches ends: exactly one of the three is given."""

    top: int | None = None
    threshold: float | None = None
    precision: float | None = None


def match_corpus(
    model: str, corpus: Corpus, cut: Cut, out: Path, progress: Progress = no_progress, why: bool = False,
    grouping: Grouping | None = None, answers: Labelled | None = None, values: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Write the matching pairs to `out`; return their number and the lowest score. Raises InputError for a bad cut.

    why: add a column with the parts of each score. grouping: also write groups, to the file beside it that
    `groups_file` names. answers, values: as in `group_table`.
    """
    require_writable(out)
    threshold = threshold_of(model, cut)
    matcher = load_matcher(model)
    if grouping is not None:
        grouping.require_possible(corpus.kind, matcher.layer is not None)
    dataset = dataset_for(model, corpus)
    encoded = matcher.encoder.encode(dataset.texts, progress)
    found = _found(matcher, dataset, encoded, cut, threshold, progress)
    table = _table(corpus, found)
    p = None if matcher.layer is None else matcher.layer.probability(found.score)
    if p is not None:
        table.insert(3, "p", p)
    if why:
        table["why"] = _reasons(matcher, dataset, encoded, found)
    result = {"pairs": len(found), "lowest_score": float(found.score[-1]) if len(found) else None, "out": str(out)}
    if grouping is not None:
        groups = group_table(corpus, found, p, _least(matcher, found, threshold), grouping, answers, values)
        write_frame(groups_file(out), groups)
        result |= {"groups": int(groups["group"].max()) if len(groups) else 0, "groups_out": str(groups_file(out))}
    write_frame(out, table)
    return result


def _least(matcher: Matcher, found: Pairs, threshold: float) -> float:
    """Return the p, or without one the score, at the threshold; without a threshold that of the last pair."""
    ends = np.append(found.score[-1:], [threshold] if threshold > LOWEST else [])  # rounding may put either below
    held = ends if matcher.layer is None else matcher.layer.probability(ends)
    return float(held.min(initial=np.inf))


def groups_file(out: Path) -> Path:
    """Return the name of the file of groups that belongs to a file of pairs."""
    return out.with_name(f"{out.stem}-groups{out.suffix}")


def matches_of(matcher: Matcher, left: RecordTexts, right: RecordTexts | None, cut: Cut, threshold: float) -> Pairs:
    """Return the best pairs of two lists, or within the left one, best first: their places in the lists, and scores."""
    records = left if right is None else left + right
    splits = [Split.EVALUATION] * len(records.texts)
    dataset = make_dataset(records.texts, records.sides, splits, right is None, np.empty((0, 2)), records=records)
    pairs = _found(matcher, dataset, matcher.encoder.encode(dataset.texts), cut, threshold, no_progress)
    return pairs if right is None else replace(pairs, right=pairs.right - len(left.texts))


def _found(
    matcher: Matcher, dataset: Dataset, encoded: np.ndarray, cut: Cut, threshold: float, progress: Progress
) -> Pairs:
    vectors, space = matcher.vectors(dataset, encoded, progress), matcher.space
    left, right = dataset.evaluation_left, dataset.evaluation_right
    found = best_pairs(
        as_left(vectors[left], space), as_right(vectors[right], space), dataset.symmetric, top=cut.top,
        threshold=threshold, rescored=matcher.rescored(dataset, vectors, progress).within(left, right),
        progress=progress,
    )  # fmt: skip
    return Pairs(left[found.left], right[found.right], found.score)


def threshold_of(model: str, cut: Cut) -> float:
    """Return the lowest score that the cut keeps. Raises InputError unless it gives exactly one known end."""
    given = [name for name in ("top", "threshold", "precision") if getattr(cut, name) is not None]
    if len(given) != 1:
        raise InputError(f"give exactly one of top, threshold and precision (given: {', '.join(given) or 'none'})")
    if cut.precision is not None:
        if not 0 < cut.precision <= 1:
            raise InputError(f"precision is a share between 0 and 1, not {cut.precision:g}")
        return _score_at_precision(Path(model), cut.precision)
    return cut.threshold if cut.threshold is not None else LOWEST


def _score_at_precision(folder: Path, precision: float) -> float:
    """Return the lowest score at or above which the matcher's measured precision was reached."""
    curve = read_details(folder).get("curve")
    if not curve:
        raise InputError(f"precision has not been measured for {folder}: use top or threshold")
    scores, measured = np.array(curve["score"]), np.array(curve["precision"])
    reached = measured >= precision
    if not reached.any():
        raise InputError(f"{folder} does not reach precision {precision:g}: its highest is {measured.max():.3f}")
    return float(scores[reached].min())


def _table(corpus: Corpus, pairs: Pairs) -> pd.DataFrame:
    left, right = [corpus.items[i] for i in pairs.left], [corpus.items[i] for i in pairs.right]
    return pd.DataFrame(
        {
            "id1": [item.ids[0] for item in left],
            "id2": [item.ids[0] for item in right],
            "score": pairs.score,
            "text1": [item.text for item in left],
            "text2": [item.text for item in right],
        }
    )


def _reasons(matcher: Matcher, dataset: Dataset, encoded: np.ndarray, pairs: Pairs) -> list[str]:
    """Return in words what each part adds to the log-odds of each pair, or to the score of a bare encoder."""
    vectors = matcher.vectors(dataset, encoded)
    first = replace(pairs, score=scores(vectors, pairs.left, pairs.right, matcher.space))
    features = matcher.pair_features(dataset, vectors) if matcher.second else None
    return [
        ", ".join(map(str, parts)) for parts in explained(matcher, vectors, first, matcher.lexicon(dataset), features)
    ]
