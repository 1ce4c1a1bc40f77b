"""A project as the search for matches reads it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, Kind
from allpairs.db.errors import InputError
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
    """What a job is asked for. reranker: folder of the re-ranker that orders the pairs, relative to the runs."""

    job_id: str
    project_id: int
    number: int  # of the round whose model finds the matches
    threshold: float
    reranker: str | None
    grouping: Grouping


@dataclass(frozen=True)
class MatchingProject:
    """A project as the search reads it. id_counts: (n,) int64, how many ids each text has; withdrawn ones have none."""

    data: ProjectData
    model: StoredModel
    known: KnownAnswers
    id_counts: np.ndarray

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
        counts = _id_counts(session, request.project_id, data)
        if model is None:
            raise InputError(f"round {request.number} has no model: choose a round listed on the Monitor page")
        kind = Kind.SYMMETRIC if data.dataset.symmetric else Kind.BIPARTITE
        request.grouping.require_possible(kind, model.w is not None)
        require_column(session, request.project_id, request.grouping.newest_by)
    return MatchingProject(data, model, known, counts)


def _known(session: Session, project_id: int, data: ProjectData) -> KnownAnswers:
    """Return the known answers by rows, without those of withdrawn texts; labels override gold."""
    known = known_answers(session, project_id)
    rows = data.rows(np.array(list(known), dtype=np.int64).reshape(-1, 2))
    is_live = data.in_pairs(rows[:, 0], rows[:, 1]).tolist()
    answers = zip(rows.tolist(), known.values(), is_live, strict=True)
    return {(left, right): answer for (left, right), answer, live in answers if live}


def _id_counts(session: Session, project_id: int, data: ProjectData) -> np.ndarray:
    """Return how many ids each text has, (n,) int64; withdrawn ones have none."""
    counts = np.ones(len(data.item_ids), dtype=np.int64)
    several = id_counts(session, project_id)
    counts[data.rows(np.array(list(several), dtype=np.int64))] = list(several.values())
    counts[np.union1d(data.dataset.gone_left, data.dataset.gone_right)] = 0
    return counts
