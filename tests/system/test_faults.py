"""Faults around the app: a full disk, a read-only or restarting database, jumping clocks, no memory, killed processes.

Each gives one clear line, and nothing acknowledged is lost or half-written.
"""

import errno
import shutil
import subprocess
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest
from sqlalchemy import Engine, select
from sqlalchemy.exc import DBAPIError, OperationalError
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.label import queue
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.frame.access import logins
from allpairs.db.maintenance.backup import backup
from allpairs.db.maintenance.error_messages import in_words
from allpairs.db.maintenance.integrity import problems
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import make_engine, migrate, reading, writing
from allpairs.db.schema.tables import Answer, Job, now
from allpairs.learner.jobs.data.stored_vectors import load_vectors, save_vectors
from allpairs.learner.jobs.queue import job_state as state
from allpairs.learner.jobs.queue import recovery
from allpairs.learner.jobs.queue.job_state import job_state
from allpairs.learner.jobs.queue.progress import Reporter
from allpairs.learner.runtime.array_file import new_array_file
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT, Require, fill_disk
from tests.helpers.people import PASSWORD, START, make_person
from tests.helpers.services.servers import Server, is_postgres_missing


def make_batch(engine: Engine, pairs: int = 6) -> int:
    project = make_project(engine, [f"text {at}" for at in range(6)], auto_train=False)
    make_round(engine, project, pairs)
    return project


def tell(engine: Engine, project: int, key: str, note: str = "") -> list[str]:
    """Answer the next pair, and return the acknowledged keys."""
    pairs, _ = serve(engine, project, "ann")
    event = {"key": key, "task_id": pairs[0].task_id, "answer": "positive", "seconds": 1.0, "note": note}
    return record(engine, project, "ann", [event]).stored


def stored_keys(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return list(session.scalars(select(Answer.key).order_by(Answer.id)))


def test_a_full_disk_loses_nothing_and_is_said(on_disk: Engine, disk: Path) -> None:
    project = make_batch(on_disk)
    told = tell(on_disk, project, "before")
    filler = fill_disk(disk)
    with pytest.raises(DBAPIError) as raised:
        for at in range(200):  # the log of SQLite may still have some room
            told += tell(on_disk, project, f"full-{at}", "note " * 300)
    assert "disk is full, and nothing" in str(in_words(raised.value))
    filler.unlink()
    assert stored_keys(on_disk) == told and list(problems(on_disk)) == []
    assert tell(on_disk, project, "after") == ["after"]


def test_a_full_disk_leaves_no_half_of_a_file(on_disk: Engine, disk: Path) -> None:
    path = disk / "home" / "artifacts" / "vectors.npy"
    save_vectors(path, np.ones((10, 10), np.float32), [])
    make_batch(on_disk)
    fill_disk(disk)
    with pytest.raises(OSError, match="No space left") as raised:
        save_vectors(path, np.zeros((1000, 1000), np.float32), [])
    assert "The disk is full" in str(in_words(raised.value))
    with pytest.raises((OSError, DBAPIError)):
        backup(on_disk, disk / "backups" / "b.db")
    assert not (disk / "backups" / "b.db").exists() and list(disk.rglob("*.tmp")) + list(disk.rglob("*.part")) == []
    assert (load_vectors(path) == 1).all()


def test_a_disk_that_became_read_only_is_said(on_disk: Engine, disk: Path) -> None:
    project = make_batch(on_disk)
    told = tell(on_disk, project, "before")
    on_disk.dispose()
    before = shutil.copytree(disk / "home", disk / "copy")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with pytest.raises(DBAPIError) as raised:
        tell(on_disk, project, "after")
    assert "Cannot write to" in str(in_words(raised.value))
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert stored_keys(on_disk) == told
    assert (before / "allpairs.db").is_file()
    assert tell(on_disk, project, "after") == ["after"]


def test_the_page_says_that_nothing_can_be_stored(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OperationalError("INSERT INTO leases …", {}, Exception("attempt to write a readonly database"))

    make_batch(engine)
    script = ROOT / "annotate" / "pages" / "label.py"
    monkeypatch.setattr(queue, "lease_tasks", refuse)
    page = AppTest.from_file(str(script), default_timeout=30).run()
    assert not page.exception
    assert [error.value.startswith("Cannot write to") for error in page.error] == [True]
    monkeypatch.undo()


def test_what_says_nothing_of_disk_or_database_stays_as_it_is() -> None:
    assert in_words(ValueError("disk is full of values")) is None
    assert in_words(OSError(errno.ENOENT, "no such file")) is None
    assert in_words(OSError(errno.EACCES, "denied")) is not None


@pytest.mark.postgres
def test_a_database_that_is_restarted_loses_nothing(monkeypatch: pytest.MonkeyPatch, require: Require) -> None:
    require(not is_postgres_missing(), "PostgreSQL is missing: install the package postgresql")
    with TemporaryDirectory() as folder:
        server = Server(Path(folder))
        server.start()
        try:
            monkeypatch.setenv("ALLPAIRS_DATABASE_URL", server.url)
            monkeypatch.setenv("ALLPAIRS_HOME", f"{folder}/home")
            migrate(server.url)
            engine = make_engine(server.url)
            project = make_batch(engine)
            with writing(engine) as session:
                job = add_job(session, project, "next_round").id
            reporter = Reporter(engine, job, 0.0, 1.0)
            reporter("train", 0.1)
            told = tell(engine, project, "before")
            server.stop()
            with pytest.raises(OperationalError) as raised:
                tell(engine, project, "meanwhile")
            assert "database does not answer" in str(in_words(raised.value))
            reporter.looked = 0.0
            reporter("train", 0.2)  # the work goes on
            server.start()
            told += tell(engine, project, "meanwhile")
            assert stored_keys(engine) == told == ["before", "meanwhile"]
            reporter.looked = 0.0
            reporter("train", 0.3)
            with reading(engine) as session:
                assert session.get_one(Job, job).fraction == 0.3
            engine.dispose()
        finally:
            server.stop()


def test_a_job_ending_while_the_database_is_away_is_told_later(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[float] = []
    real = state.set_job_now

    def away_at_first(job_id: str, **columns: object) -> None:
        tries.append(time.monotonic())
        if len(tries) < 3:
            raise OperationalError("UPDATE", {}, Exception("connection refused"))
        real(job_id, **columns)

    monkeypatch.setattr(state, "set_job_now", away_at_first)
    monkeypatch.setattr(state, "WAIT", 0.01)
    job = make_job(engine)
    with job_state(job):
        pass
    with reading(engine) as session:
        assert (session.get_one(Job, job).state, len(tries)) == ("done", 3)


def make_job(engine: Engine, kind: str = "next_round") -> str:
    project = make_project(engine, ["a", "b"], name=kind)
    with writing(engine) as session:
        return add_job(session, project, kind).id


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:121] err == 0. DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_a_job_without_memory_fails_with_advice(engine: Engine, error: Exception) -> None:
    job = make_job(engine)
    with pytest.raises(type(error)), job_state(job):
        raise error
    with reading(engine) as session:
        row = session.get_one(Job, job)
    assert row.state == "failed"
    assert "ran out of memory" in (row.error or "")


def test_vectors_that_do_not_fit_the_disk_are_an_error(disk: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        new_array_file(disk / "vectors.npy", np.float32, (100_000, 384))
    assert not list(disk.iterdir())


def test_leases_and_logins_outlive_a_clock_that_jumps(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_batch(engine)
    clock = [now()]
    monkeypatch.setattr(queue, "now", lambda: clock[0])
    mine = [pair.task_id for pair in serve(engine, project, "ann", 3)[0]]
    clock[0] -= timedelta(days=400)  # set back: what others hold stays theirs, and answers are stored
    assert not set(mine) & {pair.task_id for pair in serve(engine, project, "ben", 2)[0]}
    answer = {"task_id": mine[0], "answer": "negative", "seconds": 1.0}
    assert record(engine, project, "ann", [{"key": "back", **answer}]).stored == ["back"]
    clock[0] += timedelta(days=800)  # set forward: leases are over, and an answer to one is stored all the same
    assert record(engine, project, "ann", [{"key": "late", **answer, "task_id": mine[1]}]).stored == ["late"]
    assert mine[2] in {pair.task_id for pair in serve(engine, project, "cem", 6)[0]}
    assert stored_keys(engine) == ["back", "late"] and list(problems(engine)) == []
    make_person(engine, "Zoë")
    token = logins.log_in(engine, "zoë", PASSWORD, "1.1.1.1", START)
    assert logins.guest_of(engine, token, START - timedelta(days=400)) is not None
    assert logins.guest_of(engine, token, START + timedelta(days=400)) is None


def test_a_job_that_never_came_into_the_queue_is_found(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    lost, other = make_job(engine), make_job(engine, "audit")
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(recovery.DBOS, "list_workflows", lambda **_: [])
    monkeypatch.setattr(recovery.DBOS, "enqueue_workflow_with_options", lambda *options: asked.append(options))
    recovery.find_lost_jobs(engine)
    assert asked == []  # the app may be about to ask
    with writing(engine) as session:
        for job in session.scalars(select(Job)):
            job.created_at -= recovery.LOST * 2
    recovery.find_lost_jobs(engine)
    assert [options[0]["workflow_id"] for options in asked] == [lost]  # type: ignore[index]
    with reading(engine) as session:
        assert session.get_one(Job, lost).state == "waiting"
        assert "try again" in str(session.get_one(Job, other).error)


def test_a_job_that_is_over_and_could_not_say_so_has_failed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    states = {
        "ERROR": "audit",
        "SUCCESS": "explore",
        "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "matches",
        "ENQUEUED": "preview",
    }
    ids, told = {status: make_job(engine, kind) for status, kind in states.items()}, make_job(engine)
    with writing(engine) as session:
        session.get_one(Job, told).state = "done"
    found = [SimpleNamespace(workflow_id=job_id, status=status) for status, job_id in ids.items()]
    asked: list[set[str]] = []

    def listed(workflow_ids: list[str], **_: object) -> list[SimpleNamespace]:
        asked.append(set(workflow_ids))
        return found

    monkeypatch.setattr(recovery.DBOS, "list_workflows", listed)
    recovery.mark_ended_jobs(engine)
    assert asked == [set(ids.values())]
    with reading(engine) as session:
        rows = {status: session.get_one(Job, job_id) for status, job_id in ids.items()}
        assert [row.state for row in rows.values()] == ["failed", "failed", "failed", "waiting"]
        assert "could not be stored" in str(rows["ERROR"].error) and "5 times" in str(
            rows["MAX_RECOVERY_ATTEMPTS_EXCEEDED"].error
        )
