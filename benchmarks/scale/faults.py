"""Eight annotators label and a round trains while app and worker are killed: what is lost, doubled or left undone.

    python -m benchmarks.scale.faults [--kills 50] [--seed 0] [--database sqlite|postgresql]

The app is a process that does what the page Label does with a browser's message; the worker is the real one. At seeded
moments one of them gets SIGKILL, and is started again. An annotator keeps what was not acknowledged and sends it again,
as a browser does. In the end nobody is killed any more, and the round at work must be completed.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, select

from annotate.jobs.requests import request_round
from annotate.labelling.queue import ask_if_due, record, serve
from db.domain import AnswerKind
from db.maintenance.integrity import problems
from db.projects.jobs import OPEN
from db.schema.engine import make_engine, migrate, reading
from db.schema.tables import Answer, Job, Round
from tests.helpers.factories import make_project
from tests.helpers.services.postgres import running_postgres
from tests.helpers.tiny import tiny_encoder

ANNOTATORS, TOPICS = 8, 12
BUFFER = 8  # pairs that an annotator asks for
PAUSE, IDLE = 0.2, 1.0  # seconds between two answers of one annotator, and between two looks for more to label
MOST = 3  # kills of the worker while it does one job: a job that ends its worker five times is given up
PATIENCE = 900.0  # seconds for the last round

Event = dict[str, Any]


def app(address: str, project: int) -> None:
    """Never; answers the annotators who connect, each in a thread, as the page Label answers a browser."""
    engine = make_engine()
    Path(address).unlink(missing_ok=True)  # of the one that was killed
    with Listener(address, "AF_UNIX") as listener:
        while True:
            threading.Thread(target=_answer, args=(engine, project, listener.accept()), daemon=True).start()


def _answer(engine: Engine, project: int, connection: Connection) -> None:
    with connection, suppress(EOFError, OSError):
        while True:
            who, events, n = connection.recv()
            stored = record(engine, project, who, events).stored if events else []
            pairs, _ = serve(engine, project, who, n) if n else ([], None)
            if n and not pairs:
                ask_if_due(engine, project)  # as the page does while there is nothing to label
            connection.send((stored, [(pair.task_id, pair.left, pair.right) for pair in pairs]))


@dataclass
class Annotator:
    """What one annotator holds, and the keys that were acknowledged."""

    name: str
    address: str
    waiting: list[Event] = field(default_factory=list)  # answers that nobody acknowledged yet
    pairs: list[tuple[int, str, str]] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)
    acknowledged: list[str] = field(default_factory=list)

    def label(self, stop: threading.Event) -> None:
        """Nothing; pairs are labelled until told to stop, through however many apps."""
        while not stop.is_set():
            with suppress(EOFError, OSError), Client(self.address, "AF_UNIX") as connection:
                while not stop.wait(PAUSE if self.pairs else IDLE):
                    self._give_answer()
                    connection.send((self.name, self.waiting, 0 if self.pairs else BUFFER))
                    self._take(*connection.recv())
            stop.wait(PAUSE)

    def _give_answer(self) -> None:
        if self.pairs:
            task, left, right = self.pairs.pop(0)
            answer = AnswerKind.POSITIVE if left.split()[0] == right.split()[0] else AnswerKind.NEGATIVE
            self.answered.add(task)
            key = f"{self.name}-{len(self.answered)}"
            self.waiting.append({"key": key, "task_id": task, "answer": answer, "seconds": 1.0})

    def _take(self, stored: list[str], pairs: list[tuple[int, str, str]]) -> None:
        self.acknowledged += stored
        self.waiting = [event for event in self.waiting if event["key"] not in stored]
        self.pairs += [pair for pair in pairs if pair[0] not in self.answered]


@dataclass
class Victim:
    """A process to kill and to start again at once: what it imports is loaded once, by a server that forks."""

    work: Callable[..., None]
    arguments: tuple[Any, ...]
    log: Path
    process: BaseProcess | None = None

    def start(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["learner.worker", "annotate.labelling.queue"])
        environment = {name: value for name, value in os.environ.items() if name.startswith("ALLPAIRS")}
        self.process = context.Process(target=_run, args=(self.work, self.arguments, self.log, environment))
        self.process.start()

    def kill(self) -> None:
        """Nothing; the process is gone without having had the time to finish anything."""
        assert self.process is not None
        self.process.kill()
        self.process.join()


def _run(work: Callable[..., None], arguments: tuple[Any, ...], log: Path, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    work(*arguments)


def work_on_jobs() -> None:
    """Never; the worker."""
    from learner.worker import run  # the annotators need no torch

    run("desk")


@dataclass(frozen=True)
class Outcome:
    """What became of it."""

    kills: dict[str, int]
    acknowledged: int
    lost: int
    doubled: int  # keys stored twice, pairs with two answers, rounds with one number
    rounds: int
    undone: list[str]  # jobs that did not end well
    wrong: list[str]  # what `db check` finds
    seconds: float


def make_work(engine: Engine, folder: Path, texts: int) -> int:
    """The project: texts on some topics; two of one topic match."""
    rng = np.random.default_rng(0)
    words = [f"word{at}" for at in range(40)]
    rows = [f"topic{at % TOPICS} {at} " + " ".join(rng.choice(words, 30)) for at in range(texts)]
    encoder = tiny_encoder(folder, rows, layers=2)
    return make_project(
        engine, rows, evaluation=texts // 5, encoder=str(encoder), neighbours=20, first=32, growth=1.1, epochs=2,
        audit_every=0, fast_answers=0,  # they answer as nobody reads, and no pair is to come twice
    )  # fmt: skip


def faults(folder: Path, kills: int, seed: int, texts: int = 240) -> Outcome:
    """What became of the labels and rounds on the database that the environment names."""
    began, rng = time.monotonic(), np.random.default_rng(seed)
    migrate()
    engine = make_engine()
    project = make_work(engine, folder, texts)
    address = str(folder / "app.socket")
    served = Victim(app, (address, project), folder / "app.log")
    worker = Victim(work_on_jobs, (), folder / "worker.log")
    annotators = [Annotator(f"annotator-{at}", address) for at in range(ANNOTATORS)]
    stop, threads = threading.Event(), []
    request_round(engine, project)
    try:
        for victim in (served, worker):
            victim.start()
        _wait_until(lambda: _newest_round(engine, project) > 0)
        threads = [threading.Thread(target=one.label, args=(stop,)) for one in annotators]
        for thread in threads:
            thread.start()
        done = _kill(engine, project, {"app": served, "worker": worker}, kills, rng)
        target = _newest_round(engine, project) + 1
        _wait_until(lambda: _newest_round(engine, project) >= target)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        for victim in (served, worker):
            victim.kill()
    outcome = compared(engine, project, annotators, done, time.monotonic() - began)
    engine.dispose()
    return outcome


def _kill(
    engine: Engine, project: int, victims: dict[str, Victim], kills: int, rng: np.random.Generator
) -> Counter[str]:
    """How often each was killed, one after another, at random moments while a job is at work."""
    done: Counter[str] = Counter()
    of_job: Counter[str | None] = Counter()
    while done.total() < kills:
        time.sleep(float(rng.uniform(0.5, 3.0)))
        job, name = _running(engine, project), str(rng.choice(list(victims)))
        if name == "worker" and (job is None or of_job[job] == MOST):
            continue  # at some later moment
        of_job[job if name == "worker" else None] += 1
        victims[name].kill()
        victims[name].start()
        done[name] += 1
        print(f"killed {done.total()} of {kills}: {name}, job {job}", file=sys.stderr, flush=True)
    return done


def _running(engine: Engine, project: int) -> str | None:
    """The job at work."""
    with reading(engine) as session:
        job = session.scalar(select(Job).where(Job.project_id == project, Job.state == "running"))
        return job.id if job is not None else None


def _newest_round(engine: Engine, project: int) -> int:
    with reading(engine) as session:
        return session.scalar(select(Round.number).where(Round.project_id == project).order_by(Round.id.desc())) or 0


def _wait_until(what: Callable[[], bool]) -> None:
    """Nothing; it is so. Raises TimeoutError where it is not in time."""
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE:.0f} s in vain")
        time.sleep(0.1)


def compared(engine: Engine, project: int, annotators: list[Annotator], kills: Counter[str], seconds: float) -> Outcome:
    """What the database holds of what was acknowledged, and how rounds and jobs stand."""
    with reading(engine) as session:
        rows = session.execute(select(Answer.key, Answer.left_id, Answer.right_id)).all()
        numbers = session.scalars(select(Round.number).where(Round.project_id == project)).all()
        jobs = session.scalars(select(Job).where(Job.project_id == project)).all()
    counts = [Counter(row.key for row in rows), Counter((row.left_id, row.right_id) for row in rows), Counter(numbers)]
    keys = {key for one in annotators for key in one.acknowledged}
    return Outcome(
        kills=dict(kills),
        acknowledged=len(keys),
        lost=len(keys - counts[0].keys()),
        doubled=sum(count - 1 for counted in counts for count in counted.values()),
        rounds=len(set(numbers)),
        undone=[f"{job.id}: {job.state}, {job.error}" for job in jobs if job.state not in ("done", *OPEN)],
        wrong=list(problems(engine)),
        seconds=seconds,
    )


@contextmanager
def installation(database: str) -> Iterator[Path]:
    """A folder with an installation of its own, which the environment names."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"ALLPAIRS_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        os.environ.pop("ALLPAIRS_DATABASE_URL", None)
        if database == "sqlite":
            yield folder
            return
        (folder / "server").mkdir()
        with running_postgres(folder / "server") as url:
            os.environ["ALLPAIRS_DATABASE_URL"] = url
            yield folder


def main() -> int:
    """0, or 1 where something was lost, doubled or left undone; prints what became of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    with installation(options.database) as folder:
        found = faults(folder, options.kills, options.seed)
    print(found)
    return 1 if found.lost or found.doubled or found.undone or found.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
