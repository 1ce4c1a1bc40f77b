"""Every page says in a sentence what is the matter: its project gone, its models lost, its reader's role taken away."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.access import logins, people
from allpairs.annotate.projects.lifecycle import archive_project, bin_project
from allpairs.annotate.projects.projects import delete_project, project_by_name
from allpairs.annotate.shell.menu import ENTRIES, WITHOUT_PROJECT
from allpairs.annotate.ui import state
from allpairs.db.files.home import artifacts
from allpairs.db.schema.tables import now
from tests.helpers.every_page import NAME, WHO, fill
from tests.helpers.pages import open_page, said
from tests.helpers.paths import ROOT
from tests.helpers.people import PASSWORD

APP = ROOT / "annotate" / "shell" / "app.py"
FOREIGN = re.compile(r"Traceback|Errno|No such file|sqlalchemy|\w+(Error|Exception)\b|NoneType|object has no")


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
    fill(engine, home)
    monkeypatch.setattr(state, "KEPT", 0.0)
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
        assert file in ("projects", "rest_api", "account") or f"There is no project named {NAME}" in words, file
        assert "Empty" not in words and "Busy" not in words

    monkeypatch.setattr(state, "login_token", lambda: who[WHO])
    states = (
        (archive_project, f"{NAME} is archived", 1),
        (bin_project, f"{NAME} is in the bin", 3),  # the frame says it in the same way on each page
        (delete_project, f"There is no project named {NAME}", 4),
    )
    for put_away, where, step in states:
        put_away(engine, project_id)
        for file, words in every_page(root, step):
            assert file in WITHOUT_PROJECT or where in words, (file, where)
