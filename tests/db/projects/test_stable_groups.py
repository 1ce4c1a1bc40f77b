"""The search that makes groups as the last update did."""

from math import log

import pytest
from sqlalchemy import Engine

from allpairs.db.domain import Clustering
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.stable_groups import usual_search
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import StoredModel
from tests.helpers.factories import make_groups, make_project


@pytest.mark.parametrize(
    ("matcher", "p", "least", "usual"),
    [
        (1, 0.9, 0.9, Clustering.CORRELATION),
        (0, 0.8, 0.5, Clustering.AVERAGE),  # by columns that agree
        (0, None, 0.5, Clustering.AVERAGE),
    ],
)
def test_only_groups_made_by_labels_say_how_the_next_are_made(
    engine: Engine, matcher: int, p: float | None, least: float, usual: Clustering
) -> None:
    project_id = make_project(engine, ["a", "b"])
    make_groups(engine, project_id, [[1, 2]], matcher=matcher, p=p, clustering=Clustering.CORRELATION)
    trained = StoredModel(project_id=project_id, number=2, w=10.0, b=-5.0)
    with reading(engine) as session:
        number, threshold, _, clustering, *_ = usual_search(session, project_of(session, project_id), trained)
    assert (number, clustering) == (2, usual)
    assert threshold == pytest.approx((log(least / (1 - least)) + 5) / 10)
