"""A project as the search for matches reads it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, Kind
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import decided_pairs, decisions_state, known_by_decisions
from allpairs.db.groups.links import TextLinks
from allpairs.db.labels.answers import known_answers
from allpairs.db.projects.items import id_counts
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.projects.records import require_column
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.light.groups.grouping import Grouping
from allpairs.learner.models.output_layer import OutputLayer

KnownAnswers = dict[tuple[int, int], AnswerKind]  # by rows


@dataclass(frozen=True)
class MatchingRequest:
    """What a job is asked for.

    threshold: the lowest score of a match; None: pairs have the score of `learner.scoring.untrained`, not that of the
    round. reranker: folder of the re-ranker that orders the pairs, relative to the runs.
    """

    job_id: str
    project_id: int
    number: int  # of the round whose model finds the matches
    threshold: float | None
    reranker: str | None
    grouping: Grouping


@dataclass(frozen=True)
class MatchingProject:
    """A project as the search reads it. id_counts: (n,) int64, how many ids each text has; withdrawn ones have none.

    decisions: the state of people's decisions that `known` agrees with.
    """

    data: ProjectData
    model: StoredModel
    known: KnownAnswers
    id_counts: np.ndarray
    decisions: tuple[int, int]

    @property
    def layer(self) -> OutputLayer | None:
        w = self.model.w
        b = self.model.b
        return None if w is None or b is None else OutputLayer(w, b)

    @cached_property
    def equal(self) -> KnownAnswers:
        """The pairs of equal texts, which match."""
        return dict.fromkeys(map(tuple, self.data.dataset.equal_pairs.tolist()), AnswerKind.POSITIVE)

    @cached_property
    def answers(self) -> KnownAnswers:
        """What is known of any pair; people may say no to equal texts."""
        return self.equal | self.known


def read_matching_project(engine: Engine, request: MatchingRequest) -> MatchingProject:
    """Return the project. Raises InputError for a round without a model, and for a grouping that it does not allow."""
    with reading(engine) as session:
        data = read_project(session, request.project_id)
        model = matcher_of(session, request.project_id, request.number)
        known = _known(session, request.project_id, data)
        decisions = decisions_state(session, request.project_id)
        counts = _id_counts(session, request.project_id, data)
        if model is None:
            raise InputError(f"round {request.number} has no model: choose a round listed on the Monitor page")
        kind = Kind.SYMMETRIC if data.dataset.symmetric else Kind.BIPARTITE
        request.grouping.require_possible(kind, model.w is not None)
        require_column(session, request.project_id, request.grouping.newest_by)
    return MatchingProject(data, model, known, counts, decisions)


def with_known_answers(engine: Engine, project: MatchingProject) -> MatchingProject:
    """Return the project with what people know of its pairs now."""
    project_id = project.model.project_id
    with reading(engine) as session:
        known = _known(session, project_id, project.data)
        return replace(project, known=known, decisions=decisions_state(session, project_id))


def _known(session: Session, project_id: int, data: ProjectData) -> KnownAnswers:
    """Return the known answers by rows, without those of withdrawn texts.

    Labels override gold, and decisions override both: of the same pair by their age, of others always. A positive that
    would join what decisions keep apart does not count.
    """
    known = known_answers(session, project_id)
    decided = known_by_decisions(session, project_id)
    if decided:
        links = TextLinks(decided_pairs(session, project_id))
        known = {pair: answer for pair, answer in known.items() if answer != AnswerKind.POSITIVE or links.join(*pair)}
        known |= {pair: AnswerKind.POSITIVE if same else AnswerKind.NEGATIVE for pair, same in decided.items()}
    items = np.array(list(known), dtype=np.int64).reshape(-1, 2)
    rows = data.rows(items)
    is_read = np.isin(items, data.item_ids).all(axis=1)  # others are of texts that came meanwhile
    is_live = (is_read & data.in_pairs(rows[:, 0], rows[:, 1])).tolist()
    answers = zip(rows.tolist(), known.values(), is_live, strict=True)
    return {(left, right): answer for (left, right), answer, live in answers if live}


def _id_counts(session: Session, project_id: int, data: ProjectData) -> np.ndarray:
    """Return how many ids each text has, (n,) int64; withdrawn ones have none."""
    counts = np.ones(len(data.item_ids), dtype=np.int64)
    several = id_counts(session, project_id)
    counts[data.rows(np.array(list(several), dtype=np.int64))] = list(several.values())
    counts[np.union1d(data.dataset.gone_left, data.dataset.gone_right)] = 0
    return counts
