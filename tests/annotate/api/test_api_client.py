"""The client of docs/api.md, verbatim, against a server in a process of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from allpairs import ApiError, Client, InputError
from allpairs.annotate.features.team.ui.api_examples import VARIABLE, curl_lines, python_lines
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.access.roles import MAY
from allpairs.db.domain import Role, Scope
from allpairs.db.labels.answers import current_labels
from allpairs.db.schema.engine import database_url, reading, writing
from allpairs.db.schema.tables import Item, Project, Worker, now
from tests.helpers.browser import App
from tests.helpers.factories import make_groups, make_round
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.machine import ROOT, Require, free_port
from tests.helpers.people import make_person


@pytest.fixture
def app(engine: Engine, home: Path) -> Iterator[App]:
    with writing(engine) as session:  # else the app starts one
        session.add(Worker(executor_id="test", host="test", pid=0, device="cpu", seen_at=now().replace(year=2100)))
    app = App(home, free_port(), database=database_url())
    app.start()
    yield app
    app.stop()


def test_the_client_in_the_docs_labels_and_reads_figures(engine: Engine, app: App, tmp_path: Path) -> None:
    project_id = make_measured_project(engine, rounds=2, half_width=0.05)
    make_round(engine, project_id, 30)
    carl = make_person(engine, "Carl", project_id, Role.ADJUDICATOR)
    token = tokens.make(engine, carl, "client", now(), days=1)
    source = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "api.md").read_text(), re.DOTALL)
    assert source is not None
    client = tmp_path / "client.py"
    client.write_text(source.group(1))

    def run(token: str, project: str = "Help desk questions") -> subprocess.CompletedProcess[str]:
        environment = {"ALLPAIRS_URL": app.url, "ALLPAIRS_TOKEN": token, "PATH": os.environ["PATH"]}
        command = [sys.executable, str(client), project]
        environment |= {"PYTHONPATH": str(ROOT)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    ran = run(token)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"^20 pairs labelled\n(\w+: \d+\.\d{3} \(\d+\.\d{3} to \d+\.\d{3}\)\n)+$", ran.stdout), ran.stdout
    with reading(engine) as session:
        assert sum(label.annotator == "Carl" for label in current_labels(session, project_id)) == 20
    wrong = run("allpairs_wrong")
    assert wrong.returncode == 1 and wrong.stderr.startswith("401: this token"), wrong.stderr
    assert "Help desk questions" in run(token, "nothing").stderr
    with reading(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project_id)).all()
    make_groups(engine, project_id, [items[:2], items[2:4]])
    dora = make_person(engine, "Dora", project_id, Role.ADMINISTRATOR, administrator=True)
    use_all_of_it(app, tokens.make(engine, dora, "all", now(), 1, scopes=[*Scope]))


def use_all_of_it(app: App, token: str) -> None:
    """Read labels and jobs, start a round and cancel it, set a machine rater up and end it."""
    client = Client(app.url, token)
    project = client.project("Help desk questions")
    assert len([label for label in project.labels() if label["annotator"] == "Carl"]) == 20
    last = max(label["cursor"] for label in project.labels())
    assert list(project.labels(after=last)) == []
    assert [(group["id"], len(group["texts"])) for group in project.groups()] == [("g1", 2), ("g2", 2)]
    first, second = project.group_changes()
    assert (first["group"], first["event"]) == ("g1", "made") and list(project.group_changes(first["cursor"])) == [
        second
    ]
    (task,) = project.tasks(1)
    assert project.answer({task["id"]: "unsure", 999_999: "positive"})[0]["reason"]
    assert project.change_texts({"new": "A new text"}, dry_run=True)["new"] == 1
    assert project.change_texts({"new": "A new text"})["change"] == 1
    assert project.withdraw_texts(["new"])["withdrawn"] == 1
    assert project.rater() == {"raters": [], "worth": None}
    (rater,) = project.set_rater("local", url="http://localhost:1/v1", model="m")["raters"]
    assert rater["leaves"] and project.resume_rater()["raters"] == [rater]
    dry = project.run_rater(3, dry_run=True)
    asking = project.run_rater(3)
    assert dry["job"] is None and dry["pairs"] == asking["pairs"] == 3
    project.cancel(asking["job"])
    assert project.end_rater()["raters"][0]["ended_at"] and list(project.verdicts()) == []
    job = project.train()
    assert project.job(job["id"])["state"] == "waiting" and project.jobs()[0]["id"] == job["id"]
    with pytest.raises(ApiError, match="unknown, revoked or expired") as refused:
        Client(app.url, "allpairs_wrong").projects()
    assert refused.value.status == 401
    project.cancel(job["id"])
    assert project.job(job["id"])["state"] == "cancelled"
    with pytest.raises(ConnectionError, match="is it running"):
        Client(f"http://localhost:{free_port()}").projects()
    with pytest.raises(InputError, match="http://"):
        Client("localhost:8501")


def test_the_lines_of_the_page_api_work_as_they_stand(engine: Engine, app: App, require: Require) -> None:
    require(shutil.which("curl") is not None, "curl is missing: install it")
    project_id = make_measured_project(engine, name="Help 'desk' \"questions\"", rounds=2)
    make_round(engine, project_id, 30)
    with reading(engine) as session:
        project = session.get_one(Project, project_id)
    for role in (None, *Role):  # None: without accounts; the first account ends that
        token = role and tokens.make(engine, make_person(engine, role, project_id, role), "lines", now())
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)} | ({VARIABLE: token} if token else {})
        wanted = (app.url, project, MAY[role or Role.ADMINISTRATOR], token is not None)
        for title, line in curl_lines(*wanted).items():
            ran = subprocess.run(f"{line} --fail --silent --show-error", shell=True, env=environment,
                                 capture_output=True, text=True, timeout=60)  # fmt: skip
            assert ran.returncode == 0 and json.loads(ran.stdout), (role, title, ran.stderr)
        command = [sys.executable, "-c", python_lines(*wanted)]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0 and ran.stdout, (role, ran.stderr)
