"""The stage that finds candidates for test queries, and negatives for training.

The search is BM25, an encoder or a trained matcher.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.reranking.fusion import WORDS, FirstScores
from allpairs.learner.light.catalog.multiview import FirstStage
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.pipelines.multiview.formats import read_run
from allpairs.learner.pipelines.multiview.inputs import FIT, REST, TEST, RankingTexts, is_one_list, texts_of
from allpairs.learner.pipelines.multiview.lists import TextTable
from allpairs.learner.pipelines.multiview.matched import matcher_search
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.search.bm25 import Bm25
from allpairs.learner.search.bm25_pairs import count_words, load_word_counts
from allpairs.learner.search.exact import Neighbours, neighbours

TRAIN = "train"
BM25 = "bm25"
DENSE = "dense"
MATCHER = "matcher"
RUN = "run"
VECTORS = "vectors-{}.npy"  # of a list of passages, by its file name
QUERIES = 16_384  # queries searched for at once
Search = Callable[[list[str], int, Progress], Neighbours]


def find_candidates(run: Run, folder: Path, progress: Progress) -> None:
    """Write an array (n, k) NAME-KIND.npy for each set of queries and each first stage to the folder.

    For a fusion also write (n, k, 2) NAME-scores.npy, the first stage's scores of what is re-ranked.
    """
    texts = texts_of(run)
    searches = list(_wanted(run))
    parts = len(searches) + (texts.fitting is not None)
    for number, (kind, table, names) in enumerate(searches):
        part = part_of(progress, number / parts, (number + 1) / parts, f"{kind}, ")
        query_sets = {name: _asked(run, texts, name) for name in names}
        if kind == MATCHER:
            everything = [query for queries, _ in query_sets.values() for query in queries.all()]
            search = matcher_search(Path(run.inputs.matcher).parent, everything, table.all(), part_of(part, 0.0, 0.5))
        else:
            vectors = folder / VECTORS.format(table.path.stem)
            search = _searcher(kind, table, run.config.first_stage, vectors, part_of(part, 0.0, 0.5))
        for place, (name, (queries, most)) in enumerate(query_sets.items(), len(query_sets)):
            progress_of_set = part_of(part, place / (2 * len(query_sets)), (place + 1) / (2 * len(query_sets)))
            own_rows = _own(run, name, queries, table)
            np.save(
                folder / f"{name}-{kind}.npy", search_candidates(search, queries.all(), own_rows, most, progress_of_set)
            )
    for name in (TEST, REST):
        path = getattr(run.inputs, f"{name}_run")
        if path is not None:
            np.save(folder / f"{name}-{RUN}.npy", _of_run(Path(path), run, texts, name))
    if texts.fitting is not None:
        _write_scores(run, folder, texts, part_of(progress, len(searches) / parts, 1.0))


def kinds_of(run: Run, name: str) -> list[str]:
    """Return the first stages of this set of queries, the one to re-rank first."""
    tested = name in (TEST, REST)
    if tested and getattr(run.inputs, f"{name}_run") is not None:
        return [RUN]
    kind = run.config.first_stage.kind
    adds_other = run.config.first_stage.both and tested
    return [kind, *(second for second in (BM25, DENSE) if second != kind and adds_other)]


def found_passages(run: Run, name: str, kind: str | None = None) -> np.ndarray:
    """Return the candidates (n, k) of this set of queries; without a kind, those to re-rank."""
    return np.asarray(np.load(_near(run, run.of("candidates"), name, kind)))


def first_scores(run: Run, name: str) -> np.ndarray:
    """Return cosine and BM25 of the candidates to re-rank of this set of queries, (n, k, 2) float64; 0 for padding."""
    return np.asarray(np.load(run.of("candidates") / f"{name}-scores.npy"))


def first_stage_of(run: Run) -> FirstScores:
    """Return what gives any pair the scores of `first_scores`."""
    return FirstScores(run.config.first_stage.encoder, load_word_counts(run.of("candidates") / WORDS))


def _near(run: Run, folder: Path, name: str, kind: str | None = None) -> Path:
    return folder / f"{name}-{kind or kinds_of(run, name)[0]}.npy"


def search_candidates(
    search: Search, queries: list[str], own_rows: np.ndarray, k: int, progress: Progress
) -> np.ndarray:
    """Return the k best passages of each query, (n, k) int64, padded with −1.

    own_rows: (n,) the row of the passage that is the query itself and not a candidate; −1 if there is none.
    """
    most = k + bool((own_rows >= 0).any())
    rows = np.full((len(queries), k), -1, dtype=np.int64)
    for start in range(0, len(queries), QUERIES):
        end = min(start + QUERIES, len(queries))
        near = search(queries[start:end], most, part_of(progress, start / len(queries), end / len(queries)))
        for row in range(end - start):
            passages = near.ids[row][(near.scores[row] > -np.inf) & (near.ids[row] != own_rows[start + row])][:k]
            rows[start + row, : len(passages)] = passages
    return rows


def _write_scores(run: Run, folder: Path, texts: RankingTexts, progress: Progress) -> None:
    """Write the word counts of the passages, and the scores of all candidates that are re-ranked."""
    settings = run.config.first_stage
    try:
        words = count_words(texts.passages.all(), settings.k1, settings.b, settings.words == "english")
    except ValueError:
        raise InputError("no passage has a word that BM25 can count: set fuse = false") from None
    words.save(folder / WORDS)
    scorer = FirstScores(settings.encoder, words)
    for number, test in enumerate(texts.judged):
        near = np.load(_near(run, folder, test.name))
        real = near >= 0
        passages, column = np.unique(near[real], return_inverse=True)
        pairs = np.column_stack([np.nonzero(real)[0], column])
        scores = np.zeros((*near.shape, 2))
        part = part_of(progress, number / len(texts.judged), (number + 1) / len(texts.judged))
        scores[real] = scorer.of(test.queries.all(), test.passages.take(passages), pairs, part)
        np.save(folder / f"{test.name}-scores.npy", scores)


def _own(run: Run, name: str, queries: TextTable, passages: TextTable) -> np.ndarray:
    """Return each query's own row among the passages (n,) if both are one list, else −1, whatever the ids."""
    if not is_one_list(run, "" if name in (TRAIN, FIT) else name):
        return np.full(len(queries), -1, dtype=np.int64)
    names = queries.all("id")
    row = passages.rows_of(names)
    return np.array([row[name] for name in names], dtype=np.int64)


def _wanted(run: Run) -> Iterator[tuple[str, TextTable, list[str]]]:
    """Yield each search that is needed: first stage, list of passages, sets of queries."""
    texts = texts_of(run)
    sets = [(TRAIN, texts.passages)] if texts.triples is None and run.config.from_best else []
    sets += [(test.name, test.passages) for test in texts.judged]
    for kind in (BM25, DENSE, MATCHER):
        for table in dict.fromkeys((texts.passages, texts.test_passages)):
            names = [name for name, passages in sets if passages is table and kind in kinds_of(run, name)]
            if names:
                yield kind, table, names


def _asked(run: Run, texts: RankingTexts, name: str) -> tuple[TextTable, int]:
    """Return the queries of this set, and the number of passages to find for each."""
    if name == TRAIN:
        return texts.queries, run.config.from_best
    return next(test for test in texts.judged if test.name == name).queries, run.config.depth


def _searcher(kind: str, passages: TextTable, settings: FirstStage, vectors_path: Path, progress: Progress) -> Search:
    """Return a search function over the passages. vectors_path: for the vectors of a dense search."""
    if kind == BM25:
        try:
            index = Bm25(passages.all(), settings.k1, settings.b, settings.words == "english")
        except ValueError:
            raise InputError("no passage has a word that BM25 can index: choose the dense first stage") from None

        def by_words(queries: list[str], k: int, progress: Progress) -> Neighbours:
            near = index.search(queries, k, progress)
            return Neighbours(near.ids, np.where(near.scores > 0, near.scores, -np.inf))  # no common word: not found

        return by_words
    encoder = load_encoder(settings.encoder)
    vectors = encoder.encode(passages.all(), progress)
    np.save(vectors_path, vectors)

    def by_meaning(queries: list[str], k: int, progress: Progress) -> Neighbours:
        query_vectors = encoder.encode(queries, part_of(progress, 0.0, 0.5))
        return neighbours(query_vectors, vectors, k, False, progress=part_of(progress, 0.5, 1.0))

    return by_meaning


def _of_run(path: Path, run: Run, texts: RankingTexts, name: str) -> np.ndarray:
    """Return the candidates in the run's file, by rank, without those that are not among the passages."""
    test = next(test for test in texts.tests if test.name == name)
    row = {id_: number for number, id_ in enumerate(test.queries.values("id"))}
    depth = run.config.depth
    hits = [hit for hit in read_run(path) if hit.query in row and hit.rank <= depth]
    rows = test.passages.rows_of({hit.passage for hit in hits})
    near: list[list[int]] = [[] for _ in row]
    for hit in sorted(hits, key=lambda hit: hit.rank):
        if hit.passage in rows:
            near[row[hit.query]].append(rows[hit.passage])
    if not any(near):
        raise InputError(f"{path.name}: the file has no passage for any test query: check that the ids agree")
    rows_by_rank = np.full((len(near), depth), -1, dtype=np.int64)
    for number, passages in enumerate(near):
        distinct = list(dict.fromkeys(passages))[:depth]
        rows_by_rank[number, : len(distinct)] = distinct
    return rows_by_rank
