"""Count what is lost, doubled or left undone if app and worker are killed while eight people label and a round trains.

    python -m tests.system.kills.faults [--kills 50] [--seed 0] [--database sqlite|postgresql]

The app is a process that treats messages as the Label page treats a browser's; the worker is the real one. At seeded
moments one of them gets SIGKILL and is started again. An annotator keeps unacknowledged answers and sends them again,
as a browser does. Finally the killing stops, and the running round must be completed.
"""

import argparse
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, select

from allpairs.annotate.features.label.queue import ask_if_due, record, serve
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.domain import AnswerKind
from allpairs.db.maintenance.integrity import problems
from allpairs.db.projects.jobs import OPEN
from allpairs.db.schema.engine import make_engine, migrate, reading
from allpairs.db.schema.tables import Answer, Job, Round
from tests.helpers.factories import make_project
from tests.helpers.services.installation import installation
from tests.helpers.tiny import tiny_encoder

ANNOTATORS, TOPICS = 8, 12
BUFFER = 8  # pairs that an annotator requests
PAUSE, IDLE = 0.2, 1.0  # seconds between two answers of one annotator, and between two requests for more
MOST = 3  # kills of the worker during one job: a job that stops its worker five times is given up
PATIENCE = 900.0  # seconds for the last round

Event = dict[str, Any]


def app(address: str, project: int) -> None:
    """Answer the annotators who connect, each in a thread, as the Label page answers a browser; never return."""
    engine = make_engine()
    Path(address).unlink(missing_ok=True)  # left by the killed app
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
                ask_if_due(engine, project)  # as the page does if there is nothing to label
            connection.send((stored, [(pair.task_id, pair.left, pair.right) for pair in pairs]))


@dataclass
class Annotator:
    """An annotator's pairs at hand, and the acknowledged keys."""

    name: str
    address: str
    slips: float = 0.0  # share of wrong answers
    waiting: list[Event] = field(default_factory=list)  # unacknowledged answers
    pairs: list[tuple[int, str, str]] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)
    acknowledged: list[str] = field(default_factory=list)

    def label(self, stop: threading.Event) -> None:
        """Label pairs until told to stop, through any number of app processes."""
        while not stop.is_set():
            with suppress(EOFError, OSError), Client(self.address, "AF_UNIX") as connection:
                while not stop.wait(PAUSE if self.pairs else IDLE):
                    self._give_answer()
                    connection.send((self.name, self.waiting, BUFFER))
                    self._take(*connection.recv())
            stop.wait(PAUSE)

    def _give_answer(self) -> None:
        if self.pairs:
            task, left, right = self.pairs.pop(0)
            self.answered.add(task)
            key = f"{self.name}-{len(self.answered)}"
            slipped = np.random.default_rng([*key.encode()]).random() < self.slips
            alike = (left.split()[0] == right.split()[0]) != slipped
            answer = AnswerKind.POSITIVE if alike else AnswerKind.NEGATIVE
            self.waiting.append({"key": key, "task_id": task, "answer": answer, "seconds": 1.0})

    def _take(self, stored: list[str], pairs: list[tuple[int, str, str]]) -> None:
        self.acknowledged += stored
        self.waiting = [event for event in self.waiting if event["key"] not in stored]
        self.pairs = [pair for pair in pairs if pair[0] not in self.answered]  # others may have got those at hand


@dataclass
class Victim:
    """A process to kill and restart at once: a fork server loads its imports once."""

    work: Callable[..., None]
    arguments: tuple[Any, ...]
    log: Path
    process: BaseProcess | None = None

    def start(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["allpairs.learner.worker", "allpairs.annotate.features.label.queue"])
        environment = {name: value for name, value in os.environ.items() if name.startswith("ALLPAIRS")}
        self.process = context.Process(target=_run, args=(self.work, self.arguments, self.log, environment))
        self.process.start()

    def kill(self) -> None:
        """Kill the process without letting it finish anything."""
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
    """Run the worker; never return."""
    from allpairs.learner.worker import run_worker  # the annotators need no torch

    run_worker("desk")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    kills: dict[str, int]
    acknowledged: int
    lost: int
    doubled: int  # keys stored twice, pairs that one person answered twice, rounds with the same number
    shared: int  # answers beyond those that a pair may get: whoever waits gets the last pairs that others still hold
    rounds: int
    undone: list[str]  # jobs that did not end well
    wrong: list[str]  # findings of `db check`
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether nothing was lost, doubled or left undone."""
        return not (self.lost or self.doubled or self.undone or self.wrong)


@dataclass(frozen=True)
class Work:
    """What people do: in a project with these settings, with some wrong answers, until it is finished.

    begin: called with the engine and the project before anybody labels. is_finished: asked once nobody labels any more.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    slips: float = 0.0
    votes: int = 1  # answers that a pair may get
    begin: Callable[[Engine, int], None] = lambda engine, project: None
    is_finished: Callable[[Engine], bool] = lambda engine: True
    idle_kills: bool = False  # kill the worker while no job runs, too


def make_work(engine: Engine, folder: Path, texts: int, settings: dict[str, Any]) -> int:
    """Make the project: texts on some topics; two of one topic match. Return its id."""
    rng = np.random.default_rng(0)
    words = [f"word{at}" for at in range(40)]
    rows = [f"topic{at % TOPICS} {at} " + " ".join(rng.choice(words, 30)) for at in range(texts)]
    encoder = tiny_encoder(folder, rows, layers=2)
    usual: dict[str, Any] = {
        "encoder": str(encoder), "neighbours": 20, "first": 32, "growth": 1.1, "epochs": 2,
        "audit_every": 0, "fast_answers": 0,  # they answer faster than anybody reads, and no pair may come twice
    }  # fmt: skip
    return make_project(engine, rows, evaluation=texts // 5, **usual | settings)


def faults(folder: Path, kills: int, seed: int, texts: int = 240, work: Work | None = None) -> Outcome:
    """Return the outcome for labels and rounds on the database that the environment names."""
    began, rng, work = time.monotonic(), np.random.default_rng(seed), work or Work()
    migrate()
    engine = make_engine()
    project = make_work(engine, folder, texts, work.settings)
    work.begin(engine, project)
    address = str(folder / "app.socket")
    served = Victim(app, (address, project), folder / "app.log")
    worker = Victim(work_on_jobs, (), folder / "worker.log")
    annotators = [Annotator(f"annotator-{at}", address, work.slips) for at in range(ANNOTATORS)]
    stop, threads = threading.Event(), []
    request_round(engine, project)
    try:
        for victim in (served, worker):
            victim.start()
        _wait_until(lambda: _newest_round(engine, project) > 0)
        threads = [threading.Thread(target=one.label, args=(stop,)) for one in annotators]
        for thread in threads:
            thread.start()
        done = _kill(engine, project, {"app": served, "worker": worker}, kills, rng, work.idle_kills)
        target = _newest_round(engine, project) + 1
        _wait_until(lambda: _newest_round(engine, project) >= target)
        stop.set()
        _wait_until(lambda: work.is_finished(engine))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        for victim in (served, worker):
            victim.kill()
    outcome = compared(engine, project, annotators, done, time.monotonic() - began, work.votes)
    engine.dispose()
    return outcome


def _kill(
    engine: Engine, project: int, victims: dict[str, Victim], kills: int, rng: np.random.Generator, idle: bool
) -> Counter[str]:
    """Kill app and worker at random moments and count the kills. idle: kill the worker while no job runs, too."""
    done: Counter[str] = Counter()
    of_job: Counter[str | None] = Counter()
    while done.total() < kills:
        time.sleep(float(rng.uniform(0.5, 3.0)))
        job, name = _running(engine, project), str(rng.choice(list(victims)))
        if name == "worker" and (not idle if job is None else of_job[job] == MOST):
            continue  # try again later
        of_job[job if name == "worker" else None] += 1
        victims[name].kill()
        victims[name].start()
        done[name] += 1
        print(f"killed {done.total()} of {kills}: {name}, job {job}", file=sys.stderr, flush=True)
    return done


def _running(engine: Engine, project: int) -> str | None:
    """Return the running job."""
    with reading(engine) as session:
        job = session.scalar(select(Job).where(Job.project_id == project, Job.state == "running"))
        return job.id if job is not None else None


def _newest_round(engine: Engine, project: int) -> int:
    with reading(engine) as session:
        return session.scalar(select(Round.number).where(Round.project_id == project).order_by(Round.id.desc())) or 0


def _wait_until(what: Callable[[], bool]) -> None:
    """Wait until the condition holds. Raises TimeoutError if it takes too long."""
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE:.0f} s in vain")
        time.sleep(0.1)


def compared(
    engine: Engine, project: int, annotators: list[Annotator], kills: Counter[str], seconds: float, votes: int = 1
) -> Outcome:
    """Compare the database with what was acknowledged, and check rounds and jobs. votes: answers a pair may get."""
    with reading(engine) as session:
        rows = session.execute(select(Answer.key, Answer.annotator, Answer.left_id, Answer.right_id)).all()
        numbers = session.scalars(select(Round.number).where(Round.project_id == project)).all()
        jobs = session.scalars(select(Job).where(Job.project_id == project)).all()
    stored, pairs = Counter(row.key for row in rows), Counter((row.left_id, row.right_id) for row in rows)
    own = Counter((row.annotator, row.left_id, row.right_id) for row in rows)
    keys = {key for one in annotators for key in one.acknowledged}
    return Outcome(
        kills=dict(kills),
        acknowledged=len(keys),
        lost=len(keys - stored.keys()),
        doubled=sum(count - 1 for counted in (stored, own, Counter(numbers)) for count in counted.values()),
        shared=sum(max(count - votes, 0) for count in pairs.values()),
        rounds=len(set(numbers)),
        undone=[f"{job.id}: {job.state}, {job.error}" for job in jobs if job.state not in ("done", *OPEN)],
        wrong=list(problems(engine)),
        seconds=seconds,
    )


def command(about: str | None, run: Callable[..., Any], acts: Sequence[str] = ()) -> int:
    """Run this as the command line says and print the outcome; return 0 if it is clean, else 1.

    acts: of which one alone can be chosen.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    if acts:
        parser.add_argument("--only", choices=acts, default="")
    options = parser.parse_args()
    only = {"only": options.only} if acts else {}
    with installation(options.database) as folder:
        found = run(folder, options.kills, options.seed, **only)
    print(found)
    return 0 if found.clean else 1


if __name__ == "__main__":
    raise SystemExit(command(__doc__, faults))
