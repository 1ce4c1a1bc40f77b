"""Nothing goes on in a project that is archived, in the bin or removed: operations and commands say where it is."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.projects.lifecycle import archive_project, bin_project
from allpairs.annotate.projects.projects import delete_project
from allpairs.db.domain import Role
from tests.helpers.api import body_of, member
from tests.helpers.factories import make_project, make_round, row_counts
from tests.helpers.services.annotate_cli import annotate

NAME = "Questions"
FOREIGN = re.compile(r"Traceback|sqlalchemy|\w+(Error|Exception)\b|NoneType")
READING = ("project", "labels", "groups", "group_changes", "text_changes", "metrics", "list_jobs", "job", "show_rater",
           "list_webhooks", "list_deliveries", "list_publications", "verdicts")  # fmt: skip
COMMANDS = (
    "project archive", "labels import {0} FILE", "texts add {0} FILE", "texts withdraw {0} FILE", "texts undo",
    "people invite", "webhooks add {0} https://example.com/hook", "webhooks delete {0} 1", "publish",
    "publish {0} --end", "rater set {0} --name A --function judges:judge", "rater run", "rater end", "rater resume",
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
    places = {"FILE": str(folder / "rows.csv"), "OUT": str(folder / "out.csv"), "{0}": NAME}
    return [
        [places.get(word, word) for word in (line if "{0}" in line else f"{line} {{0}}").split()] for line in templates
    ]


@pytest.mark.parametrize(("put_away", "where"), PUT_AWAY)
def test_every_operation_and_command_says_where_the_project_is(
    engine: Engine, tmp_path: Path, put_away: Callable[[Engine, int], None], where: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    project_id = make_project(engine, [f"text {i}" for i in range(8)], name=NAME, auto_train=False)
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
