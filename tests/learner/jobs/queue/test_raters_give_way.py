"""A machine rater whose endpoint drips does not hold the only worker."""

import sys
import time

import pytest
from sqlalchemy import Engine

from allpairs.annotate.kit.jobs.open_jobs import cancel
from allpairs.annotate.kit.jobs.requests import request_rating, request_round
from tests.helpers.factories import make_project, make_round
from tests.helpers.raters import add_rater, dripping
from tests.helpers.services.workers import job_of, started, wait_for

WORKER = """
from allpairs.learner import worker
from allpairs.learner.jobs import next_round, rate
from allpairs.learner.jobs.queue import turns

turns.SHORTEST = turns.LOOK = 0.5
rate.LONGEST = 2.0
next_round.make_plan = lambda project_id: 1 / 0  # a training that ends at once
worker.run_worker("desk")
"""


@pytest.mark.slow
def test_another_project_trains_and_a_cancel_works_meanwhile(engine: Engine) -> None:
    first, second = (make_project(engine, [f"text {at}" for at in range(6)], name=name) for name in "AB")
    make_round(engine, first, 4)
    with dripping(seconds=0.5) as url:
        add_rater(engine, first, url=url)
        rating = request_rating(engine, first, 4)
        with started([sys.executable, "-c", WORKER]):
            wait_for(lambda: "0 of 4 pairs" in (job_of(engine, rating).stage or ""))
            training = request_round(engine, second)
            wait_for(lambda: job_of(engine, training).state == "failed", 30)  # as its plan does
            wait_for(lambda: job_of(engine, rating).state == "running")
            cancel(engine, rating)
            began = time.monotonic()
            wait_for(lambda: job_of(engine, rating).state == "cancelled")
            assert time.monotonic() - began < 5
