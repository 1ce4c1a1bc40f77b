"""The jobs page, without a browser."""

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.frame.access import people
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.ui import job_status, state
from allpairs.db.domain import Role
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Job, Worker, now
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_job, add_worker
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.people import make_member

PAGE = ROOT / "annotate" / "pages" / "jobs.py"
open_page = partial(opened, PAGE)
COMMAND = "allpairs worker"


def keys(page: AppTest) -> list[str | None]:
    return [button.key for button in page.button]


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    make_project(engine, ["x", "y"], name="Other")
    return make_project(engine, ["a", "b"])


def test_each_job_shows_its_state_and_only_open_ones_can_end(engine: Engine, project: int) -> None:
    states = ("done", "failed", "cancelled", "waiting", "running")
    for age, name in enumerate(states):
        since = now() - timedelta(minutes=30 - age)
        add_job(engine, project, name, state=name, stage="encode", fraction=0.5, created_at=since)
    page = open_page()
    shown = [text.value for text in page.markdown]
    assert [name for text in shown for name in states if name in text] == list(reversed(states))
    assert "running, requested 26 min ago" in "\n".join(text.value for text in page.caption)
    assert [bar.proto.text for bar in page.get("progress")] == [
        "encoding texts, 50%", "waits for “Train and prepare the next batch” (encoding texts, 50%)"
    ]  # fmt: skip
    assert keys(page) == ["cancel_running", "cancel_waiting"]


@pytest.mark.parametrize(
    ("project_ahead", "kind", "sees", "words"),
    [
        (
            "Other",
            "pipeline",
            True,
            "“Pipeline” of the project Other (mine (2 of 5): reading, 40%, about 4 min left); it",
        ),
        (
            "Other",
            "pipeline",
            False,
            "“Pipeline” of another project (40%, about 4 min left); it starts when the current",
        ),
        ("Other", "next_round", True, "of the project Other (mine (2 of 5): reading, 40%, about 4 min left)"),
        ("Questions", "next_round", False, "“Train and prepare the next batch” (mine (2 of 5): reading, 40%, about 4"),
    ],
)
def test_a_waiting_job_names_its_cause_to_those_who_may_see_it(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch, project_ahead: str, kind: str, sees: bool, words: str
) -> None:
    ahead, progress = project if project_ahead == "Questions" else project - 1, {"fraction": 0.4, "seconds_left": 240}
    add_job(engine, ahead, "ahead", kind=kind, state="running", stage="mine (2 of 5): reading", **progress)
    add_job(engine, project, "waiting", state="waiting")
    viewer_id, viewer = make_member(engine, project, Role.VIEWER)
    if sees:
        people.set_role_of(engine, viewer_id, project - 1, Role.VIEWER, now())
    for module in (job_status, state):
        monkeypatch.setattr(module, "engine", lambda: viewer)
    waiting = open_jobs.find_job(engine, project, "waiting")
    assert waiting is not None
    said = job_status.progress_in_words(waiting)
    assert words in said
    assert sees or project_ahead == "Questions" or ("Other" not in said and "mine" not in said)
    with writing(engine) as session:  # a worker of its own for each queue: nothing is in its way
        session.query(Job).where(Job.id == "ahead").update({"kind": "audit"})
    assert job_status.progress_in_words(waiting) == "waiting for a worker"


def test_jobs_of_other_projects_are_not_shown(engine: Engine, project: int) -> None:
    add_job(engine, project - 1, "other", state="running")
    page = open_page()
    assert "no jobs yet" in page.info[0].value
    assert keys(page) == ["train_now"]


def test_a_failed_job_shows_a_sentence_the_traceback_and_a_retry(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_job(
        engine,
        project,
        "j",
        state="failed",
        error="The *encoder* is gone",
        traceback="Traceback:\n  <b>",
    )
    asked: list[int] = []
    monkeypatch.setattr(jobs, "request_round", lambda engine, project_id: asked.append(project_id))
    page = open_page()
    assert page.error[0].value == "The \\*encoder\\* is gone"
    assert [folded.label for folded in page.expander] == ["Traceback"]
    assert page.code[0].value == "Traceback:\n  <b>"
    assert page.button(key="train_now").label == "Try again"
    page.button(key="train_now").click().run()
    assert asked == [project]


def test_a_failed_job_without_words_still_says_something(engine: Engine, project: int) -> None:
    add_job(engine, project, "j", state="failed")
    page = open_page()
    assert "failed without a message" in page.error[0].value
    assert not page.expander


def test_old_jobs_are_counted_not_shown(engine: Engine, project: int) -> None:
    for number in range(23):
        add_job(engine, project, f"job-{number}", state="done")
    page = open_page()
    assert "3 older jobs" in page.caption[-1].value


def test_workers_that_are_alive_are_listed(engine: Engine, project: int) -> None:
    add_worker(engine, "desk")
    with writing(engine) as session:
        session.add(Worker(executor_id="old", host="attic", pid=2, device="cuda", seen_at=now() - timedelta(hours=1)))
    table = open_page().dataframe[0].value
    desk = {"Host": "desk", "Process": "4711", "Device": "cpu", "Queue": "cpu", "Last seen": "just now"}
    assert table.to_dict("records") == [desk]


def test_without_a_worker_the_page_names_the_command(engine: Engine, project: int) -> None:
    page = open_page()
    assert page.warning[0].value.startswith("No worker is running")
    assert page.code[0].value == COMMAND


def test_without_a_project_workers_are_still_shown(engine: Engine, home: Path) -> None:
    page = open_page()
    assert "no project yet" in page.info[0].value
    assert page.code[0].value == COMMAND
