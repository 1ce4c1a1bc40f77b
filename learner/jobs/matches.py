"""The job `matches`: all pairs of a project's texts that a round's model calls matches, and their groups.

Unless it is only a look at other ones, these groups become the project's, with ids that stay (`kept_groups`).
Human knowledge overrides the model: a pair labelled negative is never a match, and one labelled positive always is.
Labels override known pairs that came with the data.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from dbos import DBOS
from sqlalchemy.orm import Session

from allpairs.db.corpus.equal_texts import EQUAL, KNOWN, MODEL, omitted_pairs, pairs_of_ids
from allpairs.db.domain import DECIDED, AnswerKind, Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import known_answers
from allpairs.db.progress import Progress
from allpairs.db.projects.items import id_counts, identifiers_of
from allpairs.db.projects.jobs import MATCHES
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.projects.records import require_column, values_in_column
from allpairs.db.results.matches import GROUP_COLUMNS, GROUPS, PAIRS, Matches, write_about, writing_matches
from allpairs.db.results.pipelines import runs_folder
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import GroupUpdate, StoredModel
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.data.stored_rescored import rescored_of
from allpairs.learner.jobs.data.stored_vectors import vectors_of
from allpairs.learner.jobs.kept_groups import keep_groups
from allpairs.learner.jobs.queue.job_state import database, job_state
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.recovery import MOST_ATTEMPTS
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.description import Groups, described, of_ids, with_equal_texts
from allpairs.learner.light.groups.grouping import USUAL, Grouping, group_rows
from allpairs.learner.light.groups.links import Links
from allpairs.learner.light.groups.newest import NO_ORDER, Order
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scorers.scorer import load_rerank_scorer
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right, scores
from allpairs.learner.search.rescored import Rescored
from allpairs.learner.search.top_pairs import best_pairs

ENCODE_SHARE = 0.7  # of the job, where the vectors have to be made
MOST = 2_000_000  # pairs: if there are more, the threshold is too low
MOST_READ = 200_000  # pairs that a re-ranker reads: half an hour on a processor
Known = dict[tuple[int, int], AnswerKind]  # by rows


@DBOS.workflow(name=MATCHES, max_recovery_attempts=MOST_ATTEMPTS)
def matches(
    project_id: int,
    number: int,
    threshold: float,
    reranker: str | None = None,
    clustering: str = USUAL.how,
    representative: str = USUAL.representative,
    newest_by: str = USUAL.newest_by,
    keep: bool = True,
) -> str:
    """Run the job and return a summary.

    reranker: folder of the re-ranker that orders the pairs, relative to the runs. newest_by: the column that the newest
    text is found by. keep: whether the groups become the project's. Jobs of earlier versions name fewer of these.
    """
    job_id = str(DBOS.workflow_id)
    grouping = Grouping.read((clustering, representative, newest_by))
    with job_state(job_id):
        return find_matches(job_id, project_id, number, threshold, reranker, *grouping.words, keep)


@job_step
def find_matches(
    job_id: str,
    project_id: int,
    number: int,
    threshold: float,
    reranker: str | None = None,
    clustering: str = USUAL.how,
    representative: str = USUAL.representative,
    newest_by: str = USUAL.newest_by,
    keep: bool = True,
) -> str:
    """Store pairs and groups in the project's folder, and return a summary. Raises InputError for a bad grouping."""
    wanted = Grouping.read((clustering, representative, newest_by))
    with database() as engine:
        with reading(engine) as session:
            data = read_project(session, project_id)
            matcher = matcher_of(session, project_id, number)
            known = _known(session, project_id, data)
            counts = _id_counts(session, project_id, data)
            if matcher is None:
                raise InputError(f"round {number} has no model: choose a round listed on the Monitor page")
            wanted.require_possible(Kind.SYMMETRIC if data.dataset.symmetric else Kind.BIPARTITE, matcher.w is not None)
            require_column(session, project_id, wanted.newest_by)
        share = ENCODE_SHARE * (1.0 if reranker is None else 0.5)
        with reporting(engine, job_id, 0.0, share) as progress:
            vectors = vectors_of(project_id, matcher, data, data.settings, progress)
            rescored = rescored_of(matcher, data, vectors, progress)
        with reporting(engine, job_id, share, 1 - ENCODE_SHARE) as progress:
            by_model = _pairs_above(threshold, data, vectors, rescored, progress)
        layer = _layer(matcher)
        # Rounding may put a pair below the threshold.
        least = float(_p(layer, np.append(by_model.score, threshold)).min())
        equal = dict.fromkeys(map(tuple, data.dataset.equal_pairs.tolist()), AnswerKind.POSITIVE)
        matching = equal | known  # people may say no to equal texts
        pairs = _with_known(by_model, matching, vectors, rescored)
        order = None
        if reranker is not None:
            with reporting(engine, job_id, 1 - share, share) as progress:
                pairs, order = in_order(reranker, pairs, data.dataset.texts, progress)
        links = _links(data, pairs, matching, layer)
        groups = with_equal_texts(described(links, pairs.score, clustered(links, wanted.how, least)), counts)
        with reading(engine) as session:
            texts = _Texts(session, data, pairs, groups)
            by_column = _order(session, project_id, data, wanted)
        inside = groups.of >= 0
        sizes = (len(groups.size), int(groups.size.sum()))
        ids = None
        changed = None
        if keep:  # before the files, so that these never name an id that is not stored
            p = None if layer is None else float(layer.probability(np.array([threshold]))[0])
            update = GroupUpdate(
                project_id=project_id,
                matcher=number,
                threshold=threshold,
                p=p,
                clustering=wanted.how,
                representative=wanted.representative,
                newest_by=wanted.newest_by,
                groups=sizes[0],
                texts=sizes[1],
            )
            kept = keep_groups(engine, data.item_ids[inside], groups.of[inside], update)
            ids = kept.ids_of(data.item_ids.tolist())
            changed = len(kept.plan.changes)
        with writing_matches(project_id) as folder:
            rows, omitted = _write_pairs(folder / PAIRS, pairs, known, set(equal), layer, texts, order)
            _write_groups(folder / GROUPS, groups, counts, wanted, by_column, texts, ids)
            below = _added(by_model, known)
            about = Matches(
                job_id,
                number,
                threshold,
                len(pairs),
                *sizes,
                reranker,
                *wanted.words,
                changed,
                data.version,
                by_column.note,
                below,
                rows,
                omitted,
                int((counts > 1).sum()),
            )
            write_about(folder, about)
    return f"{len(pairs)} matches in {len(groups.size)} groups"


def _pairs_above(
    threshold: float, data: ProjectData, vectors: np.ndarray, rescored: Rescored, progress: Progress
) -> Pairs:
    """Return the pairs of texts that score at least this, best first. Raises InputError for too many."""
    left = data.dataset.left
    right = data.dataset.right
    best = best_pairs(
        as_left(vectors[left], BLENDED),
        as_right(vectors[right], BLENDED),
        data.dataset.symmetric,
        threshold=threshold,
        rescored=rescored.within(left, right),
        progress=progress,
    )
    if len(best) > MOST:
        what = f"{len(best):,} pairs score {threshold:g} or more, but at most {MOST:,} can be written"
        raise InputError(f"{what}: choose a higher threshold")
    return Pairs(left[best.left], right[best.right], best.score)


def in_order(reranker: str, pairs: Pairs, texts: Sequence[str], progress: Progress) -> tuple[Pairs, np.ndarray]:
    """Return the pairs in the re-ranker's order, and its scores (n,), falling. Raises InputError for too many pairs."""
    if len(pairs) > MOST_READ:
        what = f"{len(pairs):,} pairs reach the threshold, but a re-ranker reads at most {MOST_READ:,}"
        raise InputError(f"{what}: choose a higher threshold, or order by the score")
    score = load_rerank_scorer(str(runs_folder() / reranker), texts).score(pairs.left, pairs.right, progress)
    order = np.argsort(-score, kind="stable")
    return pairs.take(order), score[order]


def _known(session: Session, project_id: int, data: ProjectData) -> Known:
    """Return the known answers by rows, without those of withdrawn texts; labels override gold."""
    known = known_answers(session, project_id)
    rows = data.rows(np.array(list(known), dtype=np.int64).reshape(-1, 2))
    kept = data.in_pairs(rows[:, 0], rows[:, 1]).tolist()
    answers = zip(rows.tolist(), known.values(), kept, strict=True)
    return {(left, right): answer for (left, right), answer, there in answers if there}


def _added(by_model: Pairs, known: Known) -> int:
    """Return how many known matches the model does not find."""
    there = set(zip(by_model.left.tolist(), by_model.right.tolist(), strict=True))
    return sum(answer == AnswerKind.POSITIVE and pair not in there for pair, answer in known.items())


def _id_counts(session: Session, project_id: int, data: ProjectData) -> np.ndarray:
    """Return how many ids each text has, (n,) int64; withdrawn ones have none."""
    counts = np.ones(len(data.item_ids), dtype=np.int64)
    several = id_counts(session, project_id)
    counts[data.rows(np.array(list(several), dtype=np.int64))] = list(several.values())
    counts[np.union1d(data.dataset.gone_left, data.dataset.gone_right)] = 0
    return counts


def _with_known(found: Pairs, known: Known, vectors: np.ndarray, rescored: Rescored) -> Pairs:
    """Return the pairs without known negatives and with all known positives, best first."""
    answers = [known.get(pair) for pair in zip(found.left.tolist(), found.right.tolist(), strict=True)]
    kept = found.take(np.array([answer != AnswerKind.NEGATIVE for answer in answers], dtype=bool))
    there = set(zip(kept.left.tolist(), kept.right.tolist(), strict=True))
    more = [pair for pair, answer in known.items() if answer == AnswerKind.POSITIVE and pair not in there]
    left, right = np.array(more, dtype=np.int64).reshape(-1, 2).T
    whole = Pairs(
        np.concatenate([kept.left, left]),
        np.concatenate([kept.right, right]),
        np.concatenate([kept.score, rescored.replace(left, right, scores(vectors, left, right, BLENDED))]),
    )
    return whole.take(np.argsort(-whole.score, kind="stable"))


def _layer(matcher: StoredModel) -> OutputLayer | None:
    return None if matcher.w is None or matcher.b is None else OutputLayer(matcher.w, matcher.b)


def _p(layer: OutputLayer | None, score: np.ndarray) -> np.ndarray:
    """Return the probabilities, or without a layer the scores, (n,) float64."""
    return score.astype(np.float64) if layer is None else layer.probability(score)


def _links(data: ProjectData, pairs: Pairs, known: Known, layer: OutputLayer | None) -> Links:
    """Return the pairs as links between rows, with what is known of any pair."""
    dataset = data.dataset
    n = len(data.item_ids)
    yes, no = (
        np.array([pair for pair, said in known.items() if said == answer], dtype=np.int64).reshape(-1, 2)
        for answer in DECIDED
    )
    second = None if dataset.symmetric else np.isin(np.arange(n), dataset.right)
    return Links(n, pairs.left, pairs.right, _p(layer, pairs.score), yes, no, second)


def _order(session: Session, project_id: int, data: ProjectData, grouping: Grouping) -> Order:
    """Return the order of the rows by the column that the newest text is found by, read from all texts in pairs."""
    if not grouping.newest_by:
        return NO_ORDER
    dataset = data.dataset
    n = len(data.item_ids)
    items = data.item_ids[np.union1d(dataset.left, dataset.right)].tolist()
    values = values_in_column(session, project_id, items, grouping.newest_by)
    second = None if dataset.symmetric else np.isin(np.arange(n), dataset.right)
    return grouping.order([values.get(item, "") for item in data.item_ids.tolist()], second)


class _Texts:
    """Ids, side and text, by row, of the texts that occur in some pairs or groups."""

    def __init__(self, session: Session, data: ProjectData, pairs: Pairs, groups: Groups) -> None:
        rows = np.union1d(np.union1d(pairs.left, pairs.right), np.flatnonzero(groups.of >= 0))
        items = data.item_ids[rows].tolist()
        names = identifiers_of(session, items)
        dataset = data.dataset
        self.names = {row: names[item] for row, item in zip(rows.tolist(), items, strict=True)}
        self.text = dataset.whole_texts
        second = np.zeros(len(rows), dtype=bool) if dataset.symmetric else np.isin(rows, dataset.right)
        self.side = {
            row: (Side.RIGHT if it else Side.LEFT).value for row, it in zip(rows.tolist(), second, strict=True)
        }
        self.alone = [row for row in rows.tolist() if dataset.symmetric and len(self.names[row]) > 1]


def _write_pairs(
    path: Path,
    pairs: Pairs,
    known: Known,
    equal: set[tuple[int, int]],
    layer: OutputLayer | None,
    texts: _Texts,
    order: np.ndarray | None,
) -> tuple[int, int]:
    """Write the pairs of ids, those of equal texts of one list first; return how many, and how many are left out."""
    left = [*texts.alone, *pairs.left.tolist()]
    right = [*texts.alone, *pairs.right.tolist()]
    names = pairs_of_ids(texts.names, left, right)
    between = list(zip(left, right, strict=True))
    alone = len(texts.alone)
    p = [None] * len(pairs) if layer is None else layer.probability(pairs.score).tolist()
    number = pyarrow.float64()
    of_texts = {
        "score": pyarrow.array([*[None] * alone, *pairs.score.tolist()], number),
        "p": pyarrow.array(
            [1.0 if _is_equal(pair, equal) else one for pair, one in zip(between, [*[None] * alone, *p], strict=True)],
            number,
        ),
        "known": _strings(known[pair].value if pair in known else None for pair in between),
        "reason": _strings(_reason(pair, known, equal) for pair in between),
        "text1": _strings(texts.text[row] for row in left),
        "text2": _strings(texts.text[row] for row in right),
    }
    if order is not None:
        of_texts["rerank"] = pyarrow.array([*[None] * alone, *order.tolist()], number)
    columns = {"id1": _strings(names.first), "id2": _strings(names.second)}
    columns |= {name: column.take(pyarrow.array(names.text_pair)) for name, column in of_texts.items()}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return len(names.first), omitted_pairs(texts.names, left, right)


def _is_equal(pair: tuple[int, int], equal: set[tuple[int, int]]) -> bool:
    return pair[0] == pair[1] or pair in equal


def _reason(pair: tuple[int, int], known: Known, equal: set[tuple[int, int]]) -> str:
    """Return why the pair is a match."""
    if _is_equal(pair, equal):
        return EQUAL
    return KNOWN if pair in known else MODEL


def _strings(values: Iterable[str | None]) -> pyarrow.Array:
    return pyarrow.array(list(values), pyarrow.string())


def _write_groups(
    path: Path,
    groups: Groups,
    counts: np.ndarray,
    grouping: Grouping,
    order: Order,
    texts: _Texts,
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
