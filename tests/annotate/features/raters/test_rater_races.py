"""Several people set up a project's machine rater at once: one of theirs is in use, on either database."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from sqlalchemy import Engine

from allpairs.annotate.features.raters.project_raters import read_raters, set_up
from tests.helpers.factories import make_project
from tests.helpers.raters import setup

PEOPLE = 4


def test_one_rater_is_in_use_however_many_are_set_up_at_once(engine: Engine) -> None:
    project_id, ready = make_project(engine, ["a", "b"]), Barrier(PEOPLE)

    def act(samples: int) -> int:
        ready.wait()
        return set_up(engine, project_id, setup(samples=samples))

    with ThreadPoolExecutor(PEOPLE) as people:
        numbers = list(people.map(act, range(1, PEOPLE + 1)))
    assert sorted(numbers) == list(range(1, PEOPLE + 1))
    assert [rater.in_use for rater in read_raters(engine, project_id)] == [True, *[False] * (PEOPLE - 1)]
