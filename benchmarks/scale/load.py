"""Measure writes of twenty annotators at one label a second: time, and answers lost, stored twice or refused.

    python -m benchmarks.scale.load [--seconds 300] [--annotators 20] [--apps 2]

The annotators are threads of app processes that share one database: SQLite, then PostgreSQL (a server of its own, as
durable as usual). Each has 40 pairs at hand, answers one a second, and sends one answer in twenty again, like a
browser whose acknowledgement was lost. Afterwards the database is compared with what was acknowledged.
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, select

from allpairs.annotate.features.label.queue import record, serve
from allpairs.db.schema.engine import make_engine, migrate, reading
from allpairs.db.schema.tables import Answer
from benchmarks.table import Row
from tests.helpers.factories import make_project, make_round
from tests.helpers.services.servers import is_postgres_missing, running_postgres

P99 = 0.05  # seconds: the target
AGAIN = 20  # one answer in this many is sent twice
FEW = 10  # with fewer pairs at hand, the next ones are requested
TEXTS = 200


@dataclass(frozen=True)
class Told:
    """What one annotator saw: the acknowledged keys, seconds of each write, and errors."""

    keys: list[str]
    seconds: list[float]
    errors: list[str]


@dataclass(frozen=True)
class Outcome:
    """The outcome for all answers of one run."""

    acknowledged: int
    lost: int
    doubled: int  # keys stored twice, and pairs with more than one answer
    locked: int
    errors: int
    median: float
    p99: float


def annotate(engine: Engine, project: int, who: str, seconds: float, rng: np.random.Generator) -> Told:
    """Label as this annotator, from a random moment of the first second, and return what they saw."""
    told = Told([], [], [])
    waiting = []
    start = time.monotonic() + float(rng.random())
    for tick in range(int(seconds)):
        time.sleep(max(0.0, start + tick - time.monotonic()))
        try:
            if len(waiting) < FEW:
                waiting = [pair.task_id for pair in serve(engine, project, who)[0]]
            if not waiting:
                continue
            event = {"key": f"{who}-{tick}", "task_id": waiting.pop(0), "answer": "negative", "seconds": 1.0}
            for _ in range(2 if tick % AGAIN == 0 else 1):
                began = time.perf_counter()
                receipt = record(engine, project, who, [event])
                told.seconds.append(time.perf_counter() - began)
            told.keys.extend(receipt.stored)
            told.errors.extend(receipt.refused.values())
        except Exception as error:  # a benchmark counts errors of every kind
            told.errors.append(f"{type(error).__name__}: {error}")
    return told


def app(url: str, project: int, names: list[str], seconds: float) -> list[Told]:
    """Return what the annotators of one app process saw."""
    engine = make_engine(url)
    with ThreadPoolExecutor(len(names)) as pool:
        runs = [
            pool.submit(annotate, engine, project, who, seconds, np.random.default_rng([at, os.getpid()]))
            for at, who in enumerate(names)
        ]
        told = [run.result() for run in runs]
    engine.dispose()
    return told


def load(url: str, annotators: int, apps: int, seconds: float) -> Outcome:
    """Return the outcome for the annotators' answers, spread over the app processes."""
    migrate(url)
    engine = make_engine(url)
    project = make_project(engine, [f"text {i}" for i in range(TEXTS)], auto_train=False)
    make_round(engine, project, int(annotators * (seconds + 60)))
    names = [f"annotator-{at}" for at in range(annotators)]
    with multiprocessing.get_context("spawn").Pool(apps) as pool:
        parts = pool.starmap(app, [(url, project, names[at::apps], seconds) for at in range(apps)])
    outcome = compared(engine, [told for part in parts for told in part])
    engine.dispose()
    return outcome


def compared(engine: Engine, told: list[Told]) -> Outcome:
    """Return the outcome: the database compared with the acknowledged answers."""
    with reading(engine) as session:
        rows = session.execute(select(Answer.key, Answer.left_id, Answer.right_id)).all()
    keys = Counter(row.key for row in rows)
    pairs = Counter((row.left_id, row.right_id) for row in rows)
    acknowledged = {key for one in told for key in one.keys}
    errors = [error for one in told for error in one.errors]
    seconds = [second for one in told for second in one.seconds]
    return Outcome(
        acknowledged=len(acknowledged),
        lost=len(acknowledged - keys.keys()),
        doubled=sum(count - 1 for count in (*keys.values(), *pairs.values())),
        locked=sum("locked" in error for error in errors),
        errors=len(errors),
        median=statistics.median(seconds),
        p99=float(np.quantile(seconds, 0.99)),
    )


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """Yield the address of an empty database of each kind; PostgreSQL only if installed."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"SQLite": f"sqlite:///{Path(folder) / 'allpairs.db'}"}
        if is_postgres_missing():
            yield found
            return
        server = Path(folder) / "postgres"
        server.mkdir()
        with running_postgres(server) as url:
            yield found | {"PostgreSQL": url}


def measure(quick: bool) -> list[Row]:
    """Return the rows of both databases, with their targets."""
    return rows(20, 2, 15 if quick else 300)


def rows(annotators: int, apps: int, seconds: float) -> list[Row]:
    """Return a row for each database."""
    with databases() as found:
        return [_row(name, load(url, annotators, apps, seconds), annotators, seconds) for name, url in found.items()]


def _row(database: str, found: Outcome, annotators: int, seconds: float) -> Row:
    others = found.errors - found.locked
    wrong = f"lost {found.lost}, doubled {found.doubled}, locked {found.locked}, other errors {others}"
    return Row(
        what=f"{annotators} annotators, one label a second each for {seconds:.0f} s, {database}",
        ours=f"{found.acknowledged:,} labels, {wrong}; a write {1000 * found.median:.0f} ms (median), "
        f"{1000 * found.p99:.0f} ms (99 %)",
        target=f"none wrong, 99 % ≤ {1000 * P99:.0f} ms",
        met=not (found.lost or found.doubled or found.errors) and found.p99 <= P99,
    )


def main() -> None:
    """Print the outcome."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--apps", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    for row in rows(options.annotators, options.apps, options.seconds):
        print(f"{row.what}\n  {row.ours}  {'met' if row.met else 'missed'}")


if __name__ == "__main__":
    main()
