"""The first stage: check the inputs and copy them into files for the other stages."""

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np

from allpairs.db.corpus.cells import with_noun
from allpairs.db.corpus.graph import components
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.models.model_folder import require_folder
from allpairs.learner.pipelines.multiview.formats import JudgedPassage, read_qrels, read_texts, read_triples
from allpairs.learner.pipelines.multiview.lists import TextTable, write_texts
from allpairs.learner.pipelines.multiview.ranking import parsed
from allpairs.learner.pipelines.pipeline import Run

TEST = "test"  # MS MARCO's Dev
REST = "rest"  # Dev-Rest
FIT = "fit"  # training queries that only the weights of a fusion learn from
FIT_SHARE = 0.2  # of the training queries
FIT_MOST = 100  # queries
FIT_LEAST = 10  # queries; fewer fit nothing
COUNTS = "counts.json"
LEAST = 2
TRIPLES = ("query", "right", "wrong")


@dataclass(frozen=True)
class TestSet:
    """Judged queries, and the passages to search."""

    name: str
    queries: TextTable
    passages: TextTable
    pairs: np.ndarray  # (n, 2) rows of query and right passage; below 0 if the collection lacks the passage

    @cached_property
    def gold(self) -> list[set[int]]:
        """The right passages of each query."""
        right: list[set[int]] = [set() for _ in range(len(self.queries))]
        for query, passage in self.pairs.tolist():
            right[query].add(passage)
        return right


@dataclass(frozen=True)
class RankingTexts:
    """The inputs of a run, read from its first stage."""

    folder: Path

    def __reduce__(self) -> tuple[type["RankingTexts"], tuple[Path]]:
        return RankingTexts, (self.folder,)  # another process reads them itself

    @cached_property
    def passages(self) -> TextTable:
        """The passages searched for training queries."""
        return TextTable(self.folder / "passages.arrow")

    @cached_property
    def test_passages(self) -> TextTable:
        """The passages searched for test queries."""
        path = self.folder / "test_passages.arrow"
        return TextTable(path) if path.exists() else self.passages

    @cached_property
    def queries(self) -> TextTable:
        """The judged training queries."""
        return TextTable(self.folder / "queries.arrow")

    @cached_property
    def triples(self) -> TextTable | None:
        """Query, right and wrong passage; None if the inputs have no such file."""
        path = self.folder / "triples.arrow"
        return TextTable(path) if path.exists() else None

    @cached_property
    def positives(self) -> np.ndarray:
        """Right training pairs (n, 2): rows of queries and passages."""
        return np.asarray(np.load(self.folder / "positives.npy"))

    @cached_property
    def negatives(self) -> np.ndarray:
        """Training pairs that are known to be wrong, (n, 2)."""
        return np.asarray(np.load(self.folder / "negatives.npy"))

    @cached_property
    def tests(self) -> list[TestSet]:
        """The test, and the rest if there is one."""
        return [test for name in (TEST, REST) if (test := self._judged(name, self.test_passages)) is not None]

    @cached_property
    def fitting(self) -> TestSet | None:
        """The training queries that the weights of a fusion are fitted to; None if there are none."""
        return self._judged(FIT, self.passages)

    @property
    def judged(self) -> list[TestSet]:
        """The tests, and what a fusion is fitted to."""
        return self.tests + ([] if self.fitting is None else [self.fitting])

    def _judged(self, name: str, passages: TextTable) -> TestSet | None:
        path = self.folder / f"{name}_queries.arrow"
        return TestSet(name, TextTable(path), passages, np.load(self.folder / f"{name}.npy")) if path.exists() else None

    @property
    def counts(self) -> dict[str, int]:
        """The number of texts, pairs and judgements, by kind."""
        counts: dict[str, int] = json.loads((self.folder / COUNTS).read_text(encoding="utf-8"))
        return counts


def texts_of(run: Run) -> RankingTexts:
    """Return the texts that the run's first stage has read."""
    return RankingTexts(run.of("texts"))


def is_one_list(run: Run, name: str = "") -> bool:
    """Return whether these queries (without a name: the training queries) and their passages are one list."""
    inputs = run.inputs
    queries = (name and getattr(inputs, f"{name}_queries")) or inputs.queries
    passages = (name and inputs.test_passages) or inputs.passages
    rows = zip_longest(read_texts(Path(queries)), read_texts(Path(passages)))
    return all(query == passage for query, passage in rows)


def check_multiview_inputs(run: Run) -> None:
    """Raise InputError if files are unreadable or do not belong together, or a setting is impossible."""
    inputs = run.inputs
    config = run.config
    parsed(config.measures)
    for name in (TEST, REST):
        queries, qrels = (getattr(inputs, f"{name}_{kind}") for kind in ("queries", "qrels"))
        if (queries is None) != (qrels is None):
            raise InputError(f"inputs.{name}_queries and inputs.{name}_qrels: set both, or neither")
    for name, needs in (("rest_queries", "test_queries"), ("test_run", "test_queries"), ("rest_run", "rest_queries")):
        if getattr(inputs, name) is not None and getattr(inputs, needs) is None:
            raise InputError(f"inputs.{name} needs inputs.{needs}: set it too")
    if config.first_stage.kind == "matcher" and inputs.matcher is None:
        raise InputError(
            "first_stage.kind is matcher, but there is none: train a round in the project, or set inputs.matcher"
        )
    for backbone in (config.model.backbone, config.first_stage.encoder, *config.sizes):
        require_folder(backbone)
    for path in (inputs.passages, inputs.queries, inputs.test_passages, inputs.test_queries, inputs.rest_queries):
        if path is not None:
            next(read_texts(Path(path)), None)
    for path in (inputs.qrels, inputs.test_qrels, inputs.rest_qrels):
        if path is not None:
            next(read_qrels(Path(path)), None)


def read_inputs(run: Run, folder: Path, progress: Progress) -> None:
    """Write passages, queries, judgements and triples to the folder."""
    inputs = run.inputs
    passages = _copied(Path(inputs.passages), folder / "passages.arrow", part_of(progress, 0.0, 0.6))
    searched = passages
    if inputs.test_passages is not None:
        searched = _copied(Path(inputs.test_passages), folder / "test_passages.arrow", progress)
    judged = list(read_qrels(Path(inputs.qrels)))
    counts = {"passages": len(passages)} | ({"test passages": len(searched)} if searched is not passages else {})
    if inputs.test_queries is None:
        rng = np.random.default_rng([run.config.seed, 1])
        judged, tested = _parted(judged, run.config.held_out, is_one_list(run, TEST), rng)
        counts |= _write_test(run, folder, TEST, Path(inputs.queries), tested, set(), searched)
    else:
        qrels = list(read_qrels(Path(inputs.test_qrels)))
        counts |= _write_test(run, folder, TEST, Path(inputs.test_queries), qrels, set(), searched)
    if inputs.rest_queries is not None:
        known = {id_ for id_, _ in read_texts(Path(inputs.test_queries))}
        qrels = list(read_qrels(Path(inputs.rest_qrels)))
        counts |= _write_test(run, folder, REST, Path(inputs.rest_queries), qrels, known, searched)
    judged, fitting = _held_to_fit(run, judged)
    if fitting:
        counts |= _write_test(run, folder, FIT, Path(inputs.queries), fitting, set(), passages)
    counts |= _write_training(run, folder, judged, passages)
    if inputs.triples is not None:
        counts["triples"] = _write_triples(run, folder, {judgement.query for judgement in fitting}, progress)
    (folder / COUNTS).write_text(json.dumps(counts), encoding="utf-8")


def _copied(source: Path, target: Path, progress: Progress) -> TextTable:
    return write_texts(target, ("id", "text"), read_texts(source, progress))


def _parted(
    judged: list[JudgedPassage], share: float, one_list: bool, rng: np.random.Generator
) -> tuple[list[JudgedPassage], list[JudgedPassage]]:
    """Split the judgements into training and test, which has a share of the queries with a right passage.

    In one list every query is a passage too: texts joined by right pairs are held out together, and no pair with one of
    them trains.
    """
    queries = list(dict.fromkeys(judgement.query for judgement in judged if judgement.right))
    if len(queries) < 2 * LEAST:
        problem = f"{with_noun(len(queries), 'query')} with a right passage".replace("querys", "queries")
        raise InputError(f"{problem}: at least {2 * LEAST} are needed to hold out a share: set inputs.test_queries")
    most = min(len(queries) - LEAST, max(LEAST, round(share * len(queries))))
    training, measuring = _split(judged, queries, most, one_list, rng)
    if len({judgement.query for judgement in measuring}) < LEAST:
        raise InputError("right pairs join too many of the texts to hold some out: set inputs.test_queries")
    return training, measuring


def _split(
    judged: list[JudgedPassage], queries: list[str], most: int, one_list: bool, rng: np.random.Generator
) -> tuple[list[JudgedPassage], list[JudgedPassage]]:
    """Hold out whole groups of these queries, `most` queries at most; return the judgements left and held out."""
    group = _groups(queries, judged) if one_list else np.arange(len(queries))
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    held_out: set[str] = set()
    for number in rng.permutation(len(parts)):
        if len(held_out) + len(parts[number]) <= most:
            held_out |= {queries[row] for row in parts[number]}
    measuring = [judgement for judgement in judged if judgement.query in held_out]
    excluded = held_out | {judgement.passage for judgement in measuring if judgement.right} if one_list else held_out
    training = [
        judgement
        for judgement in judged
        if judgement.query not in excluded and not (one_list and judgement.passage in excluded)
    ]
    return training, measuring


def _held_to_fit(run: Run, judged: list[JudgedPassage]) -> tuple[list[JudgedPassage], list[JudgedPassage]]:
    """Split the training judgements into those that train and those that a fusion is fitted to."""
    queries = list(dict.fromkeys(judgement.query for judgement in judged if judgement.right))
    most = min(FIT_MOST, int(FIT_SHARE * len(queries)))
    if not run.config.fuse or most < FIT_LEAST:
        return judged, []
    training, fitting = _split(judged, queries, most, is_one_list(run), np.random.default_rng([run.config.seed, 6]))
    return (training, fitting) if len({judgement.query for judgement in fitting}) >= FIT_LEAST else (judged, [])


def _groups(queries: list[str], judged: list[JudgedPassage]) -> np.ndarray:
    """Return the group of each query, (n,): those joined by right pairs within one list."""
    right = [judgement for judgement in judged if judgement.right]
    row = {
        id_: number for number, id_ in enumerate(dict.fromkeys((*queries, *(judgement.passage for judgement in right))))
    }
    return components(len(row), ((row[judgement.query], row[judgement.passage]) for judgement in right))[: len(queries)]


def _write_test(
    run: Run, folder: Path, name: str, path: Path, judged: list[JudgedPassage], known: set[str], passages: TextTable
) -> dict[str, int]:
    """Write the test's queries and right passages to the folder; return the numbers of queries and judgements.

    The test has the queries with a right passage that are not in `known`.
    """
    right = [judgement for judgement in judged if judgement.right and judgement.query not in known]
    ids = {judgement.query for judgement in right}
    texts = {id_: text for id_, text in read_texts(path) if id_ in ids}
    if not texts:
        raise InputError(
            f"{path.name}: none of its queries has a right passage in the judgements: check that the ids agree"
        )
    chosen = _drawn(list(texts), run.config.queries, np.random.default_rng([run.config.seed, 2]))
    write_texts(folder / f"{name}_queries.arrow", ("id", "text"), ((id_, texts[id_]) for id_ in chosen))
    row = {id_: number for number, id_ in enumerate(chosen)}
    rows = passages.rows_of(judgement.passage for judgement in right)
    missing: dict[str, int] = {}
    pairs = [
        (
            row[judgement.query],
            rows[judgement.passage]
            if judgement.passage in rows
            else -1 - missing.setdefault(judgement.passage, len(missing)),
        )
        for judgement in right
        if judgement.query in row
    ]
    np.save(folder / f"{name}.npy", np.array(sorted(set(pairs)), dtype=np.int64).reshape(-1, 2))
    return {f"{name} queries": len(chosen), f"{name} judgements": len(pairs)}


def _drawn(ids: list[str], most: int | None, rng: np.random.Generator) -> list[str]:
    """Return a random sample of the ids, in their order; all of them without a number."""
    if most is None or len(ids) <= most:
        return ids
    return [ids[row] for row in np.sort(rng.permutation(len(ids))[:most])]


def _write_training(run: Run, folder: Path, judged: list[JudgedPassage], passages: TextTable) -> dict[str, int]:
    """Write the training pairs and their queries to the folder; return the numbers of right and wrong pairs."""
    query_ids = {judgement.query for judgement in judged}
    texts = {id_: text for id_, text in read_texts(Path(run.inputs.queries)) if id_ in query_ids}
    write_texts(folder / "queries.arrow", ("id", "text"), texts.items())
    row = {id_: number for number, id_ in enumerate(texts)}
    rows = passages.rows_of(judgement.passage for judgement in judged)
    known = [judgement for judgement in judged if judgement.query in row and judgement.passage in rows]
    counts = {}
    for name, right in (("positives", True), ("negatives", False)):
        pairs = dict.fromkeys(
            (row[judgement.query], rows[judgement.passage]) for judgement in known if judgement.right is right
        )
        np.save(folder / f"{name}.npy", np.array(list(pairs), dtype=np.int64).reshape(-1, 2))
        counts[f"training {name}"] = len(pairs)
    if counts["training positives"] < LEAST:
        n = counts["training positives"]
        raise InputError(
            f"{with_noun(n, 'right pair')} to train on, but at least {LEAST} are needed: check that the ids agree"
        )
    return counts


def _write_triples(run: Run, folder: Path, held_out: set[str], progress: Progress) -> int:
    """Write as many triples as training can use, two rows each, and return their number. held_out: queries without."""
    settings = run.config.model
    most = -(-(settings.steps or 10**9) * settings.batch_size // 2)
    excluded = {text for id_, text in read_texts(Path(run.inputs.queries)) if id_ in held_out} if held_out else set()
    triples = (triple for triple in read_triples(Path(run.inputs.triples), most, progress) if triple[0] not in excluded)
    first = next(triples, None)
    if first is None:
        raise InputError(f"{Path(run.inputs.triples).name}: the file contains no triples: choose another file")
    return len(write_texts(folder / "triples.arrow", TRIPLES, chain([first], triples)))
