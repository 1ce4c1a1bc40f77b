"""Logs for programs: each line is a JSON object that names job, project and person, but no texts or secrets."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine

from allpairs.db.domain import Role
from allpairs.db.errors import InputError
from allpairs.db.files.logs import JsonLines, about, configure
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import writing
from allpairs.learner.jobs.queue.job_state import job_state
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.web import member

Lines = Callable[[], list[dict[str, object]]]
PROCESS = """
import logging, threading, warnings
from allpairs.db.files.logs import configure
library = logging.getLogger("library")
library.addHandler(logging.StreamHandler())
library.propagate = False
access = logging.getLogger("uvicorn.access")
access.setLevel("INFO")
access.addHandler(logging.StreamHandler())
configure()
access.info("GET /invitation/secret")
library.warning("one")
library.info("of others only warnings are logged")
logging.getLogger("allpairs.learner.worker").info("two")
warnings.warn("three")
for name in ("library", "late"):  # they add handlers after our configuration
    late = logging.getLogger(name)
    late.addHandler(logging.StreamHandler())
    late.propagate = False
    late.error("four", exc_info=ValueError("of somebody"))
late.error("five\\nTraceback (most recent call last):\\n  ValueError: of somebody")
thread = threading.Thread(target=int, args=["of somebody"])
thread.start()
thread.join()
class Deleted:
    def __del__(self): int("of somebody")
Deleted()
int("of somebody")
"""


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[Lines]:
    """Yield a function that returns the logged lines as JSON."""
    before = caplog.handler.formatter
    caplog.handler.setFormatter(JsonLines())
    caplog.set_level(logging.INFO)
    yield lambda: [json.loads(line) for line in caplog.text.splitlines()]
    caplog.handler.setFormatter(before)


def test_a_process_logs_json_alone_libraries_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_LOG", "json")
    ended = subprocess.run([sys.executable, "-c", PROCESS], cwd=ROOT, capture_output=True, text=True, check=False)
    one, two, three, *errors = map(json.loads, ended.stderr.splitlines())
    assert (one["logger"], one["level"], one["message"]) == ("library", "warning", "one")
    assert (two["logger"], two["level"]) == ("allpairs.learner.worker", "info")
    assert "three" in three["message"]
    assert [line["message"].strip()[:4] for line in errors[:3]] == ["four", "four", "five"]
    assert [line["error"] for line in errors if "error" in line] == ["ValueError"] * 5
    assert ended.returncode == 1 and "somebody" not in ended.stderr


def test_a_line_says_what_failed_and_where_but_not_the_words(told: Lines) -> None:
    try:
        raise ValueError("a text\nof somebody")
    except ValueError:
        with about(project=7):
            logging.getLogger("allpairs").warning("two\nlines", exc_info=True)
    (line,) = told()
    assert (line["message"], line["project"], line["error"]) == ("two\nlines", 7, "ValueError")
    assert "test_a_line_says" in str(line["trace"]) and "somebody" not in str(line)
    assert str(line["time"]).endswith("+00:00")


def test_what_a_worker_logs_names_the_job(engine: Engine, told: Lines) -> None:
    project = make_project(engine, ["a", "b"])
    with writing(engine) as session:
        job = add_job(session, project, "audit").id
    with pytest.raises(ValueError, match="of somebody"), job_state(job):
        raise ValueError("a text of somebody")
    logging.getLogger("allpairs").warning("something else")
    begun, failed, other = told()
    assert {"level": "info", "job": job, "project": project}.items() <= begun.items()
    assert {"level": "error", "job": job}.items() <= failed.items()
    assert "somebody" not in str(failed) and "job" not in other


def test_what_the_app_logs_names_the_person(engine: Engine, told: Lines) -> None:
    project = make_project(engine, ["a", "b"])
    ann = member(engine, project, Role.ANNOTATOR)
    wrong = {"answers": [{"key": "k", "task_id": 99, "answer": "positive", "note": "a remark"}]}
    assert ann.post(f"/projects/{project}/answers", json=wrong).status_code == 200
    (line,) = [line for line in told() if line["logger"] == "allpairs.annotate.features.label.queue"]
    assert (line["person"], line["project"]) == (1, project)
    assert "a remark" not in str(line)


def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_LOG", "xml")
    with pytest.raises(InputError, match="'text' or 'json'"):
        configure()
