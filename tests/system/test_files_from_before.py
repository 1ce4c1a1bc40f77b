"""Open what the version before the folders wrote: database, models, archive, back-up, runs and queued jobs."""

import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.access.logins import log_in
from allpairs.annotate.exchange.backups import bring_back
from allpairs.annotate.exchange.project_import import import_project
from allpairs.annotate.explore.pair_reason import reasons
from allpairs.annotate.jobs.requests import cancel
from allpairs.annotate.jobs.result_files import read_results
from allpairs.annotate.labelling.queue import record, serve
from allpairs.annotate.labels.export import page_of_labels
from allpairs.annotate.monitor.round_tables import batches_table, estimates_table
from allpairs.annotate.monitor.rounds import read_report
from allpairs.annotate.pipelines import experiments, runs
from allpairs.annotate.projects.batch_preview import changed_since
from allpairs.annotate.projects.projects import checked_settings, list_projects, project_by_name, project_contents
from allpairs.annotate.text.measures import is_old
from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.errors import InputError
from allpairs.db.labels.tasks import newest_round
from allpairs.db.maintenance.integrity import problems
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.progress import no_progress
from allpairs.db.projects.jobs import OPEN
from allpairs.db.projects.matchers import matchers_of
from allpairs.db.results.experiments import experiment_folder, read_stored
from allpairs.db.results.explorations import exploration_folder, read_exploration, read_search
from allpairs.db.results.matches import read_matches
from allpairs.db.results.opinions import read_opinions
from allpairs.db.results.pipelines import pipeline_folder, read_artifacts, results_folder
from allpairs.db.results.previews import read_preview
from allpairs.db.schema.engine import artifacts, make_engine, newest_revision, reading, revision
from allpairs.db.schema.tables import Job, Round, Task, now
from allpairs.learner.files.match import Cut, match_corpus
from allpairs.learner.scoring.matcher import load_matcher
from tests.helpers.paths import ROOT

FILES = Path(__file__).parent / "files" / "before_folders.tar.xz"
MADE_AT = "/tmp/before-folders"
QUESTIONS, FILMS, COPY = "Questions", "Films", "Questions once more"
RENAMED = {"crowding": "hubness", "second_look": "double_check", "rush": "fast_answers"}  # settings, since then
COMMAND = [sys.executable, "-m", "allpairs", "worker", "--name", "desk"]  # the name of the worker that was killed


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Unpack the files and make their folder the working one: projects name their encoder relative to it."""
    folder = tmp_path / "before"
    with tarfile.open(FILES) as archive:
        archive.extractall(folder, filter="data")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def expected(files: Path) -> dict[str, Any]:
    """Return what the old version read from the files, and how it finished the open jobs."""
    found: dict[str, Any] = json.loads((files / "expected.json").read_text())
    return found


@pytest.fixture
def installed(files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Yield the old installation, opened as every start of the app does."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(files / "home"))
    for name in ("ALLPAIRS_DATABASE_URL", "ALLPAIRS_ARTIFACTS"):
        monkeypatch.delenv(name, raising=False)
    _move(files)
    upgrade()
    engine = make_engine()
    yield engine
    engine.dispose()


def _move(files: Path) -> None:
    """Put the folder's new place where files and finished steps name the old one."""
    for path in (files / "home").rglob("*.json"):
        text = path.read_text()
        if MADE_AT in text:
            path.write_text(text.replace(MADE_AT, str(files)))
    with closing(sqlite3.connect(files / "home" / "jobs.db")) as jobs, jobs:
        jobs.execute("UPDATE operation_outputs SET output = replace(output, ?, ?)", (MADE_AT, str(files)))


def same(found: Any, wanted: Any) -> None:
    """Fail unless both are equal, numbers to three digits: sums differ a little between processors."""
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    else:
        assert found == (pytest.approx(wanted, rel=1e-3, abs=1e-4) if isinstance(wanted, float) else wanted)


def rows(frame: pd.DataFrame) -> list[list[Any]]:
    """Return the frame's rows without the titles of measures, which are prose."""
    values = frame.drop(columns="measure", errors="ignore").to_json(orient="values", double_precision=15)
    found: list[list[Any]] = json.loads(values)
    return found


def id_of(engine: Engine, name: str) -> int:
    return project_by_name(engine, name).id


def settings_today(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the settings by their present names."""
    return {RENAMED.get(name, name): value for name, value in stored.items()}


def require_same_project(engine: Engine, name: str, wanted: dict[str, Any], own_rows: bool = True) -> None:
    """Fail unless the project reads as it did; without its own rows, labels are only counted: they have new keys."""
    project = project_by_name(engine, name)
    report, contents = read_report(engine, project.id), project_contents(engine, project.id)
    assert (project.kind, project.rounds, project.answers) == (wanted["kind"], wanted["rounds"], wanted["answers"])
    settings = project.settings.model_dump()
    assert {**settings, **settings_today(wanted["settings"])} == settings
    assert (contents.kept, contents.gold_positives) == (wanted["kept"], wanted["gold"])
    labels = page_of_labels(engine, project.id, 0, 1000)[0]
    assert not any(label.pop("withdrawn") for label in labels)  # they had no such column
    labels = [list(label.values()) for label in labels]
    assert labels == wanted["labels"] if own_rows else len(labels) == len(wanted["labels"])
    same(rows(estimates_table(report)), wanted["figures"])
    same(rows(batches_table(report)), wanted["batches"])


def test_the_database_is_whole_and_up_to_date(installed: Engine) -> None:
    assert revision(installed) == newest_revision()
    assert list(problems(installed)) == []
    assert sorted(project.name for project in list_projects(installed)) == sorted([QUESTIONS, FILMS, COPY])


@pytest.mark.parametrize("name", [QUESTIONS, FILMS, COPY])
def test_a_project_reads_as_it_did(installed: Engine, expected: dict[str, Any], name: str) -> None:
    require_same_project(installed, name, expected["projects"][name])


def test_settings_keep_what_was_chosen(installed: Engine) -> None:
    chosen = {"crowding": 0.1, "second_look": True, "rush": 7, "lexical": True, "votes": 3, "seed": 3}
    stored = project_by_name(installed, QUESTIONS).settings
    assert {name: getattr(stored, name) for name in settings_today(chosen)} == settings_today(chosen)
    assert stored.second_stage == "off"  # which nobody could choose then
    assert checked_settings(chosen).model_dump() == checked_settings(settings_today(chosen)).model_dump()


@pytest.mark.parametrize("name", [QUESTIONS, FILMS, COPY])
def test_the_next_pair_is_served_and_its_answer_stored(installed: Engine, expected: dict[str, Any], name: str) -> None:
    project = id_of(installed, name)
    pairs = serve(installed, project, "Dora", 3)[0]
    assert [[pair.left, pair.right] for pair in pairs] == expected["next"][name]
    before = project_by_name(installed, name).answers
    event = {"key": "dora-1", "task_id": pairs[0].task_id, "answer": "positive", "seconds": 2.0}
    assert record(installed, project, "Dora", [event]).stored == ["dora-1"]
    after = project_by_name(installed, name).answers
    assert sum(after.values()) == sum(before.values()) + (not pairs[0].again)


@pytest.mark.parametrize("name", [QUESTIONS, FILMS, COPY])
def test_the_scores_of_a_pair_are_still_told(installed: Engine, expected: dict[str, Any], name: str) -> None:
    project = id_of(installed, name)
    with reading(installed) as session:
        second = select(Task.id).join(Round).where(Round.project_id == project, Round.number == 2)
        task = session.scalars(second.order_by(Task.position)).first()
    assert task is not None
    scores = reasons(installed, project, task).scores
    same([[one.number, one.score, one.p] for one in scores], expected["why"][name])


def test_people_sign_in_with_their_passwords(installed: Engine) -> None:
    assert log_in(installed, "Ben", "staple correct horse", "127.0.0.1", now())
    with pytest.raises(InputError):
        log_in(installed, "Ben", "correct horse battery", "127.0.0.1", now())


def test_the_downloaded_model_scores_as_it_did(files: Path) -> None:
    details = json.loads((files / "model" / "matcher.json").read_text())
    layer = load_matcher(str(files / "model"), "cpu").layer
    assert layer is not None and (layer.w, layer.b) == (details["w"], details["b"])
    corpus = load_corpus(files / "lists" / "films.csv", files / "lists" / "reviews.csv")
    match_corpus(str(files / "model"), corpus, Cut(top=20), files / "again.csv", why=True)
    before, again = (pd.read_csv(files / name) for name in ("matched.csv", "again.csv"))
    numbers = before.select_dtypes("number").columns
    assert {"score", "p"} <= set(numbers) and len(again) == 20
    np.testing.assert_allclose(again[numbers], before[numbers], atol=1e-4)
    assert again["id1"].tolist() == before["id1"].tolist() and again["id2"].tolist() == before["id2"].tolist()


def test_the_archive_is_imported(files: Path, expected: dict[str, Any], engine: Engine) -> None:
    arrived = import_project(engine, files / "questions.zip", encoder="./tiny")
    assert (arrived.name, arrived.notes) == (QUESTIONS, [])
    require_same_project(engine, QUESTIONS, expected["projects"][COPY], own_rows=False)
    with reading(engine) as session:
        trained = matchers_of(session, arrived.project_id)[0]
    assert load_matcher(str(artifacts() / str(trained.folder)), "cpu").layer is not None
    assert list(problems(engine)) == []


def test_the_back_up_is_restored(files: Path, expected: dict[str, Any], engine: Engine) -> None:
    restored = bring_back(engine, files / "backup", False, no_progress)
    assert (restored["projects"], restored["people"]) == (3, 2)
    for name in (QUESTIONS, FILMS, COPY):
        require_same_project(engine, name, expected["projects"][name])
    assert list(problems(engine)) == []


def test_finished_runs_are_read(installed: Engine, expected: dict[str, Any]) -> None:
    at, films = expected["jobs"]["finished"], id_of(installed, FILMS)
    listed = {row.id: (row.name, row.state) for row in experiments.list_experiments(installed)}
    assert listed[at["experiment"]] == ("Done", "done")
    results = read_results(experiment_folder(at["experiment"]))
    assert [[one.name, one.csv.decode()] for one in results.tables] == expected["experiment"]
    assert results.report and results.figures
    began = {row.id: row.began for row in runs.list_runs(installed, id_of(installed, QUESTIONS))}[at["pipeline"]]
    assert began is not None and began.pipeline == "quip"
    made = runs.made_by(at["pipeline"])
    assert [[one.kind, one.title, one.about] for one in made] == expected["pipeline"] and made[0].path.is_dir()
    results = read_results(results_folder(at["pipeline"]))
    assert results.report and results.tables
    preview, matches = read_preview(films, "adaptive-retrieval"), read_matches(films)
    assert preview is not None and matches is not None
    same([[pair.left_id, pair.right_id, pair.score, pair.p] for pair in preview.pairs], expected["preview"])
    assert changed_since(preview, project_by_name(installed, FILMS).settings.model_dump()) == []
    assert [matches.pairs, matches.groups, matches.grouped] == expected["matches"]
    assert explored(installed, films) == expected["explored"]


def explored(engine: Engine, project_id: int) -> list[int]:
    """Return the pairs prepared for exploring, by model."""
    with reading(engine) as session:
        found = [read_exploration(exploration_folder(one)) for one in matchers_of(session, project_id) if one.number]
    return [one.pairs for one in reversed(found) if one is not None]


def states(engine: Engine) -> dict[str, str]:
    with reading(engine) as session:
        return {job.id: job.state for job in session.scalars(select(Job))}


def work(engine: Engine, files: Path) -> None:
    """Let a worker work until no job is open."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(COMMAND, cwd=files, env=environment, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 300
        while any(state in OPEN for state in states(engine).values()):
            assert process.poll() is None and time.monotonic() < end, states(engine)
            time.sleep(0.1)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("with_experiment", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_open_jobs_are_worked_to_their_end(
    installed: Engine, files: Path, expected: dict[str, Any], with_experiment: bool
) -> None:
    jobs, wanted, questions = expected["jobs"], expected["ended"], id_of(installed, QUESTIONS)
    cut_short = jobs["interrupted"]
    done = [  # steps that were finished, and must not be repeated
        artifacts() / f"project-{questions}" / cut_short["next_round"] / "model" / "model.safetensors",
        pipeline_folder(cut_short["pipeline"]) / "targets",
        next(experiment_folder(cut_short["experiment"]).rglob("done.json")),
    ]
    before = [path.stat().st_mtime_ns for path in done]
    if not with_experiment:  # which starts a process of its own for each run
        cancel(installed, cut_short["experiment"])
    work(installed, files)
    ended = states(installed)
    last = {cut_short["experiment"]: "done" if with_experiment else "cancelled"}
    assert ended == dict.fromkeys(ended, "done") | last
    assert [path.stat().st_mtime_ns for path in done] == before
    require_ends(installed, jobs, wanted)
    require_figures_over_all_pairs(installed, expected["projects"][FILMS]["figures"])
    if with_experiment:
        stored = read_stored(cut_short["experiment"])
        assert stored is not None and [run.state for run in stored.runs] == wanted["experiment"]


def require_ends(engine: Engine, jobs: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Fail unless the jobs made what the old version's worker made of them."""
    questions, films, copy = (id_of(engine, name) for name in (QUESTIONS, FILMS, COPY))
    with reading(engine) as session:
        newest = newest_round(session, questions)
        assert newest is not None
        tasks = session.scalars(select(Task).where(Task.round_id == newest.id).order_by(Task.position)).all()
        audits, corrections = (
            list(session.scalars(select(Round.size).where(Round.project_id == id_, Round.number.is_(None))))
            for id_ in (films, copy)
        )
        numbers = sorted(matcher.number for matcher in matchers_of(session, questions))
    assert (newest.number, newest.strategy, newest.size) == (wanted["number"], wanted["strategy"], wanted["size"])
    assert [[task.left_id, task.right_id] for task in tasks] == wanted["batch"]
    assert (numbers, audits, corrections) == (wanted["matchers"], wanted["sitting"], wanted["corrections"])
    same(rows(estimates_table(read_report(engine, questions))), wanted["figures"])
    made = read_artifacts(jobs["interrupted"]["pipeline"])
    assert [[one["kind"], one["title"], one["about"]] for one in made] == wanted["made"]
    require_answers(jobs, wanted, questions, explored(engine, questions))


def require_figures_over_all_pairs(engine: Engine, wanted: list[Any]) -> None:
    """Fail unless the old labels measure all pairs now, with intervals that overlap those of before."""
    report = read_report(engine, id_of(engine, FILMS))
    assert not any(is_old(evaluation) for _, evaluation in report.measured)
    for found, before in zip(rows(estimates_table(report)), wanted, strict=True):
        assert found[:3] == before[:3]
        value, low, high = found[3:6]
        assert low < value < high and max(low, before[4]) < min(high, before[5])


def require_answers(jobs: dict[str, Any], wanted: dict[str, Any], questions: int, prepared: list[int]) -> None:
    """Fail unless the jobs that change nothing left what they left in the old version."""
    search = read_search(questions, jobs["waiting"]["search"])
    preview, matches = read_preview(questions, "committee"), read_matches(questions)
    opinions = read_opinions(jobs["finished"]["pipeline"], jobs["waiting"]["opinions"])
    assert search is not None and preview is not None and matches is not None and opinions is not None
    same([[hit.item_id, hit.score, hit.p] for hit in search.hits], wanted["search"])
    same([list(asdict(pair).values()) for pair in preview.pairs], wanted["preview"])
    pairs, groups, grouped = wanted["matches"]
    assert [matches.pairs, matches.grouped] == [pairs, grouped]
    assert matches.groups == groups + 1  # since then an answer "no" divides a group
    same([one.margin for one in opinions.found], wanted["opinions"])
    assert prepared == wanted["explored"]
