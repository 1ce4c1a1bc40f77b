"""Split items into training and evaluation: at random by whole components of known pairs, or as given in a file."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from allpairs.db.corpus import graph
from allpairs.db.corpus.cells import Ids, bad, present_columns, shown, with_noun
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.corpus.gold import GoldPair
from allpairs.db.corpus.item import with_splits
from allpairs.db.domain import Kind, Side, Split
from allpairs.db.errors import InputError

COLUMNS = ("id", "side", "split")
VISIBLE = 0.01  # a share that misses the target by more than this gets a note


def split_corpus(corpus: Corpus, share: float, rng: np.random.Generator, *, both_sides: bool = False) -> Corpus:
    """Return the corpus with a split for every item; evaluation gets the share as nearly as whole components allow.

    Items joined by a known pair, positive or negative, are never separated. In a bipartite corpus only the left items
    are split and the right ones are shared, unless `both_sides`. Raises InputError for a share outside [0, 1).
    """
    if not 0 <= share < 1:
        raise InputError(f"the evaluation share must be at least 0 and below 1, not {share}; use 0.3, for example")
    left = corpus.count(Side.LEFT)
    joined = corpus.kind == Kind.SYMMETRIC or both_sides
    component = graph.components(len(corpus.items), ((p.left, p.right) for p in corpus.gold) if joined else ())
    drawn = _drawn(component[:left], share, rng)
    evaluation = np.isin(component, component[:left][drawn])
    if joined and corpus.kind == Kind.BIPARTITE:
        _draw_right(evaluation, component, left, share, rng)
    splits = [Split.EVALUATION if chosen else Split.TRAIN for chosen in evaluation]
    if not joined:
        splits[left:] = [Split.SHARED] * (len(splits) - left)
    notes = corpus.notes + _missed(evaluation[:left], share)
    return replace(corpus, items=with_splits(corpus.items, splits), notes=notes)


def _draw_right(
    evaluation: NDArray[np.bool_], component: NDArray[np.int64], left: int, share: float, rng: np.random.Generator
) -> None:
    """Sample right items without a known pair, so that the right side has the share too."""
    free = left + np.flatnonzero(component[left:] >= left)
    missing = share * (len(component) - left) - evaluation[left:].sum()
    if len(free) and missing > 0:
        evaluation[free[_drawn(component[free], min(1.0, missing / len(free)), rng)]] = True


def _drawn(component: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which items are chosen: whole components in random order while they fit, then the best single exchange."""
    counts = np.bincount(component)
    component_index = (np.cumsum(counts > 0) - 1)[component]
    sizes = counts[counts > 0]
    chosen = np.zeros(len(sizes), dtype=bool)
    missing = min(round(share * len(component)), len(component) - 1)
    for part in rng.permutation(len(sizes)):
        if not missing:
            break
        if sizes[part] <= missing:
            chosen[part] = True
            missing -= int(sizes[part])
    if missing:
        _exchange(chosen, sizes, missing)
    return np.asarray(chosen[component_index])


def _exchange(chosen: NDArray[np.bool_], sizes: NDArray[np.int64], missing: int) -> None:
    """Take one more component, perhaps in exchange for a smaller one, if that comes nearer to the wanted number."""
    outside = np.flatnonzero(~chosen)
    releasable = np.array([-1, *np.flatnonzero(chosen)])  # -1: exchange none
    if len(outside) < 2:
        releasable = releasable[1:]  # keep the last component for training
    _, first = np.unique(sizes[outside], return_index=True)
    outside = outside[first]
    released = np.where(releasable < 0, 0, sizes[releasable])
    released, first = np.unique(released, return_index=True)
    missed = np.abs(missing - (sizes[outside][None, :] - released[:, None]))
    if missed.size and missed.min() < missing:
        give, take = np.unravel_index(missed.argmin(), missed.shape)
        chosen[outside[take]] = True
        if released[give]:
            chosen[releasable[first[give]]] = False


def _missed(evaluation: NDArray[np.bool_], share: float) -> list[str]:
    got = float(evaluation.mean())
    if abs(got - share) <= max(VISIBLE, 0.5 / len(evaluation)):
        return []
    return [
        f"{got:.1%} of the items are in the evaluation set, not {share:.1%}: "
        "items joined by known pairs stay together, and their groups are too large to come closer."
    ]


def write_split(corpus: Corpus, path: Path) -> None:
    """Write a file with one row `id,side,split` for every id.

    Raises ValueError for a corpus that is not split.
    """
    write_csv(path, COLUMNS, _split_rows(corpus))


def _split_rows(corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    for item in corpus.items:
        if item.split is None:
            raise ValueError("split the corpus before writing its split")
        yield from ((name, item.side.value, item.split.value) for name in item.ids)


def read_split(path: Path, corpus: Corpus) -> Corpus:
    """Return the corpus with the splits given in a file `id,side,split`, without the items that it does not name.

    If the file names no right item of a bipartite corpus, its right side gets `both`; a symmetric one needs no column
    `side`. Raises InputError for unknown ids, sides and splits, and for an item in two splits.
    """
    splits = _given(path, corpus)
    left = corpus.count(Side.LEFT)
    if corpus.kind == Kind.BIPARTITE and not any(i >= left for i in splits):
        splits |= dict.fromkeys(range(left, len(corpus.items)), Split.SHARED)
    return _without_unnamed(corpus, splits, path)


def _given(path: Path, corpus: Corpus) -> dict[int, Split]:
    ids = {side: Ids(corpus.positions(side), f"the {side} list") for side in Side}
    sided = corpus.kind == Kind.BIPARTITE or bool(present_columns(["side"], column_names(path), path.name))
    splits: dict[int, Split] = {}
    rows: dict[int, int] = {}
    for number, values in read_rows(path, COLUMNS if sided else ("id", "split")):
        side = _side(values[1], corpus, path, number) if sided else Side.LEFT
        name = values[0].strip()
        split = _split(values[-1], corpus, side, path, number)
        item = ids[side].position(name, path, number, "id")
        if splits.setdefault(item, split) != split:
            problem = f"the text of {shown(name)} is {splits[item]} in row {rows[item]} and {split} here; choose one"
            raise bad(problem, path, number, "split")
        rows.setdefault(item, number)
    return splits


def _side(value: str, corpus: Corpus, path: Path, row: int) -> Side:
    allowed = [side.value for side in ((Side.LEFT,) if corpus.kind == Kind.SYMMETRIC else Side)]
    return Side(_one_of(value, allowed, path, row, "side"))


def _split(value: str, corpus: Corpus, side: Side, path: Path, row: int) -> Split:
    shared = corpus.kind == Kind.BIPARTITE and side == Side.RIGHT
    allowed = [split.value for split in Split if shared or split != Split.SHARED]
    return Split(_one_of(value, allowed, path, row, "split"))


def _one_of(value: str, allowed: Iterable[str], path: Path, row: int, column: str) -> str:
    word = value.strip().lower()
    if word not in allowed:
        raise bad(f"{shown(value)} is not allowed here; write {' or '.join(allowed)}", path, row, column)
    return word


def _without_unnamed(corpus: Corpus, splits: dict[int, Split], path: Path) -> Corpus:
    place = {old: new for new, old in enumerate(sorted(splits))}
    gold = [pair for pair in corpus.gold if pair.left in place and pair.right in place]
    notes = corpus.notes + _dropped(corpus, len(place), len(gold), path) + _separated(splits, gold, path)
    gold = [pair._replace(left=place[pair.left], right=place[pair.right]) for pair in gold]
    items = with_splits(corpus.items, [splits.get(i) for i in range(len(corpus.items))])
    return replace(corpus, items=items, gold=gold, notes=notes)


def _dropped(corpus: Corpus, items: int, gold: int, path: Path) -> list[str]:
    if items == len(corpus.items):
        return []
    return [
        f"{path.name}: not named and therefore left out: {with_noun(len(corpus.items) - items, 'item')}, "
        f"and with them {with_noun(len(corpus.gold) - gold, 'gold pair')}."
    ]


def _separated(splits: dict[int, Split], gold: list[GoldPair], path: Path) -> list[str]:
    separated = sum({splits[pair.left], splits[pair.right]} == {Split.TRAIN, Split.EVALUATION} for pair in gold)
    if not separated:
        return []
    return [f"{path.name}: left out: {with_noun(separated, 'gold pair')} of a train item and an evaluation item."]
