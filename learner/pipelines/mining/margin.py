"""Pairs that stand out among the neighbours of both texts.

Source: Artetxe and Schwenk (2019), whose retrieval modes these are; Joshi et al. (2022), section 3, mine with the
ratio.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.light.catalog.mining import Margin
from allpairs.learner.pipelines.mining.shards import disk_neighbours
from allpairs.learner.search.exact import Neighbours

Kind = Literal["ratio", "distance", "absolute"]


@dataclass(frozen=True)
class Candidates:
    """Pairs of rows, as arrays of one length: int64, but cos and margin float32.

    rank_forward: the rank of y among the neighbours of x, from 1, or 0 if it is not one; rank_backward: of x among
    those of y. Within one list x < y.
    """

    x: np.ndarray
    y: np.ndarray
    cos: np.ndarray
    margin: np.ndarray
    rank_forward: np.ndarray
    rank_backward: np.ndarray

    def __len__(self) -> int:
        return len(self.x)

    def take(self, chosen: np.ndarray) -> "Candidates":
        """Return the pairs at those positions (or where a mask is true), in that order."""
        return Candidates(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def save(self, path: Path) -> None:
        """Save the arrays to the file by name."""
        np.savez(path, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: Path) -> "Candidates":
        """Return what `save` wrote."""
        with np.load(path) as arrays:
            return cls(*(arrays[field.name] for field in fields(cls)))


def mine_pairs(
    x: np.ndarray,
    y: np.ndarray | None,
    config: Margin,
    progress: Progress = no_progress,
    periods: tuple[np.ndarray, np.ndarray] | None = None,
) -> Candidates:
    """Return the proposed pairs, best first. x: (n, d), y: (m, d) unit vectors; without y, pairs within x.

    periods: of the x (n,) and of the y (m,): then texts of one period are searched among each other alone, and their
    margins are by neighbours of that period. The vectors may be memory-mapped. Raises InputError if the ratio is
    undefined.
    """
    if periods is None:
        return retrieve(_searched(x, y, config, progress), config, y is None)
    parts = []
    shards = list(_shards(*periods))
    for number, (rows, columns) in enumerate(shards):
        part = part_of(progress, number / len(shards), (number + 1) / len(shards))
        if y is not None or len(rows) > 1:
            nearest = _searched(x[rows], None if y is None else y[columns], config, part)
            parts.append(replace(nearest, x=rows[nearest.x], y=columns[nearest.y]))
    return retrieve(_joined(parts), config, y is None)


def _searched(x: np.ndarray, y: np.ndarray | None, config: Margin, progress: Progress) -> Candidates:
    """Return every pair of neighbours with its margin."""

    def half(before: float) -> Progress:
        return lambda words, share: progress(words, before + share / 2)

    if y is None:
        return margin_candidates(disk_neighbours(x, x, config.neighbours, True, progress), None, config.margin)
    forward = disk_neighbours(x, y, config.neighbours, False, half(0.0))
    return margin_candidates(forward, disk_neighbours(y, x, config.neighbours, False, half(0.5)), config.margin)


def _shards(of_x: np.ndarray, of_y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows of the x and of the y of each period that both have."""
    (names, rows), (other_names, columns) = _by_period(of_x), _by_period(of_y)
    _, first, second = np.intersect1d(names, other_names, return_indices=True)
    for x_place, y_place in zip(first.tolist(), second.tolist(), strict=True):
        yield rows[x_place], columns[y_place]


def _by_period(periods: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the periods, ascending, and the rows of each, ascending."""
    order = np.argsort(periods, kind="stable")
    names, first = np.unique(periods[order], return_index=True)
    return names, np.split(order, first[1:])


def _joined(parts: Sequence[Candidates]) -> Candidates:
    """Return the candidates of all parts; none if there are no parts."""
    rows = np.empty(0, dtype=np.int64)
    values = np.empty(0, dtype=np.float32)
    whole = [Candidates(rows, rows, values, values, rows, rows), *parts]
    return Candidates(*(np.concatenate([getattr(part, field.name) for part in whole]) for field in fields(Candidates)))


def margin_candidates(forward: Neighbours, backward: Neighbours | None, kind: Kind) -> Candidates:
    """Return every pair of neighbours with its margin, ordered by x, then y.

    forward: the neighbours of each x among the y, backward: of each y among the x; without backward, of each text among
    the others of its list. Raises InputError for a ratio to a mean cosine that is not above 0.
    """
    x, y, from_x = _directed(forward, backward)
    lists = [forward] if backward is None else [forward, backward]
    columns = int(y.max(initial=0)) + 1
    keys, place = np.unique(x * columns + y, return_inverse=True)
    x, y = np.divmod(keys, columns)

    ranks = np.concatenate([np.tile(np.arange(1, near.ids.shape[1] + 1), len(near.ids)) for near in lists])
    rank_forward = np.zeros_like(keys)
    rank_backward = np.zeros_like(keys)
    rank_forward[place[from_x]], rank_backward[place[~from_x]] = ranks[from_x], ranks[~from_x]

    cos = np.empty(len(keys), dtype=np.float32)
    cos[place] = np.concatenate([near.scores.ravel() for near in lists])
    mean_x = _means(lists[0])[x]
    mean_y = _means(lists[-1])[y]
    margin = margins(cos.astype(np.float64), mean_x, mean_y, kind).astype(np.float32)
    return Candidates(x, y, cos, margin, rank_forward, rank_backward)


def margins(cos: np.ndarray, mean_x: np.ndarray, mean_y: np.ndarray, kind: Kind) -> np.ndarray:
    """Return each pair's margin: its cosine divided by, or minus, the mean of both mean cosines; or the cosine itself.

    mean_x, mean_y: the mean cosine of each text and its neighbours. Raises InputError for a ratio to a mean that is not
    above 0.
    """
    if kind == "absolute":
        return cos
    mean = (mean_x + mean_y) / 2
    if kind == "distance":
        return cos - mean
    if len(mean) and not (least := mean.min()) > 0:
        raise InputError(
            f"the margin `ratio` needs mean cosines above 0, but the neighbours of a pair have {least:.3g}: "
            "choose the margin `distance`"
        )
    return cos / mean


def retrieve(pairs: Candidates, config: Margin, symmetric: bool) -> Candidates:
    """Return the proposed candidates by falling margin, at most `top`.

    Ties: the higher cosine, then the lower x, then the lower y. candidates: all neighbours of each x; forward: the best
    pair of each x; backward: of each y; intersection: pairs that are both; max: all of these, the best first, each text
    once. Within one list forward and backward are the same, the best pair of each text, and candidates are all pairs.
    symmetric: within one list.
    """
    all_neighbours = config.retrieval == "candidates"
    pairs = pairs.take(symmetric | (pairs.rank_forward > 0) if all_neighbours else _unbeaten(pairs, symmetric))
    ordered = pairs.take(np.lexsort((pairs.y, pairs.x, -pairs.cos, -pairs.margin)))
    chosen = ordered if all_neighbours else ordered.take(_best(ordered, config.retrieval, symmetric))
    if config.one_to_one or config.retrieval == "max":
        chosen = chosen.take(_each_text_once(chosen, symmetric, config.top))
    return chosen.take(np.arange(min(config.top, len(chosen))))


def _directed(forward: Neighbours, backward: Neighbours | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, y, and whether y is a neighbour of x, for each neighbour row by row. Within one list x < y."""
    rows = _rows_of(forward)
    near = forward.ids.ravel()
    if backward is None:
        return np.minimum(rows, near), np.maximum(rows, near), rows < near
    x = np.concatenate([rows, backward.ids.ravel()])
    y = np.concatenate([near, _rows_of(backward)])
    return x, y, np.arange(len(x)) < len(rows)


def _rows_of(near: Neighbours) -> np.ndarray:
    return np.repeat(np.arange(len(near.ids)), near.ids.shape[1])


def _means(near: Neighbours) -> np.ndarray:
    """Return the mean cosine of each row's neighbours, (n,) float64; 0 for rows without any, which are in no pair."""
    means: np.ndarray = near.scores.sum(1, dtype=np.float64) / max(1, near.ids.shape[1])
    return means


def _unbeaten(pairs: Candidates, symmetric: bool) -> np.ndarray:
    """Return which candidates have the highest margin of one of their texts, ties included: few are left to sort."""
    x, y = _texts(pairs, symmetric)
    near_x = pairs.rank_forward > 0
    near_y = pairs.rank_backward > 0
    highest = np.full(_count(x, y), -np.inf, dtype=np.float32)
    np.maximum.at(highest, x[near_x], pairs.margin[near_x])
    np.maximum.at(highest, y[near_y], pairs.margin[near_y])
    return (near_x & (pairs.margin == highest[x])) | (near_y & (pairs.margin == highest[y]))


def _best(ordered: Candidates, retrieval: str, symmetric: bool) -> np.ndarray:
    """Return a mask of the candidates, ordered best first, that the mode chooses."""
    x, y = _texts(ordered, symmetric)
    place = np.arange(len(x))
    near_x = ordered.rank_forward > 0
    near_y = ordered.rank_backward > 0
    first = np.full(_count(x, y), len(x))  # the position of each text's best pair
    np.minimum.at(first, x[near_x], place[near_x])
    np.minimum.at(first, y[near_y], place[near_y])
    of_x = near_x & (first[x] == place)
    of_y = near_y & (first[y] == place)
    if retrieval == "intersection":
        return of_x & of_y
    if retrieval == "max" or symmetric:
        return of_x | of_y
    return of_x if retrieval == "forward" else of_y


def _each_text_once(ordered: Candidates, symmetric: bool, top: int) -> np.ndarray:
    """Return the positions of the first `top` pairs that share no text with a chosen pair before them."""
    x, y = _texts(ordered, symmetric)
    used = bytearray(_count(x, y))
    chosen: list[int] = []
    for place, (left, right) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        if used[left] or used[right]:
            continue
        used[left] = used[right] = True
        chosen.append(place)
        if len(chosen) == top:
            break
    return np.array(chosen, dtype=np.int64)


def _texts(pairs: Candidates, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each text of the pairs; with two lists, the second list's numbers follow the first's."""
    return pairs.x, pairs.y if symmetric else pairs.y + pairs.x.max(initial=0) + 1


def _count(x: np.ndarray, y: np.ndarray) -> int:
    """Return one more than the highest number of a text."""
    return int(max(x.max(initial=-1), y.max(initial=-1))) + 1
