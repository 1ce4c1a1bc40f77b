"""The files of matches: all pairs of ids, and all ids in groups."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from sqlalchemy.orm import Session

from allpairs.db.corpus.equal_texts import EQUAL, KNOWN, MODEL, omitted_pairs, pairs_of_ids
from allpairs.db.domain import Side
from allpairs.db.projects.items import identifiers_of
from allpairs.db.results.matches import GROUP_COLUMNS
from allpairs.learner.jobs.data.matching_project import KnownAnswers
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.light.groups.description import Groups, of_ids
from allpairs.learner.light.groups.grouping import Grouping, group_rows
from allpairs.learner.light.groups.newest import Order
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs


class PairedTexts:
    """Ids, side and text, by row, of the texts that occur in some pairs or groups."""

    def __init__(self, session: Session, data: ProjectData, pairs: Pairs, groups: Groups) -> None:
        rows = np.union1d(np.union1d(pairs.left, pairs.right), np.flatnonzero(groups.group_of_text >= 0))
        items = data.item_ids[rows].tolist()
        names = identifiers_of(session, items)
        dataset = data.dataset
        self.names = {row: names[item] for row, item in zip(rows.tolist(), items, strict=True)}
        self.text = dataset.whole_texts
        second = np.zeros(len(rows), dtype=bool) if dataset.symmetric else np.isin(rows, dataset.right)
        self.side = {
            row: (Side.RIGHT if is_right else Side.LEFT).value
            for row, is_right in zip(rows.tolist(), second, strict=True)
        }
        self.alone = [row for row in rows.tolist() if dataset.symmetric and len(self.names[row]) > 1]


def write_matched_pairs(
    path: Path,
    pairs: Pairs,
    known: KnownAnswers,
    equal: set[tuple[int, int]],
    layer: OutputLayer | None,
    texts: PairedTexts,
    order: np.ndarray | None,
) -> tuple[int, int]:
    """Write the pairs of ids, those of equal texts of one list first; return how many, and how many are left out."""
    left = [*texts.alone, *pairs.left.tolist()]
    right = [*texts.alone, *pairs.right.tolist()]
    names = pairs_of_ids(texts.names, left, right)
    between = list(zip(left, right, strict=True))
    n_alone = len(texts.alone)
    p = [None] * len(pairs) if layer is None else layer.probability(pairs.score).tolist()
    number = pyarrow.float64()
    of_texts = {
        "score": pyarrow.array([*[None] * n_alone, *pairs.score.tolist()], number),
        "p": pyarrow.array(
            [
                1.0 if _is_equal(pair, equal) else probability
                for pair, probability in zip(between, [*[None] * n_alone, *p], strict=True)
            ],
            number,
        ),
        "known": _strings(known[pair].value if pair in known else None for pair in between),
        "reason": _strings(_reason(pair, known, equal) for pair in between),
        "text1": _strings(texts.text[row] for row in left),
        "text2": _strings(texts.text[row] for row in right),
    }
    if order is not None:
        of_texts["rerank"] = pyarrow.array([*[None] * n_alone, *order.tolist()], number)
    columns = {"id1": _strings(names.first), "id2": _strings(names.second)}
    columns |= {name: column.take(pyarrow.array(names.text_pair)) for name, column in of_texts.items()}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return len(names.first), omitted_pairs(texts.names, left, right)


def _is_equal(pair: tuple[int, int], equal: set[tuple[int, int]]) -> bool:
    return pair[0] == pair[1] or pair in equal


def _reason(pair: tuple[int, int], known: KnownAnswers, equal: set[tuple[int, int]]) -> str:
    """Return why the pair is a match."""
    if _is_equal(pair, equal):
        return EQUAL
    return KNOWN if pair in known else MODEL


def _strings(values: Iterable[str | None]) -> pyarrow.Array:
    return pyarrow.array(list(values), pyarrow.string())


def write_groups(
    path: Path,
    groups: Groups,
    counts: np.ndarray,
    grouping: Grouping,
    order: Order,
    texts: PairedTexts,
    ids: list[str | None] | None,
) -> None:
    """Write all ids in groups. ids: of each row's group, where the groups are the project's."""
    text, of_names = of_ids(groups, counts)
    read = [texts.text[row] for row in text]
    by_column = Order(order.rank[text] if len(order.rank) else order.rank)
    inside, columns = group_rows(of_names, grouping.representatives(of_names, read, by_column))
    rows = text[inside].tolist()
    place = (inside - np.searchsorted(text, text[inside])).tolist()
    named = {
        "side": _strings(texts.side[row] for row in rows),
        "id": _strings(texts.names[row][number] for row, number in zip(rows, place, strict=True)),
        "text": _strings(texts.text[row] for row in rows),
    }
    if ids is not None:
        named["group_id"] = _strings(ids[row] for row in rows)
    table = {name: pyarrow.array(column, from_pandas=True) for name, column in columns.items()} | named  # no NaN
    pyarrow.parquet.write_table(pyarrow.table({name: table[name] for name in GROUP_COLUMNS if name in table}), path)


def near_misses(pairs: Pairs, groups: Groups) -> Pairs:
    """Return those of the pairs, best first, that would join two groups, or texts that are alone: each two once."""
    group = np.where(groups.group_of_text < 0, -1 - np.arange(len(groups.group_of_text)), groups.group_of_text)
    first, second = np.sort([group[pairs.left], group[pairs.right]], axis=0)
    places = np.unique(np.column_stack([first, second]), axis=0, return_index=True)[1]
    places = np.sort(places)
    return pairs.take(places[first[places] != second[places]])


def write_near_misses(path: Path, pairs: Pairs, items: np.ndarray, layer: OutputLayer | None) -> None:
    """Write the items of the pairs and their probabilities; none of a model without probabilities.

    items: (rows,) the item of each row.
    """
    columns = {
        "left_id": items[pairs.left],
        "right_id": items[pairs.right],
        "p": np.empty(0) if layer is None else layer.probability(pairs.score),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
