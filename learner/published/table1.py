"""The size of a data set, part by part, beside Table 1 of Mussmann, Jia and Liang (2020)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.gold import GoldPair
from allpairs.db.domain import Kind, Side
from allpairs.learner.evaluation.sampling_designs import Population, near_negatives
from allpairs.learner.experiment.paper import NEAR, NEGATIVES, PAIRS, POSITIVES
from allpairs.learner.published.released import Released
from allpairs.learner.search.exact import count_pairs

Encode = Callable[[list[str]], np.ndarray]  # texts -> unit vectors (n, d)


@dataclass(frozen=True)
class PartRows:
    """The rows of a part's left and right texts (ascending int64; one list: the same), and its known pairs."""

    left: np.ndarray
    right: np.ndarray
    gold: list[GoldPair]

    def figures(self, symmetric: bool) -> dict[str, int]:
        """Return its positives (closed where symmetric), pairs and given negatives."""
        positives = sum(pair.positive for pair in self.gold)
        pairs = count_pairs(len(self.left), len(self.right), symmetric)
        return {POSITIVES: positives, PAIRS: pairs, NEGATIVES: len(self.gold) - positives}


def load_written(folder: Path, released: Released) -> Corpus:
    """Load the corpus of the files that `write_released` wrote to the folder."""
    right = folder / "right.csv" if released.right is not None else None
    return load_corpus(folder / "left.csv", right, folder / "gold.csv")


def parts_by_name(corpus: Corpus, released: Released) -> dict[str, PartRows]:
    """Return the parts by name. A text of two parts is in the later one, as in the file of splits."""
    names = released.present
    part_of = [_part(item.ids, released.parts, names) if item.side == Side.LEFT else "" for item in corpus.items]
    rights = np.array([row for row, item in enumerate(corpus.items) if item.side == Side.RIGHT], dtype=np.int64)
    gold: dict[str, list[GoldPair]] = {name: [] for name in names}
    for pair in corpus.gold:
        if corpus.kind == Kind.BIPARTITE or part_of[pair.left] == part_of[pair.right]:
            gold[part_of[pair.left]].append(pair)
    parts = {}
    column = np.array(part_of)
    for name in names:
        left = np.flatnonzero(column == name)
        parts[name] = PartRows(left, left if corpus.kind == Kind.SYMMETRIC else rights, gold[name])
    return parts


def _part(ids: Iterable[str], parts: Mapping[str, str], names: list[str]) -> str:
    return max((parts[name] for name in ids), key=names.index)


def statistics(corpus: Corpus, released: Released, encode: Encode | None = None) -> dict[str, dict[str, int]]:
    """Return the figures of each part by name; with vectors also its near negatives.

    Those are the negatives among each text's 100 nearest neighbours in the part, each pair once.
    """
    symmetric = corpus.kind == Kind.SYMMETRIC
    parts = parts_by_name(corpus, released)
    figures = {name: part.figures(symmetric) for name, part in parts.items()}
    if encode is not None:
        vectors = encode([item.text for item in corpus.items])
        for name, part in parts.items():
            figures[name][NEAR] = _near_negatives(vectors, part, symmetric)
    return figures


def _near_negatives(vectors: np.ndarray, part: PartRows, symmetric: bool) -> int:
    positives = [(pair.left, pair.right) for pair in part.gold if pair.positive]
    left, right = np.array(positives, dtype=np.int64).reshape(-1, 2).T
    rows = np.searchsorted(part.left, left), np.searchsorted(part.right, right)
    population = Population(vectors[part.left], vectors[part.right], np.column_stack(rows), symmetric)
    return len(near_negatives(population, np.random.default_rng(0)))
