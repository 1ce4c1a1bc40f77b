"""Whoever names another project, or something of one, needs the right for it there: every act, as every role."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.download import routes as download_routes
from allpairs.annotate.features.papers import runs
from allpairs.annotate.features.projects import lifecycle, projects
from allpairs.annotate.frame.access import people, transactions
from allpairs.annotate.frame.access.roles import Right, role_may
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.annotate.kit.jobs import open_jobs, requests
from allpairs.db.domain import Role, Settings
from allpairs.db.errors import InputError
from allpairs.db.projects.projects import all_projects
from allpairs.db.schema.engine import artifacts, as_person, reading, writing
from allpairs.db.schema.tables import Base
from tests.helpers.machine import ROOT
from tests.helpers.people import START, make_person
from tests.helpers.projects.results import answering
from tests.helpers.projects.second_project import ANY, CALLS, DOWNLOADS, HERE, NOWHERE, THERE, Act, Asking
from tests.helpers.projects.two_projects import WHO, NoQueue, make_whole

INSTALLATION, NOBODY = "administrator of the installation", "nobody there"
EVERYBODY = (INSTALLATION, *Role, NOBODY)


class Undo(Exception):
    """Ends a transaction that is not to be kept."""


@contextmanager
def undone(engine: Engine) -> Iterator[Session]:
    """Open a session as `writing` does, and roll it back at the end."""
    with suppress(Undo), writing(engine) as session:
        yield session
        session.flush()
        raise Undo


@pytest.fixture
def asking(
    request: pytest.FixtureRequest, engine: Engine, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Asking:
    """Return who asks: the test's parameter says what they are in the other project."""
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *arguments: None)
    monkeypatch.setattr(open_jobs, "closing_client", NoQueue)
    answering(monkeypatch)
    mine, other = make_whole(engine, home, "Mine"), make_whole(engine, home, "Other")
    old = make_whole(engine, home, "Old").id
    lifecycle.archive_project(engine, old)
    third = make_person(engine, "Third", administrator=True)
    who = make_person(engine, WHO, administrator=request.param == INSTALLATION)
    if request.param != INSTALLATION:
        people.set_role_of(engine, who, mine.id, Role.ADMINISTRATOR, START)
    if request.param in set(Role):
        for project_id in (other.id, old):
            people.set_role_of(engine, who, project_id, request.param, START)
    export_project(engine, other.name, tmp_path / "other.zip")
    return Asking(as_person(engine, who), mine, other, old, third, tmp_path)


def allowed(role: str, right: Right | str | None) -> bool:
    """Return whether somebody with this role in the other project may do what takes this right there."""
    if right is NOWHERE:
        return False
    if role == INSTALLATION:
        return True
    return role in set(Role) and (right == ANY or role_may(Role(role), Right(right)))


def stored(engine: Engine) -> list[Any]:
    """Return all rows and all files."""
    with reading(engine) as session:
        rows = [list(map(tuple, session.execute(select(one)))) for one in Base.metadata.sorted_tables]
    return [*rows, sorted(artifacts().rglob("*"))]


def outcome(act: Act, a: Asking) -> str:
    try:
        act(a)
    except (Refused, InputError):
        return "refused"
    return "done"


@pytest.mark.parametrize(("asking", "role"), [(role, role) for role in EVERYBODY], indirect=["asking"])
def test_each_act_takes_the_right_in_the_second_project(
    asking: Asking, role: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for right in Right:
        assert transactions.allowed(asking.engine, right, asking.other.id) == allowed(role, right)
    acts = THERE | HERE | DOWNLOADS
    expected = {name: "done" if allowed(role, right) else "refused" for name, (right, _) in acts.items()}
    before = stored(engine)
    found = {name: outcome(act, asking) for name, (_, act) in acts.items() if expected[name] == "refused"}
    assert found == {name: said for name, said in expected.items() if said == "refused"}
    assert stored(engine) == before
    monkeypatch.setattr(transactions, "writing", undone)  # so that none is in the way of the next
    for name in HERE | DOWNLOADS | THERE:
        if expected[name] == "done":
            acts[name][1](asking)


@pytest.mark.parametrize(("asking", "role"), [(role, role) for role in EVERYBODY], indirect=["asking"])
def test_each_call_of_the_api_takes_it(asking: Asking, role: str, engine: Engine) -> None:
    refused = [act for right, act in CALLS.values() if not allowed(role, right)]
    before = stored(engine)
    assert {outcome(act, asking) for act in refused} == {"refused"}
    assert stored(engine) == before
    for right, act in CALLS.values():
        if allowed(role, right):
            act(asking)


@pytest.mark.parametrize("asking", [NOBODY, Role.VIEWER], indirect=True)
def test_a_run_in_use_elsewhere_stays_and_names_no_project(asking: Asking, engine: Engine) -> None:
    a, of_mine = asking, asking.mine.made("biencoder")
    projects.update_settings(engine, a.other.id, Settings(encoder=of_mine))
    with pytest.raises(InputError, match="encoder of the run") as caught:
        runs.delete_run(a.engine, a.mine.id, a.mine.run)
    with reading(a.engine) as session:
        seen = a.other.id in {project.id for project in all_projects(session)}
    assert ("'Other'" in str(caught.value)) == seen and Path(of_mine).exists()


def test_a_model_that_is_already_in_use_may_stay(engine: Engine, home: Path) -> None:
    """Settings that an administrator of the installation made do not stand in the way of other changes."""
    mine, other = make_whole(engine, home, "Mine"), make_whole(engine, home, "Other")
    used = Settings(encoder=other.trained)
    projects.update_settings(engine, mine.id, used)
    own = as_person(engine, make_person(engine, WHO, mine.id, Role.ADMINISTRATOR))
    projects.update_settings(own, mine.id, used.model_copy(update={"question": "The same?"}))
    with pytest.raises(Refused):
        projects.update_settings(own, mine.id, used.model_copy(update={"encoder": other.made("biencoder")}))


def test_no_act_is_missing_here() -> None:
    """Whoever adds an act that opens a transaction for a person, or a download, adds it above."""
    known = {name.partition(":")[0] for name in THERE}
    acts = {f"{path.stem}.{name}" for path in (ROOT / "annotate").rglob("*.py") for name in acting_in(path)}
    assert acts - known == set()
    routes = {route.path for route in download_routes.routes()}
    assert routes == {name.partition(",")[0] for name in DOWNLOADS}


def acting_in(path: Path) -> set[str]:
    """Return the module's public functions that call `acting`, or another of its functions that does."""
    calls = {
        made.name: {
            one.func.id for one in ast.walk(made) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
        }
        for made in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(made, ast.FunctionDef)
    }
    found = {"acting"}
    while more := {name for name, called in calls.items() if called & found} - found:
        found |= more
    return {name for name in found - {"acting"} if not name.startswith("_")}
