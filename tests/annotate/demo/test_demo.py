"""The demo project: its first batch is the one the job would make, and it is made once."""

import csv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Engine

from allpairs.annotate import demo
from allpairs.annotate.features.label.queue import serve
from allpairs.annotate.features.projects.projects import delete_project, list_projects
from allpairs.annotate.kit.jobs.open_jobs import read_jobs
from scripts.demo_batch import first_batch


def test_the_file_holds_the_batch_that_the_job_would_make(home: Path) -> None:
    with (demo.FOLDER / "first_batch.csv").open(newline="") as file:
        stored = [(row["id1"], row["id2"], float(row["score"])) for row in csv.DictReader(file)]
    made = list(first_batch())
    assert {pair[:2] for pair in made} == {pair[:2] for pair in stored}
    assert [score for *_, score in made] == pytest.approx([score for *_, score in stored], abs=1e-4)


def test_an_empty_database_gets_the_demo_once(engine: Engine) -> None:
    demo.ensure_demo(engine)
    demo.ensure_demo(engine)
    (project,) = list_projects(engine)
    pairs, standing = serve(engine, project.id, "me")
    assert (project.name, len(pairs), standing.progress.size) == (demo.NAME, 40, 40)
    assert [job.state for job in read_jobs(engine, project.id)] == ["waiting"]  # measures the encoder meanwhile


def test_two_apps_that_start_at_once_make_one(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    both, load = Barrier(2), demo.stage_corpus

    def loaded(*files: Any, **options: Any) -> Any:
        both.wait(30)  # neither has seen a project of the other's
        return load(*files, **options)

    monkeypatch.setattr(demo, "stage_corpus", loaded)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(demo.ensure_demo, [engine, engine]))
    assert len(list_projects(engine)) == 1


def test_the_demo_can_be_declined(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_DEMO", "0")
    demo.ensure_demo(engine)
    assert list_projects(engine) == []


def test_a_deleted_demo_comes_back_only_to_an_empty_database(engine: Engine) -> None:
    demo.ensure_demo(engine)
    delete_project(engine, list_projects(engine)[0].id)
    demo.ensure_demo(engine)
    assert [project.name for project in list_projects(engine)] == [demo.NAME]
