"""Groups of a file's matches."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.domain import Clustering, Kind, Representative, Side
from allpairs.db.errors import InputError
from allpairs.db.groups.clusterings import TWO_LISTS, clustered
from allpairs.db.groups.description import described, longest_text
from allpairs.db.groups.links import Links
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.search.exact import Pairs

NEED_P = (Clustering.AVERAGE, Clustering.CORRELATION)


@dataclass(frozen=True)
class Grouping:
    """How matches make groups. answers: rows of pairs that people answered."""

    how: Clustering = Clustering.AVERAGE  # better than connected on each of four sets (docs/results.md, Clusterings)
    representative: Representative = Representative.CENTRAL
    answers: Labelled | None = None


def group_table(corpus: Corpus, pairs: Pairs, p: np.ndarray | None, least: float, grouping: Grouping) -> pd.DataFrame:
    """Return the groups of two or more, the largest first: group, size, side, id, text, representative (1 or 0).

    p: (m,) probability of each pair; None for an encoder without one; least: what a link must have, p or score.
    """
    second = None
    if corpus.kind == Kind.BIPARTITE:
        second = np.array([item.side == Side.RIGHT for item in corpus.items])
    yes, no = _answers(grouping.answers)
    held = pairs.score.astype(np.float64)
    links = Links(len(corpus.items), pairs.left, pairs.right, held if p is None else p, yes, no, second)
    groups = described(links, held, clustered(links, grouping.how, least))
    texts = [item.text for item in corpus.items]
    chosen = groups.central if grouping.representative == Representative.CENTRAL else longest_text(groups.of, texts)
    number = np.argsort(groups.largest_first()) + 1
    inside = np.flatnonzero(groups.of >= 0)
    inside = inside[np.argsort(number[groups.of[inside]], kind="stable")]
    group, items = groups.of[inside], [corpus.items[at] for at in inside.tolist()]
    return pd.DataFrame(
        {
            "group": number[group],
            "size": groups.size[group],
            "side": [item.side.value for item in items],
            "id": [item.ids[0] for item in items],
            "text": [item.text for item in items],
            "representative": (inside == chosen[group]).astype(int),
        }
    )


def require_possible(grouping: Grouping, corpus: Corpus, has_p: bool) -> None:
    """Raise InputError for a clustering that needs probabilities or two lists where there are none."""
    if not has_p and grouping.how in NEED_P:
        raise InputError(f"{grouping.how} groups need probabilities, and an encoder has none: use connected")
    if corpus.kind == Kind.SYMMETRIC and grouping.how in TWO_LISTS:
        raise InputError(
            f"{grouping.how} groups need two lists, and this is one: use connected, average or correlation"
        )


def _answers(labelled: Labelled | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs answered with yes and with no, (k, 2) int64 each."""
    if labelled is None:
        return np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    pairs = np.column_stack([labelled.left, labelled.right])
    return pairs[labelled.label == 1], pairs[labelled.label == 0]
