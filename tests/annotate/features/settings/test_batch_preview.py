"""Previews in the app: alongside other jobs, validated, and compared with the entered settings."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.features.settings import batch_preview
from allpairs.annotate.kit.jobs.open_jobs import JobProgress, cancel, newest_progress, read_newest_job
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import PREVIEW
from allpairs.db.results.job_results import Preview, preview_path
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Job
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_job, add_worker
from tests.helpers.projects.results import ENTERED, make_preview


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, ["one", "two", "three"])


def read_preview(project_id: int, strategy: str) -> Preview | None:
    return read_result(preview_path(project_id, strategy), Preview)


def test_a_preview_waits_beside_the_job_at_work(engine: Engine, project: int) -> None:
    training = request_round(engine, project)
    asked = batch_preview.request_preview(engine, project, ENTERED)
    add_worker(engine)
    progress = newest_progress(engine, project, PREVIEW)
    assert progress.job is not None
    assert (progress.job.id, progress.job.state, progress.has_worker) == (asked, "waiting", True)
    assert request_round(engine, project) == training


def test_a_preview_keeps_no_other_job_waiting(engine: Engine, project: int) -> None:
    asked = batch_preview.request_preview(engine, project, ENTERED)
    assert read_newest_job(engine, project) is None
    training = request_round(engine, project)
    newest = read_newest_job(engine, project)
    assert newest is not None and newest.id == training != asked


def test_one_preview_at_a_time(engine: Engine, project: int) -> None:
    first = batch_preview.request_preview(engine, project, ENTERED)
    with pytest.raises(InputError, match="preview is being made"):
        batch_preview.request_preview(engine, project, ENTERED)
    cancel(engine, first)
    assert batch_preview.request_preview(engine, project, ENTERED) != first


@pytest.mark.parametrize("wrong", [{"neighbours": 0}, {"strategy": "stratified-match"}, {"strategy": "none"}])
def test_settings_that_are_not_possible_ask_for_nothing(engine: Engine, project: int, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="settings: "):
        batch_preview.request_preview(engine, project, ENTERED | wrong)
    with reading(engine) as session:
        assert session.scalars(select(Job)).all() == []


def test_without_a_job_or_a_worker(engine: Engine, project: int) -> None:
    add_job(engine, project, state="done")
    assert newest_progress(engine, project, PREVIEW) == JobProgress(None, False)
    assert read_preview(project, "uncertainty") is None


def test_a_stored_preview_is_read_back_with_its_texts(engine: Engine, project: int) -> None:
    made = make_preview(engine, project, p=None)
    assert read_preview(project, "uncertainty") == made
    assert read_preview(project, "random") is None
    [pair] = batch_preview.previewed_pairs(engine, project, made)
    assert (pair.left, pair.right, pair.score, pair.p) == ("one", "two", 0.75, None)
    newer = make_preview(engine, project, neighbours=7)
    assert read_preview(project, "uncertainty") == newer
    assert [path.name for path in (artifacts() / f"project-{project}" / "previews").iterdir()] == ["uncertainty.json"]


def test_values_that_decide_about_the_pairs_are_compared(engine: Engine, project: int) -> None:
    made = make_preview(engine, project, per_text=2)
    assert batch_preview.changed_since(made, ENTERED | {"per_text": 2, "epochs": 9, "encoder": "other"}) == []
    assert batch_preview.changed_since(made, ENTERED | {"neighbours": 7}) == ["neighbours", "per_text"]
    untrained = make_preview(engine, project, matcher=None)
    assert batch_preview.changed_since(untrained, ENTERED | {"encoder": "other"}) == ["encoder"]


def test_previews_go_with_their_project(engine: Engine, project: int) -> None:
    make_preview(engine, project)
    with writing(engine) as session:
        session.add(Job(id="p", project_id=project, kind=PREVIEW, state="done"))
    delete_project(engine, project)
    again = make_project(engine, ["four", "five"])
    assert read_preview(again, "uncertainty") is None
