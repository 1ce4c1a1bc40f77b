"""A job's progress: written to its row for the pages, which is also checked for a cancel."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from allpairs.db.errors import Cancelled
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Job, now
from allpairs.learner.runtime.progress_output import progress_bar

log = logging.getLogger(__name__)

INTERVAL = 0.5  # seconds between two checks of the row
TELLING = 0.02  # share of a stage from which on its pace is known: the start is slower


@contextmanager
def reporting(engine: Engine, job_id: str, before: float, share: float) -> Iterator[Progress]:
    """Yield a `Reporter` that also draws a bar on the worker's terminal."""
    reporter = Reporter(engine, job_id, before, share)
    with progress_bar() as bar:

        def report(stage: str, share_done: float) -> None:
            reporter(stage, share_done)
            bar(stage, share_done)

        yield report


class Reporter:
    """A progress function for one stage of a job; raises Cancelled soon after a person cancels.

    before, share: the parts of the whole job, by expected cost, that lie before this stage and in it.
    """

    def __init__(self, engine: Engine, job_id: str, before: float, share: float) -> None:
        self.engine = engine
        self.job_id = job_id
        self.before = before
        self.share = share
        self.started = time.monotonic()
        self.looked = 0.0

    def __call__(self, stage: str, share_done: float) -> None:
        elapsed = time.monotonic() - self.started
        if time.monotonic() - self.looked < INTERVAL:
            return
        self.looked = time.monotonic()
        fraction = min(1.0, self.before + self.share * share_done)  # what a step expects to do is an estimate
        left = (
            elapsed / (self.share * share_done) * (1 - fraction) if share_done >= TELLING and self.share > 0 else None
        )
        try:
            self._write(stage, fraction, left)
        except DBAPIError as error:  # the database is restarting, or its disk is full: keep working
            log.warning("could not store the progress of job %s: %s", self.job_id, error.orig)

    def _write(self, stage: str, fraction: float, left: float | None) -> None:
        with writing(self.engine) as session:
            job = session.get_one(Job, self.job_id)
            if job.cancel:
                raise Cancelled(self.job_id)
            job.state = "running"
            job.stage = stage
            job.fraction = fraction
            job.seconds_left = left
            job.updated_at = now()
