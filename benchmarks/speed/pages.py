"""Measure the server side of every page, with a project of a million items and a hundred thousand labels.

    python -m benchmarks.speed.pages [--items 1000000] [--labels 100000] [--repeats 5]

Each page is run as Streamlit runs it, without a browser: the shell around it, its queries, its charts. The first run is
left out: it reads modules and fills caches. A pair is answered before each of the others, so that no page shows what
it cached in the run before. Then come the parts of the label page that run repeatedly.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.label.queue import look, record, serve
from allpairs.db.schema.engine import make_engine, migrate, writing
from allpairs.db.schema.tables import Lease, Task, Worker, now
from benchmarks.scale.large_project import NAME, RESERVE, make_large_project
from benchmarks.table import Row

TARGET = 0.3  # seconds
REPEATS = 5
ROOT = Path(__file__).parents[2]
PAGES = ROOT / "annotate" / "pages"
ANNOTATOR = "me"


@dataclass(frozen=True)
class Timing:
    """Median wall and CPU seconds."""

    name: str
    seconds: float
    processor: float


def timed(name: str, call: Callable[[], object], repeats: int, before: Callable[[], object] = lambda: None) -> Timing:
    """Time a call, without the first run, and without `before`, which runs before each of the others."""
    call()
    seconds = []
    processor = []
    for _ in range(repeats):
        before()
        start = time.perf_counter()
        busy = time.process_time()
        call()
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - busy)
    return Timing(name, statistics.median(seconds), statistics.median(processor))


def page_timings(engine: Engine, project_id: int, repeats: int) -> list[Timing]:
    """Time every page within its shell, each time after one more answer."""
    open_tasks = iter(_open_tasks(engine, project_id))

    def answer_one() -> None:
        _answer(engine, project_id, next(open_tasks))

    timings = []
    for path in sorted(PAGES.glob("[a-z]*.py")):
        app = AppTest.from_file(str(ROOT / "annotate" / "shell" / "app.py"), default_timeout=600)
        app.query_params["project"] = NAME
        app.switch_page(f"../pages/{path.name}")

        def run(app: AppTest = app, name: str = path.stem) -> None:
            app.run()
            if app.exception:
                raise RuntimeError(f"the page {name} failed: {app.exception[0].value}")

        timings.append(timed(f"page {path.stem}", run, repeats, answer_one))
    return timings


def act_timings(engine: Engine, project_id: int, repeats: int) -> list[Timing]:
    """Time the work at each answer, and every two seconds while a job is running."""
    answered = iter(_open_tasks(engine, project_id))
    acts: dict[str, Callable[[], object]] = {
        "act: store an answer": lambda: _answer(engine, project_id, next(answered)),
        "act: serve the next pairs": lambda: serve(engine, project_id, ANNOTATOR),
        "act: look for news": lambda: look(engine, project_id, ANNOTATOR),
    }
    return [timed(name, call, repeats) for name, call in acts.items()]


def _open_tasks(engine: Engine, project_id: int) -> list[int]:
    serve(engine, project_id, ANNOTATOR, RESERVE)
    with writing(engine) as session:
        return list(session.scalars(select(Lease.task_id).where(Lease.annotator == ANNOTATOR).join(Task)))


def _answer(engine: Engine, project_id: int, task_id: int) -> None:
    record(engine, project_id, ANNOTATOR, [{"key": f"bench-{task_id}", "task_id": task_id, "answer": "negative"}])


def timings_of(items: int, labels: int, repeats: int) -> list[Timing]:
    """Return all timings, on a project made for them in a folder of its own."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["ALLPAIRS_HOME"] = home
        os.environ.pop("ALLPAIRS_DATABASE_URL", None)
        migrate()
        engine = make_engine()
        project_id = make_large_project(engine, items, labels)
        with writing(engine) as session:
            session.add(Worker(executor_id="none", host="none", pid=1, device="cpu", seen_at=now()))
        timings = [*page_timings(engine, project_id, repeats), *act_timings(engine, project_id, repeats)]
        engine.dispose()
        return timings


def measure(quick: bool) -> list[Row]:
    """Return every page and every labelling step with the target."""
    items, labels = (20_000, 5_000) if quick else (1_000_000, 100_000)
    return [
        Row(
            what=f"{timing.name}, {items:,} items, {labels:,} labels",
            ours=f"{1000 * timing.seconds:,.0f} ms ({1000 * timing.processor:,.0f} ms of the processor)",
            target=f"≤ {1000 * TARGET:.0f} ms",
            met=timing.seconds <= TARGET,
        )
        for timing in timings_of(items, labels, REPEATS)
    ]


def main() -> None:
    """Print the medians, slowest first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    timings = timings_of(options.items, options.labels, options.repeats)
    print(
        f"{options.items:,} items, {options.labels:,} labels; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    for timing in sorted(timings, key=lambda timing: -timing.processor):
        met = "met" if timing.seconds <= TARGET else "missed"
        print(
            f"  {timing.name:28s} {1000 * timing.seconds:8.0f} ms, processor {1000 * timing.processor:8.0f} ms  {met}"
        )


if __name__ == "__main__":
    main()
