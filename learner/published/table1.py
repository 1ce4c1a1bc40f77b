"""The size of a data set, part by part, beside Table 1 of Mussmann, Jia and Liang (2020)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.corpus.gold import GoldPair
from allpairs.db.domain import Kind, Side
from allpairs.learner.evaluation.sampling_designs import NEAR
from allpairs.learner.experiment.paper import printed
from allpairs.learner.published.released import Released
from allpairs.learner.search.exact import count_pairs, nearest

Encode = Callable[[list[str]], np.ndarray]  # texts -> unit vectors (n, d)
POSITIVES, PAIRS, NEGATIVES, NEAR_NEGATIVES = "positives", "pairs", "stated_negatives", "near_negatives"
PAPER_NEAR: dict[str, dict[str, float]] = {
    "qqp": {"dev": 13.1e6, "test": 12.8e6},  # both orders of a pair counted, so far more than ours
    "wikiqa": {"dev": 29_511, "test": 63_136},
}


@dataclass(frozen=True)
class Part:
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


def parts_of(corpus: Corpus, released: Released) -> dict[str, Part]:
    """Return the parts by name. A text of two parts is in the later one, as in the file of splits."""
    names = released.present
    part_of = [_part(item.ids, released.parts, names) if item.side == Side.LEFT else "" for item in corpus.items]
    rights = np.array([row for row, item in enumerate(corpus.items) if item.side == Side.RIGHT], dtype=np.int64)
    gold: dict[str, list[GoldPair]] = {name: [] for name in names}
    for pair in corpus.gold:
        if corpus.kind == Kind.BIPARTITE or part_of[pair.left] == part_of[pair.right]:
            gold[part_of[pair.left]].append(pair)
    found = {}
    column = np.array(part_of)
    for name in names:
        left = np.flatnonzero(column == name)
        found[name] = Part(left, left if corpus.kind == Kind.SYMMETRIC else rights, gold[name])
    return found


def _part(ids: Iterable[str], parts: Mapping[str, str], names: list[str]) -> str:
    return max((parts[name] for name in ids), key=names.index)


def statistics(corpus: Corpus, released: Released, encode: Encode | None = None) -> dict[str, dict[str, int]]:
    """Return the figures of each part by name; with vectors also its near negatives.

    Those are the negatives among each text's 100 nearest neighbours in the part, each pair once.
    """
    symmetric = corpus.kind == Kind.SYMMETRIC
    parts = parts_of(corpus, released)
    figures = {name: part.figures(symmetric) for name, part in parts.items()}
    if encode is not None:
        vectors = encode([item.text for item in corpus.items])
        for name, part in parts.items():
            figures[name][NEAR_NEGATIVES] = _near_negatives(vectors, part, symmetric)
    return figures


def _near_negatives(vectors: np.ndarray, part: Part, symmetric: bool) -> int:
    found = nearest(vectors[part.left], vectors[part.right], NEAR, symmetric)
    positives = {(pair.left, pair.right) for pair in part.gold if pair.positive}
    pairs = zip(part.left[found.left].tolist(), part.right[found.right].tolist(), strict=True)
    return sum(pair not in positives for pair in pairs)


def of_paper(name: str, part: str) -> Mapping[str, float]:
    """Return this part's figures in the paper's Table 1, by the same names; empty for other data sets."""
    near = PAPER_NEAR.get(name, {}).get(part)
    return {**printed("table1", name, part), **({} if near is None else {NEAR_NEGATIVES: near})}
