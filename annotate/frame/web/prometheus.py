"""Metrics of the whole installation for Prometheus.

They are read from the database when requested, so that all app processes report the same; only request times belong to
each process.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import Refused, require, require_scope
from allpairs.annotate.frame.web.problems import problem
from allpairs.annotate.frame.web.work import Threads
from allpairs.db.domain import Queue, Scope
from allpairs.db.projects import metrics
from allpairs.db.projects.jobs import live_workers
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import now

PATH = "/metrics"
BOUNDS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 24 * 3600.0)  # seconds of a job


class Telemetry:
    """The metrics route, and the request times of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.threads = Threads(2)
        description = "Requests to the REST API that this process answered"
        self.requests = Histogram(
            "allpairs_api_request_seconds", description, ["method", "path", "status"], registry=self.registry
        )

    def route(self) -> Route:
        """Return the route, for administrators of the installation; the middleware has checked who asks."""
        return Route(PATH, self._answer)

    def observe(self, method: str, path: str, status: int, seconds: float) -> None:
        """Record how long a request to this address of the API took."""
        self.requests.labels(method, path, status).observe(seconds)

    async def _answer(self, request: Request) -> Response:
        try:
            text = await self.threads.run(self._text, request.state.engine)
        except Refused as error:
            return problem(403, str(error))
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    def _text(self, engine: Engine) -> bytes:
        require_scope(engine, Scope.ADMINISTER)
        with reading(engine) as session:
            require(session, Right.INSTALL)
            rows = CollectorRegistry()
            rows.register(_Rows(list(families(session))))
        return generate_latest(rows) + generate_latest(self.registry)


class _Rows(Collector):
    def __init__(self, metrics: Sequence[Metric]) -> None:
        self.found = metrics

    def collect(self) -> Sequence[Metric]:
        return self.found


def families(session: Session) -> Iterator[Metric]:
    """Yield all metrics that come from the database."""
    yield _gauge("allpairs_labels", "Pairs that have a label", ("project", "label"), metrics.label_numbers(session))
    answered = [(name, time.timestamp()) for name, time in metrics.last_answer_times(session)]
    yield _gauge("allpairs_last_answer_timestamp_seconds", "Time of the last answer", ("project",), answered)
    leases = metrics.leases(session, now())
    yield _gauge("allpairs_leases", "Pairs leased to annotators", ("project",), leases)
    yield _gauge("allpairs_jobs", "Jobs", ("kind", "state"), metrics.jobs(session))
    lengths = metrics.waiting(session)
    waiting = [(queue, lengths.get(queue, 0)) for queue in Queue]
    yield _gauge("allpairs_queue_jobs", "Jobs that wait for a worker", ("queue",), waiting)
    alive = Counter((worker.queue or "starting", worker.device) for worker in live_workers(session))
    workers = [(*queue_and_device, number) for queue_and_device, number in sorted(alive.items())]
    yield _gauge("allpairs_workers", "Workers that are alive", ("queue", "device"), workers)
    yield _job_seconds(session)


def _gauge(name: str, description: str, labels: Sequence[str], rows: Sequence[tuple[str | float, ...]]) -> Metric:
    """Return the gauge; rows: a value for each label, and the metric's value."""
    gauge = GaugeMetricFamily(name, description, labels=labels)
    for *label_values, value in rows:
        gauge.add_metric([str(label) for label in label_values], float(value))
    return gauge


def _job_seconds(session: Session) -> Metric:
    family = HistogramMetricFamily("allpairs_job_seconds", "Time from request to end of finished jobs", labels=["kind"])
    rows = metrics.durations(session, BOUNDS)
    bounds = [*map(str, BOUNDS), "+Inf"]
    for kind in sorted({row[0] for row in rows}):
        counts_by_place = {place: number for job_kind, place, number, _ in rows if job_kind == kind}
        counts = accumulate(counts_by_place.get(place, 0) for place in range(len(bounds)))
        total = sum(seconds for job_kind, _, _, seconds in rows if job_kind == kind)
        family.add_metric([kind], list(zip(bounds, counts, strict=True)), total)
    return family
