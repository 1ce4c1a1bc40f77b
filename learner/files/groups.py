"""Groups of a file's matches."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.equal_texts import without_denied
from allpairs.db.corpus.files import read_rows
from allpairs.db.domain import Kind, Side
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.description import Groups, described, of_ids, with_equal_texts
from allpairs.learner.light.groups.grouping import Grouping, group_rows
from allpairs.learner.light.groups.links import Links
from allpairs.learner.light.groups.newest import NO_ORDER, Order
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.search.exact import Pairs

NONE = np.empty((0, 2), dtype=np.int64)


def group_table(
    corpus: Corpus,
    pairs: Pairs,
    p: np.ndarray | None,
    least: float,
    grouping: Grouping,
    answers: Labelled | None = None,
    order: Order = NO_ORDER,
    equal: np.ndarray = NONE,
) -> pd.DataFrame:
    """Return the groups of two or more ids, the largest first.

    Columns: group, size, side, id, text, representative (1 or 0), weakest (score of the weakest link), coherence.
    p: (m,) probability of each pair; None for an encoder without one; least: what a link must have, p or score.
    answers: pairs that people answered; order: of the ids by the column that the newest is found by. equal: (k, 2)
    equal texts of two lists, which are in one group unless people say no.
    """
    groups = _groups(corpus, pairs, p, least, grouping, answers, equal)
    count = np.array([len(item.ids) for item in corpus.items])
    text, groups = of_ids(with_equal_texts(groups, count), count)
    items = [corpus.items[place] for place in text.tolist()]
    names = [name for item in corpus.items for name in item.ids]
    inside, columns = group_rows(groups, grouping.representatives(groups, [item.text for item in items], order))
    table = pd.DataFrame(columns)
    rows = inside.tolist()
    table.insert(2, "side", [items[row].side.value for row in rows])
    table.insert(3, "id", [names[row] for row in rows])
    table.insert(4, "text", [items[row].text for row in rows])
    return table


def _groups(
    corpus: Corpus,
    pairs: Pairs,
    p: np.ndarray | None,
    least: float,
    grouping: Grouping,
    answers: Labelled | None,
    equal: np.ndarray,
) -> Groups:
    """Return the groups of texts."""
    second = None
    if corpus.kind == Kind.BIPARTITE:
        second = np.array([item.side == Side.RIGHT for item in corpus.items])
    yes, no = _answers(answers)
    score = pairs.score.astype(np.float64)
    yes = np.concatenate([yes, without_denied(equal, no, len(corpus.items))])
    links = Links(len(corpus.items), pairs.left, pairs.right, score if p is None else p, yes, no, second)
    return described(links, score, clustered(links, grouping.clustering, least))


def column_values(corpus: Corpus, column: str, left: Path, right: Path | None, id_column: str) -> list[str]:
    """Return the value of each id in any column of its file; "" for none. Raises InputError if a file lacks it."""
    values: dict[tuple[Side, str], str] = {}
    for side, path in ((Side.LEFT, left), (Side.RIGHT, right)):
        if path is not None:
            for number, (*name, value) in read_rows(path, (*filter(None, [id_column]), column)):
                values[side, name[0].strip() if name else str(number)] = value.strip()
    return [values[item.side, name] for item in corpus.items for name in item.ids]


def column_order(corpus: Corpus, grouping: Grouping, values: Sequence[str]) -> Order:
    """Return the order of the ids by the values of `column_values`."""
    second = np.array([item.side == Side.RIGHT for item in corpus.items for _ in item.ids])
    return grouping.order(values, None if corpus.kind == Kind.SYMMETRIC else second)


def _answers(labelled: Labelled | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs answered with yes and with no, (k, 2) int64 each."""
    if labelled is None:
        return NONE, NONE
    pairs = np.column_stack([labelled.left, labelled.right])
    return pairs[labelled.label == 1], pairs[labelled.label == 0]
