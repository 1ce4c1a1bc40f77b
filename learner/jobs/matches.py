"""The job `matches`: all pairs of a project's texts that a round's model calls matches, and their groups.

Unless it is only a look at other ones, these groups become the project's, with ids that stay (`kept_groups`).
Human knowledge overrides the model: a pair labelled negative is never a match, and one labelled positive always is.
Labels override known pairs that came with the data.
"""

from collections.abc import Sequence

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.domain import DECIDED, AnswerKind, Kind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import known_answers
from allpairs.db.progress import Progress
from allpairs.db.projects.items import id_counts
from allpairs.db.projects.jobs import MATCHES
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.projects.records import require_column, values_in_column
from allpairs.db.results.matches import GROUPS, PAIRS, Matches, write_summary, writing_matches
from allpairs.db.results.pipelines import runs_folder
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import GroupUpdate, StoredModel
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.data.stored_rescored import rescored_of
from allpairs.learner.jobs.data.stored_vectors import vectors_of
from allpairs.learner.jobs.kept_groups import keep_groups
from allpairs.learner.jobs.match_files import KnownAnswers, PairedTexts, write_groups, write_matched_pairs
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.description import described, with_equal_texts
from allpairs.learner.light.groups.grouping import Grouping
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


@job_workflow(MATCHES)
@job_step
def find_matches(
    job_id: str,
    project_id: int,
    number: int,
    threshold: float,
    reranker: str | None,
    clustering: str,
    representative: str,
    newest_by: str,
    keep: bool = True,
) -> str:
    """Store pairs and groups in the project's folder, and return a summary. Raises InputError for a bad grouping.

    reranker: folder of the re-ranker that orders the pairs, relative to the runs. newest_by: the column that the newest
    text is found by. keep: whether the groups become the project's.
    """
    grouping = Grouping.read((clustering, representative, newest_by))
    with database() as engine:
        with reading(engine) as session:
            data = read_project(session, project_id)
            matcher = matcher_of(session, project_id, number)
            known = _known(session, project_id, data)
            counts = _id_counts(session, project_id, data)
            if matcher is None:
                raise InputError(f"round {number} has no model: choose a round listed on the Monitor page")
            grouping.require_possible(
                Kind.SYMMETRIC if data.dataset.symmetric else Kind.BIPARTITE, matcher.w is not None
            )
            require_column(session, project_id, grouping.newest_by)
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
        groups = with_equal_texts(described(links, pairs.score, clustered(links, grouping.clustering, least)), counts)
        with reading(engine) as session:
            texts = PairedTexts(session, data, pairs, groups)
            by_column = _order(session, project_id, data, grouping)
        inside = groups.group_of_text >= 0
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
                clustering=grouping.clustering,
                representative=grouping.representative,
                newest_by=grouping.newest_by,
                groups=sizes[0],
                texts=sizes[1],
            )
            project_groups = keep_groups(engine, data.item_ids[inside], groups.group_of_text[inside], update)
            ids = project_groups.ids_of(data.item_ids.tolist())
            changed = len(project_groups.plan.changes)
        with writing_matches(project_id) as folder:
            rows, omitted = write_matched_pairs(folder / PAIRS, pairs, known, set(equal), layer, texts, order)
            write_groups(folder / GROUPS, groups, counts, grouping, by_column, texts, ids)
            below = _added(by_model, known)
            summary = Matches(
                job_id,
                number,
                threshold,
                len(pairs),
                *sizes,
                reranker,
                *grouping.words,
                changed,
                data.version,
                by_column.note,
                below,
                rows,
                omitted,
                int((counts > 1).sum()),
            )
            write_summary(folder, summary)
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
        problem = f"{len(best):,} pairs score {threshold:g} or more, but at most {MOST:,} can be written"
        raise InputError(f"{problem}: choose a higher threshold")
    return Pairs(left[best.left], right[best.right], best.score)


def in_order(reranker: str, pairs: Pairs, texts: Sequence[str], progress: Progress) -> tuple[Pairs, np.ndarray]:
    """Return the pairs in the re-ranker's order, and its scores (n,), falling. Raises InputError for too many pairs."""
    if len(pairs) > MOST_READ:
        problem = f"{len(pairs):,} pairs reach the threshold, but a re-ranker reads at most {MOST_READ:,}"
        raise InputError(f"{problem}: choose a higher threshold, or order by the score")
    score = load_rerank_scorer(str(runs_folder() / reranker), texts).score(pairs.left, pairs.right, progress)
    order = np.argsort(-score, kind="stable")
    return pairs.take(order), score[order]


def _known(session: Session, project_id: int, data: ProjectData) -> KnownAnswers:
    """Return the known answers by rows, without those of withdrawn texts; labels override gold."""
    known = known_answers(session, project_id)
    rows = data.rows(np.array(list(known), dtype=np.int64).reshape(-1, 2))
    is_live = data.in_pairs(rows[:, 0], rows[:, 1]).tolist()
    answers = zip(rows.tolist(), known.values(), is_live, strict=True)
    return {(left, right): answer for (left, right), answer, live in answers if live}


def _added(by_model: Pairs, known: KnownAnswers) -> int:
    """Return how many known matches the model does not find."""
    model_pairs = set(zip(by_model.left.tolist(), by_model.right.tolist(), strict=True))
    return sum(answer == AnswerKind.POSITIVE and pair not in model_pairs for pair, answer in known.items())


def _id_counts(session: Session, project_id: int, data: ProjectData) -> np.ndarray:
    """Return how many ids each text has, (n,) int64; withdrawn ones have none."""
    counts = np.ones(len(data.item_ids), dtype=np.int64)
    several = id_counts(session, project_id)
    counts[data.rows(np.array(list(several), dtype=np.int64))] = list(several.values())
    counts[np.union1d(data.dataset.gone_left, data.dataset.gone_right)] = 0
    return counts


def _with_known(by_model: Pairs, known: KnownAnswers, vectors: np.ndarray, rescored: Rescored) -> Pairs:
    """Return the pairs without known negatives and with all known positives, best first."""
    answers = [known.get(pair) for pair in zip(by_model.left.tolist(), by_model.right.tolist(), strict=True)]
    allowed = by_model.take(np.array([answer != AnswerKind.NEGATIVE for answer in answers], dtype=bool))
    allowed_pairs = set(zip(allowed.left.tolist(), allowed.right.tolist(), strict=True))
    more = [pair for pair, answer in known.items() if answer == AnswerKind.POSITIVE and pair not in allowed_pairs]
    left, right = np.array(more, dtype=np.int64).reshape(-1, 2).T
    whole = Pairs(
        np.concatenate([allowed.left, left]),
        np.concatenate([allowed.right, right]),
        np.concatenate([allowed.score, rescored.replace(left, right, scores(vectors, left, right, BLENDED))]),
    )
    return whole.take(np.argsort(-whole.score, kind="stable"))


def _layer(matcher: StoredModel) -> OutputLayer | None:
    return None if matcher.w is None or matcher.b is None else OutputLayer(matcher.w, matcher.b)


def _p(layer: OutputLayer | None, score: np.ndarray) -> np.ndarray:
    """Return the probabilities, or without a layer the scores, (n,) float64."""
    return score.astype(np.float64) if layer is None else layer.probability(score)


def _links(data: ProjectData, pairs: Pairs, known: KnownAnswers, layer: OutputLayer | None) -> Links:
    """Return the pairs as links between rows, with what is known of any pair."""
    dataset = data.dataset
    n = len(data.item_ids)
    yes, no = (
        np.array([pair for pair, label in known.items() if label == answer], dtype=np.int64).reshape(-1, 2)
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
