"""Groups of a file's matches."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.files import read_rows
from allpairs.db.domain import Kind, Side
from allpairs.db.groups.clusterings import clustered
from allpairs.db.groups.description import described
from allpairs.db.groups.grouping import Grouping, group_rows
from allpairs.db.groups.links import Links
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.search.exact import Pairs


def group_table(
    corpus: Corpus, pairs: Pairs, p: np.ndarray | None, least: float, grouping: Grouping,
    answers: Labelled | None = None, values: Sequence[str] = (),
) -> pd.DataFrame:  # fmt: skip
    """Return the groups of two or more, the largest first.

    Columns: group, size, side, id, text, representative (1 or 0), weakest (score of the weakest link), coherence.
    p: (m,) probability of each pair; None for an encoder without one; least: what a link must have, p or score.
    answers: pairs that people answered; values: of each text in the column that the newest text is found by.
    """
    second = None
    if corpus.kind == Kind.BIPARTITE:
        second = np.array([item.side == Side.RIGHT for item in corpus.items])
    yes, no = _answers(answers)
    held = pairs.score.astype(np.float64)
    links = Links(len(corpus.items), pairs.left, pairs.right, held if p is None else p, yes, no, second)
    groups = described(links, held, clustered(links, grouping.how, least))
    chosen = grouping.representatives(groups, [item.text for item in corpus.items], values)
    inside, columns = group_rows(groups, chosen)
    table, items = pd.DataFrame(columns), [corpus.items[at] for at in inside.tolist()]
    table.insert(2, "side", [item.side.value for item in items])
    table.insert(3, "id", [item.ids[0] for item in items])
    table.insert(4, "text", [item.text for item in items])
    return table


def column_values(corpus: Corpus, column: str, left: Path, right: Path | None, id_column: str) -> list[str]:
    """Return the value of each text in any column of its file; "" for none. Raises InputError if a file lacks it.

    Of a text that occurs in several rows it is the last one.
    """
    values = [""] * len(corpus.items)
    for side, path in ((Side.LEFT, left), (Side.RIGHT, right)):
        if path is not None:
            places = corpus.positions(side)
            for number, (*name, value) in read_rows(path, (*filter(None, [id_column]), column)):
                at = places[name[0].strip() if name else str(number)]
                values[at] = value.strip() or values[at]
    return values


def _answers(labelled: Labelled | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs answered with yes and with no, (k, 2) int64 each."""
    if labelled is None:
        return np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    pairs = np.column_stack([labelled.left, labelled.right])
    return pairs[labelled.label == 1], pairs[labelled.label == 0]
