"""The load benchmark notices what is lost and what is stored twice."""

from sqlalchemy import Engine

from benchmarks.scale.load import Told, app, compared
from tests.helpers.factories import make_project, make_round


def test_what_was_acknowledged_is_compared_with_what_is_stored(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(12)], auto_train=False)
    make_round(engine, project, 60)
    told = app(str(engine.url), project, ["ann", "ben"], 2)
    found = compared(engine, told)
    assert (found.acknowledged, found.lost, found.doubled, found.errors) == (4, 0, 0, 0)
    assert found.p99 >= found.median > 0
    spoilt = [*told, Told(["never-stored"], [0.1], ["OperationalError: database is locked"])]
    worse = compared(engine, spoilt)
    assert (worse.lost, worse.locked, worse.errors) == (1, 1, 1)
