"""A first stage that finds passages as a project finds its matches: by a trained matcher's full score."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from allpairs.db.domain import Side, Split
from allpairs.db.identity import identity
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.learner.search.exact import Neighbours, neighbours
from allpairs.learner.search.inner_product import as_left, as_right


def matcher_search(
    folder: Path, queries: list[str], passages: list[str], progress: Progress
) -> Callable[[list[str], int, Progress], Neighbours]:
    """Return a search of the passages for some queries: cosine, lexical features, hubness correction.

    Hubness is computed on these two lists. If all queries are passages themselves, both are one list, in which no text
    is its own neighbour. Raises InputError if the folder cannot be loaded.
    """
    left, right, rows = _factors(folder, queries, passages, progress)

    def search(texts: list[str], k: int, progress: Progress) -> Neighbours:
        return neighbours(left[[rows[identity(query)] for query in texts]], right, k, False, progress=progress)

    return search


def matcher_factors(folder: Path, queries: list[str], passages: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return arrays (n, d) and (m, d) whose products are the matcher's scores of queries and passages."""
    left, right, rows = _factors(folder, queries, passages, no_progress)
    return left[[rows[identity(query)] for query in queries]], right


def _factors(
    folder: Path, queries: list[str], passages: list[str], progress: Progress
) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """Return the left factors of all texts, the right ones of the passages, and each query's row of the left."""
    matcher = load_matcher(str(folder))
    dataset, rows = _lists(queries, passages)
    encoded = matcher.encoder.encode(dataset.texts, progress)
    space = matcher.space
    vectors = matcher.vectors(dataset, encoded)
    return as_left(vectors, space), as_right(vectors[dataset.evaluation_right], space), rows


def _lists(queries: list[str], passages: list[str]) -> tuple[Dataset, dict[str, int]]:
    """Return passages (in their order) and distinct queries as a data set to measure, and each query's row."""
    known = {identity(passage): row for row, passage in reversed(list(enumerate(passages)))}
    symmetric = all(identity(query) in known for query in queries)
    if symmetric:
        return make_dataset(
            passages, [Side.LEFT] * len(passages), [Split.EVALUATION] * len(passages), True, np.empty((0, 2))
        ), known
    distinct = list(dict.fromkeys(map(identity, queries)))
    texts = {identity(query): query for query in queries}
    sides = [Side.RIGHT] * len(passages) + [Side.LEFT] * len(distinct)
    dataset = make_dataset(
        [*passages, *(texts[key] for key in distinct)], sides, [Split.EVALUATION] * len(sides), False, np.empty((0, 2))
    )
    return dataset, {key: len(passages) + row for row, key in enumerate(distinct)}
