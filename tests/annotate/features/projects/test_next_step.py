"""The one next thing to do, for each state of a project and each role."""

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.projects.next_step import Standing, next_step, read_standing
from allpairs.annotate.frame.access.roles import MAY, Right
from allpairs.db.domain import Role
from allpairs.db.labels.tasks import BatchProgress
from allpairs.db.schema.tables import Job
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_matcher
from tests.helpers.projects.results import FIGURES

ALL = frozenset(Right)
HALF, FULL = BatchProgress(1, 2, 40, 17), BatchProgress(1, 2, 40, 40)


def job(state: str, kind: str = "next_round") -> Job:
    return Job(id="j", project_id=1, kind=kind, state=state, fraction=0.2, stage="train")


@pytest.mark.parametrize(
    ("found", "page"),
    [
        (Standing(BatchProgress(), job=job("running")), ""),  # wait
        (Standing(BatchProgress()), "label"),
        (Standing(BatchProgress(), job=job("failed")), "jobs"),
        (Standing(HALF), "label"),
        (Standing(HALF, job=job("failed")), "jobs"),
        (Standing(HALF, rounds=1, measurable=True), "monitor"),  # trained, but not measured
        (Standing(BatchProgress(1, 2, 40, 17, audits=8), rounds=1, measurable=True), "label"),  # which measures it
        (Standing(HALF, rounds=1, measurable=True, measured=True), "label"),
        (Standing(HALF, rounds=1, measured=True, reached=True), "data"),
        (Standing(HALF, audit_left=3, reached=True), "label"),
        (Standing(FULL, job=job("running")), "label"),
        (Standing(FULL), "label"),
    ],
)
def test_an_administrator_is_led_to_the_page_where_it_is_done(found: Standing, page: str) -> None:
    step = next_step(found, ALL)
    assert step.page == page
    assert bool(step.act) == bool(page)
    assert step.reason


def test_a_model_without_figures_is_not_measured(engine: Engine) -> None:
    project_id = make_project(engine, ["a", "b"])
    add_matcher(
        engine, project_id, 1, {"pairs": 1, "estimates": {}, "curve": {}, "histogram": {}, "audit": {"needed": 32}}
    )
    assert not read_standing(engine, project_id).measured
    add_matcher(engine, project_id, 2, FIGURES | {"estimates": {"average_precision": {"value": 0.5}}})
    assert read_standing(engine, project_id).measured


def test_nobody_is_led_to_what_their_role_refuses() -> None:
    needs = {"label": Right.LABEL, "monitor": Right.SEE, "jobs": Right.CHANGE, "data": Right.CHANGE}
    states = [
        Standing(batch, audit_left, waiting, rounds, measured, True, reached)
        for batch in (BatchProgress(), HALF, FULL)
        for audit_left in (0, 3)
        for waiting in (None, job("running"), job("failed"))
        for rounds, measured, reached in ((0, False, False), (1, False, False), (1, True, False), (1, True, True))
    ]
    for role in Role:
        for found in states:
            step = next_step(found, MAY[role])
            assert not step.page or needs[step.page] in MAY[role], (role, found, step)
