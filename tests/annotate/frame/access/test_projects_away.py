"""A project that is away takes no acts: pages, operations and commands say where it is, and what they lack."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.features.projects.lifecycle import archive_project, bin_project
from allpairs.annotate.features.projects.projects import delete_project, project_by_name
from allpairs.annotate.frame.access import logins, people
from allpairs.annotate.kit.ui import state
from allpairs.annotate.shell.menu import ENTRIES, WITHOUT_PROJECT
from allpairs.db.domain import Role
from allpairs.db.files.home import artifacts
from allpairs.db.schema.tables import now
from tests.helpers.every_page import NAME, WHO, fill_every_page
from tests.helpers.factories import make_project, make_round, row_counts
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page, said
from tests.helpers.people import PASSWORD
from tests.helpers.services.commands import annotate
from tests.helpers.web import body_of, member

APP = ROOT / "annotate" / "shell" / "app.py"
QUESTIONS = "Questions"
FOREIGN = re.compile(r"Traceback|Errno|No such file|sqlalchemy|\w+(Error|Exception)\b|NoneType|object has no")
READING = ("project", "labels", "groups", "group_changes", "text_changes", "metrics", "list_jobs", "job", "show_rater",
           "list_webhooks", "list_deliveries", "list_publications", "verdicts", "decisions",
           "clean_list")  # fmt: skip
COMMANDS = (
    "project archive", "labels import {0} FILE", "texts add {0} FILE", "texts withdraw {0} FILE", "texts undo",
    "people invite", "webhooks add {0} https://example.com/hook", "webhooks delete {0} 1", "publish",
    "publish {0} --end", "rater set {0} --name A --url http://localhost:1/v1 --model m", "rater run",
    "rater end", "rater resume",
)  # fmt: skip
SHOWING = (
    "project show",
    "texts list",
    "webhooks list",
    "rater show",
    "labels export {0} --out OUT",
)
PUT_AWAY = [(archive_project, "archived"), (bin_project, "in the bin"), (delete_project, "removed")]


def commands(templates: tuple[str, ...], folder: Path) -> list[list[str]]:
    places = {"FILE": str(folder / "rows.csv"), "OUT": str(folder / "out.csv"), "{0}": QUESTIONS}
    return [
        [places.get(word, word) for word in (line if "{0}" in line else f"{line} {{0}}").split()] for line in templates
    ]


@pytest.mark.parametrize(("put_away", "where"), PUT_AWAY)
def test_every_operation_and_command_says_where_the_project_is(
    engine: Engine, tmp_path: Path, put_away: Callable[[Engine, int], None], where: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    project_id = make_project(engine, [f"text {i}" for i in range(8)], name=QUESTIONS, auto_train=False)
    make_round(engine, project_id, 4)
    (tmp_path / "rows.csv").write_text("id,text,id1,id2,label\nleft-0,a new text,left-0,left-1,1\n")
    root = member(engine, project_id, None, "Root", administrator=True)
    ann = member(engine, project_id, Role.ANNOTATOR, "Ann")
    put_away(engine, project_id)
    before = row_counts(engine)
    capsys.readouterr()
    for operation in OPERATIONS:
        if "{project_id}" not in operation.path:
            continue
        path = operation.path.format(project_id=project_id, job_id="none", webhook_id=1)
        answer = root.request(operation.method, path, json=body_of(operation.name))
        assert answer.status_code < 500 and not FOREIGN.search(answer.text), operation.name
        if operation.name not in (*READING, "cancel_job", "delete_webhook") or where != "archived":
            assert answer.status_code in (404, 409) and where in answer.json()["detail"], operation.name
    task = ann.post(f"/projects/{project_id}/tasks", json={"n": 1})
    assert task.status_code == (404 if where != "archived" else 409)
    for templates, acts in ((COMMANDS, True), (SHOWING, False)):
        for command in commands(templates, tmp_path):
            code = annotate(*command)
            words = "".join(capsys.readouterr())
            assert not FOREIGN.search(words), (command, words)
            if where == "archived" and not acts:
                assert code == 0, (command, words)
            else:
                said = "no project named" if where == "removed" else where
                assert code == 2 and said in words and words.count("\n") == 1, (command, words)
    assert row_counts(engine) == before  # nothing was written


def every_page(page: AppTest, step: int = 1) -> Iterator[tuple[str, str]]:
    """Open every page of the menu; yield its file and what it says, after checking that it says it in our words."""
    for entry in ENTRIES[::step]:
        page.query_params["project"] = NAME
        page.switch_page(f"../pages/{entry.file}.py").run()
        assert not page.exception, (entry.file, page.exception)
        words = said(page) + "\n".join(toast.value for toast in page.toast)
        assert not FOREIGN.search(words), (entry.file, words)
        assert str(artifacts()) not in words, (entry.file, words)
        yield entry.file, words


def test_every_page_says_what_is_the_matter(engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_every_page(engine, home)
    monkeypatch.setattr(state, "REMEMBERED", 0.0)
    who = {name: logins.log_in(engine, name, PASSWORD, "1.1.1.1", now()) for name in (WHO, "Vera")}
    project_id = project_by_name(engine, NAME).id
    monkeypatch.setattr(state, "login_token", lambda: who[WHO])
    root = open_page(APP, project=NAME)
    shutil.rmtree(artifacts(), ignore_errors=True)  # its models and all that jobs have left
    assert sum(NAME in words for _, words in every_page(root)) > len(ENTRIES) / 2

    monkeypatch.setattr(state, "login_token", lambda: who["Vera"])
    vera = open_page(APP, project=NAME)
    people.set_role_by_name(engine, "Vera", NAME, None, now())
    for file, words in every_page(vera):
        assert file in ("projects", "rest_api", "account") or f"project named {NAME}" in words, file
        assert "Empty" not in words and "Busy" not in words

    monkeypatch.setattr(state, "login_token", lambda: who[WHO])
    states = (
        (archive_project, f"{NAME} is archived", 1),
        (bin_project, f"{NAME} is in the bin", 3),  # the frame says it in the same way on each page
        (delete_project, f"project named {NAME}", 4),
    )
    for put_away, where, step in states:
        put_away(engine, project_id)
        for file, words in every_page(root, step):
            assert file in WITHOUT_PROJECT or where in words, (file, where)
