"""The job `matches`: all pairs of a project's texts that a round's model calls matches, and their groups.

Unless it is only a look at other ones, these groups become the project's, with ids that stay (`kept_groups`).
Human knowledge overrides the model: a pair labelled negative is never a match, and one labelled positive always is.
Labels override known pairs that came with the data, and decisions of people who saw the whole group override labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind
from allpairs.db.errors import InputError
from allpairs.db.groups.plan import PlannedGroups
from allpairs.db.progress import Progress
from allpairs.db.projects.jobs import MATCHES
from allpairs.db.projects.records import values_in_column
from allpairs.db.results.matches import GROUPS, NEAR, PAIRS, Matches, write_summary, writing_matches
from allpairs.db.results.pipelines import runs_folder
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import GroupUpdate
from allpairs.learner.jobs.data.evaluation_snapshot import blend_of
from allpairs.learner.jobs.data.matching_project import (
    KnownAnswers,
    MatchingProject,
    MatchingRequest,
    read_matching_project,
    with_known_answers,
)
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.stored_rescored import rescored_of
from allpairs.learner.jobs.data.stored_vectors import vectors_of
from allpairs.learner.jobs.kept_groups import keep_groups
from allpairs.learner.jobs.match_files import (
    PairedTexts,
    near_misses,
    write_groups,
    write_matched_pairs,
    write_near_misses,
)
from allpairs.learner.jobs.match_links import links_of_matches, with_weak
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.description import Groups, described, with_equal_texts
from allpairs.learner.light.groups.grouping import Grouping
from allpairs.learner.light.groups.links import NEAR_LOGITS
from allpairs.learner.light.groups.newest import NO_ORDER, Order
from allpairs.learner.models.output_layer import OutputLayer, probability_of
from allpairs.learner.scorers.scorer import load_rerank_scorer
from allpairs.learner.scoring.untrained import CAREFUL, CAREFUL_P, untrained_stage, untrained_vectors
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right, scores
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.search.top_pairs import best_pairs

ENCODE_SHARE = 0.7  # of the job, where the vectors have to be made
MOST = 2_000_000  # pairs: if there are more, the threshold is too low
MOST_NEAR = 200  # near misses that are written
MOST_TEXTS = 100_000  # for which near misses are found: with more, pairs below the threshold are too many
MOST_READ = 200_000  # pairs that a re-ranker reads: half an hour on a processor


@dataclass(frozen=True)
class MatchedPairs:
    """The matches. by_model: the pairs that the model scores above the threshold, whatever people know of them.

    rerank: (n,) the re-ranker's score of each match, falling; None without a re-ranker.
    """

    by_model: Pairs
    pairs: Pairs
    rerank: np.ndarray | None


@job_workflow(MATCHES)
@job_step
def find_matches(
    job_id: str,
    project_id: int,
    number: int,
    threshold: float | None,
    reranker: str | None,
    clustering: str,
    representative: str,
    newest_by: str,
    keep: bool = True,
) -> str:
    """Store pairs and groups in the project's folder, and return a summary. Raises InputError for a bad grouping.

    threshold: None for the careful one of the untrained score (`learner.scoring.untrained`). newest_by: the column that
    the newest text is found by. keep: whether the groups become the project's. The rest: as in `MatchingRequest`.
    """
    grouping = Grouping.read((clustering, representative, newest_by))
    request = MatchingRequest(job_id, project_id, number, threshold, reranker, grouping)
    with database() as engine:
        project = read_matching_project(engine, request)
        scored = _score(engine, request, project)
        while True:
            matches = _match(engine, request, project, scored)
            groups = _group(request, project, matches, scored)
            # Before the files, so that these never name an id that is not stored.
            project_groups = _keep(engine, request, project, groups, scored) if keep else None
            if project_groups is not None or not keep:
                break
            project = with_known_answers(engine, project)  # people have decided of groups meanwhile
        with reading(engine) as session:
            texts = PairedTexts(session, project.data, matches.pairs, groups)
            order = _order(session, project_id, project.data, grouping)
        _write(request, project, matches, groups, texts, order, project_groups, scored)
    return f"{len(matches.pairs)} matches in {len(groups.size)} groups"


@dataclass(frozen=True)
class _ScoredPairs:
    """The pairs that score above the threshold, those just below it, and by what any pair is scored.

    layer: the output layer of the scores, if they have one.
    """

    threshold: float
    layer: OutputLayer | None
    above: Pairs
    near: Pairs
    vectors: np.ndarray
    rescored: Rescored


def _score(engine: Engine, request: MatchingRequest, project: MatchingProject) -> _ScoredPairs:
    """Score all pairs, without a threshold by the untrained score."""
    data = project.data
    share = _encode_share(request)
    layer = project.layer
    threshold = request.threshold
    with reporting(engine, request.job_id, 0.0, share) as progress:
        vectors = vectors_of(request.project_id, project.model, data, data.settings, progress)
        if threshold is not None:
            rescored = rescored_of(project.model, data, vectors, progress)
        elif staged := untrained_stage(data.dataset, vectors, data.settings, progress):
            layer = staged.layer
            rescored = staged.rescored
            threshold = layer.score(CAREFUL_P)
        else:
            rescored = NOTHING
            threshold = CAREFUL
        if request.threshold is None:
            vectors = untrained_vectors(data.dataset, vectors, blend_of(project.model))
    with reporting(engine, request.job_id, share, 1 - ENCODE_SHARE) as progress:
        lowest = _lowest(threshold, layer, len(data.item_ids))
        best = _pairs_above(lowest, data, vectors, rescored, progress)
    is_above = best.score >= threshold
    _require_few(int(is_above.sum()), threshold)
    return _ScoredPairs(threshold, layer, best.take(is_above), best.take(~is_above), vectors, rescored)


def _lowest(threshold: float, layer: OutputLayer | None, texts: int) -> float:
    """Return the score down to which pairs are near misses; the threshold itself where these would take long."""
    if layer is None or layer.w <= 0 or texts > MOST_TEXTS:
        return threshold
    return threshold - NEAR_LOGITS / layer.w


def _encode_share(request: MatchingRequest) -> float:
    return ENCODE_SHARE * (1.0 if request.reranker is None else 0.5)


def _match(engine: Engine, request: MatchingRequest, project: MatchingProject, scored: _ScoredPairs) -> MatchedPairs:
    """Apply what is known of any pair, and order the matches by the re-ranker if there is one."""
    pairs = _with_known(scored.above, project.answers, scored.vectors, scored.rescored)
    if request.reranker is None:
        return MatchedPairs(scored.above, pairs, None)
    share = _encode_share(request)
    with reporting(engine, request.job_id, 1 - share, share) as progress:
        return MatchedPairs(scored.above, *_reranked(request.reranker, pairs, project.data.dataset.texts, progress))


def _group(request: MatchingRequest, project: MatchingProject, matches: MatchedPairs, scored: _ScoredPairs) -> Groups:
    """Group the texts of the matches, and those with several ids."""
    # Rounding may put a pair below the threshold.
    least = float(probability_of(scored.layer, np.append(matches.by_model.score, scored.threshold)).min())
    links = links_of_matches(project.data, matches.pairs, project.answers, scored.layer)
    group = clustered(with_weak(links, scored.near, scored.layer), request.grouping.clustering, least)
    return with_equal_texts(described(links, matches.pairs.score, group), project.id_counts)


def _keep(
    engine: Engine, request: MatchingRequest, project: MatchingProject, groups: Groups, scored: _ScoredPairs
) -> PlannedGroups | None:
    """Make the groups the project's, unless people have decided of groups since the project was read."""
    layer = scored.layer
    update = GroupUpdate(
        project_id=request.project_id,
        matcher=request.number,
        threshold=scored.threshold,
        p=None if layer is None else float(layer.probability(np.array([scored.threshold]))[0]),
        clustering=request.grouping.clustering,
        representative=request.grouping.representative,
        newest_by=request.grouping.newest_by,
        groups=len(groups.size),
        texts=int(groups.size.sum()),
    )
    inside = groups.group_of_text >= 0
    items = project.data.item_ids[inside]
    return keep_groups(engine, items, groups.group_of_text[inside], update, project.decisions)


def _write(
    request: MatchingRequest,
    project: MatchingProject,
    matches: MatchedPairs,
    groups: Groups,
    texts: PairedTexts,
    order: Order,
    project_groups: PlannedGroups | None,
    scored: _ScoredPairs,
) -> None:
    """Write pairs, groups, near misses and summary. project_groups: the groups as the project's, if they are."""
    pairs = matches.pairs
    counts = project.id_counts
    ids = None if project_groups is None else project_groups.ids_of(project.data.item_ids.tolist())
    with writing_matches(request.project_id) as folder:
        rows, omitted = write_matched_pairs(
            folder / PAIRS, pairs, project.known, set(project.equal), scored.layer, texts, matches.rerank
        )
        write_groups(folder / GROUPS, groups, counts, request.grouping, order, texts, ids)
        near = near_misses(scored.near, groups).take(slice(MOST_NEAR))
        write_near_misses(folder / NEAR, near, project.data.item_ids, scored.layer)
        summary = Matches(
            job_id=request.job_id,
            matcher=request.number,
            threshold=scored.threshold,
            pairs=len(pairs),
            groups=len(groups.size),
            grouped=int(groups.size.sum()),
            reranker=request.reranker,
            clustering=request.grouping.clustering.value,
            representative=request.grouping.representative.value,
            newest_by=request.grouping.newest_by,
            changed=None if project_groups is None else len(project_groups.plan.changes),
            texts=project.data.version,
            note=order.note,
            below=_added(matches.by_model, project.known),
            rows=rows,
            left_out=omitted,
            alike=int((counts > 1).sum()),
        )
        write_summary(folder, summary)


def _pairs_above(
    threshold: float, data: ProjectData, vectors: np.ndarray, rescored: Rescored, progress: Progress
) -> Pairs:
    """Return the pairs of texts that score at least this, best first."""
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
    return Pairs(left[best.left], right[best.right], best.score)


def _require_few(count: int, threshold: float) -> None:
    if count > MOST:
        problem = f"{count:,} pairs score {threshold:g} or more, but at most {MOST:,} can be written"
        raise InputError(f"{problem}: choose a higher threshold")


def _reranked(reranker: str, pairs: Pairs, texts: Sequence[str], progress: Progress) -> tuple[Pairs, np.ndarray]:
    """Return the pairs in the re-ranker's order, and its scores (n,), falling. Raises InputError for too many pairs."""
    if len(pairs) > MOST_READ:
        problem = f"{len(pairs):,} pairs reach the threshold, but a re-ranker reads at most {MOST_READ:,}"
        raise InputError(f"{problem}: choose a higher threshold, or order by the score")
    score = load_rerank_scorer(str(runs_folder() / reranker), texts).score(pairs.left, pairs.right, progress)
    order = np.argsort(-score, kind="stable")
    return pairs.take(order), score[order]


def _added(by_model: Pairs, known: KnownAnswers) -> int:
    """Return how many known matches the model does not find."""
    model_pairs = set(zip(by_model.left.tolist(), by_model.right.tolist(), strict=True))
    return sum(answer == AnswerKind.POSITIVE and pair not in model_pairs for pair, answer in known.items())


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
