"""People's changes are recorded with who, when and what, in the same transaction, never with a secret."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.labels.import_labels import import_labels
from allpairs.annotate.features.projects.history import changes, events, guidelines_of
from allpairs.annotate.features.projects.lifecycle import (
    archive_project,
    bin_project,
    duplicate_project,
    restore_project,
)
from allpairs.annotate.features.projects.projects import create_project, delete_project, update_settings
from allpairs.annotate.frame.access import invitations, logins, people
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.db.corpus.corpus import Corpus, CorpusItem
from allpairs.db.domain import EventKind, Kind, Role, Settings, Side, version_of
from allpairs.db.errors import InputError
from allpairs.db.projects.events import add_event
from allpairs.db.schema.engine import as_person, reading, writing
from allpairs.db.schema.tables import Event, Project
from tests.helpers.factories import make_project
from tests.helpers.people import PASSWORD, START, at, make_member, make_person, token_of


@pytest.fixture
def project(engine: Engine) -> int:
    return make_project(engine, [f"text {i}" for i in range(6)], name="Mine")


def settings_of(engine: Engine, project_id: int) -> Settings:
    with reading(engine) as session:
        return Settings.model_validate(session.get_one(Project, project_id).settings)


def told(engine: Engine, project_id: int | None) -> list[tuple[str, str, str, Any, Any]]:
    """Return who, kind, about, old and new of the events, oldest first."""
    shown = events(engine, project_id, 100).events
    return [(one.who, one.kind, one.about, one.old, one.new) for one in reversed(shown)]


def test_a_changed_setting_is_recorded_with_both_values(engine: Engine, project: int) -> None:
    _, mine = make_member(engine, project, Role.ADMINISTRATOR)
    settings = settings_of(engine, project)
    update_settings(mine, project, settings)
    update_settings(mine, project, settings.model_copy(update={"first": 64, "guidelines": "Be kind."}))
    (event,) = [one for one in events(mine, project, 100).events if one.kind == EventKind.SETTINGS]
    assert (event.who, event.about) == ("administrator", "Mine")
    assert event.old == {"guidelines": "", "first": 40} and event.new == {"guidelines": "Be kind.", "first": 64}
    assert changes(event) == [f"guidelines: version {version_of('')} → version {version_of('Be kind.')}",
                              "first: 40 → 64"]  # fmt: skip
    assert guidelines_of(event) == ("", "Be kind.")


def test_an_act_that_fails_leaves_no_event(engine: Engine, project: int) -> None:
    before = told(engine, project)
    with pytest.raises(InputError, match="evaluation share must stay"):
        update_settings(engine, project, settings_of(engine, project).model_copy(update={"evaluation_share": 0.5}))
    with pytest.raises(RuntimeError), writing(engine) as session:
        add_event(session, None, EventKind.ARCHIVED, project)
        raise RuntimeError
    assert told(engine, project) == before


def test_archive_bin_copy_and_end_are_told(engine: Engine, project: int) -> None:
    archive_project(engine, project)
    restore_project(engine, project)
    bin_project(engine, project)
    with pytest.raises(InputError, match="already in the bin"):
        bin_project(engine, project)
    restore_project(engine, project)
    assert [kind for _, kind, *_ in told(engine, project)] == [
        "project archived", "project restored", "project put into the bin", "project restored",
    ]  # fmt: skip
    copy, name = duplicate_project(engine, project, labels=False)
    assert told(engine, copy) == [("", "project made", name, None, {"copy of": "Mine", "labels": False})]
    delete_project(engine, project)
    assert told(engine, None) == [("", "project removed for good", "Mine", None, None)]
    with reading(engine) as session:
        assert set(session.scalars(select(Event.project_id))) == {copy, None}


def test_imports_of_items_and_labels_are_told(engine: Engine, tmp_path: Path) -> None:
    items = [CorpusItem((f"id {i}",), Side.LEFT, f"text {i}") for i in range(5)]
    project_id = create_project(engine, "New", Corpus(Kind.SYMMETRIC, items, []), Settings(evaluation_share=0))
    path = tmp_path / "labels.csv"
    path.write_text("id1,id2,label\nid 0,id 1,1\nid 0,id 2,0\n")
    import_labels(engine, "New", path)
    import_labels(engine, "New", path)  # stores nothing
    assert told(engine, project_id) == [
        ("", "project made", "New", None, {"items": 5, "known pairs": 0}),
        ("", "labels imported", "labels.csv", None, {"labels": 2}),
    ]


def test_roles_and_invitations_are_told(engine: Engine, project: int) -> None:
    _, mine = make_member(engine, project, Role.ADMINISTRATOR)
    ben = make_person(engine, "Ben")
    for role in (Role.VIEWER, Role.VIEWER, Role.ANNOTATOR, None):
        people.set_role_of(mine, ben, project, role, START)
    unused = invitations.invite(mine, project, Role.VIEWER, 7, START)
    invitations.withdraw(mine, project, people.invitations(engine, project, START)[0].id, START)
    used = invitations.invite(mine, project, Role.ADJUDICATOR, 7, START)
    invitations.accept_as_new(engine, token_of(used), "Cleo", PASSWORD, at(1))
    with pytest.raises(InputError):
        invitations.accept_as_new(engine, token_of(unused), "Dan", PASSWORD, at(1))
    assert told(mine, project)[1:] == [
        ("administrator", "role changed", "Ben", None, "viewer"),
        ("administrator", "role changed", "Ben", "viewer", "annotator"),
        ("administrator", "role changed", "Ben", "annotator", None),
        ("administrator", "invitation made", "", None, {"role": "viewer", "days": 7}),
        ("administrator", "invitation withdrawn", "", {"role": "viewer"}, None),
        ("administrator", "invitation made", "", None, {"role": "adjudicator", "days": 7}),
        ("Cleo", "invitation used", "Cleo", None, "adjudicator"),
    ]
    assert told(engine, None)[-1] == ("Cleo", "account made", "Cleo", None, {"administrator": False})


def test_accounts_are_told_without_their_secrets(engine: Engine, project: int) -> None:
    root = make_person(engine, "Root", administrator=True)
    mine = as_person(engine, root)
    ben = make_person(engine, "Ben")
    token = logins.log_in(engine, "Ben", PASSWORD, "1.1.1.1", START)
    guest = logins.guest_of(engine, token, START)
    assert guest is not None
    logins.change_own_password(engine, guest, PASSWORD, "another password", "1.1.1.1", START)
    people.set_password(mine, "Ben", "yet another password", START)
    people.set_administrator(mine, "Ben", True, START)
    people.end_all_logins(mine, ben, START)
    people.disable(mine, ben, START)
    people.enable(mine, ben, START)
    path = invitations.invite(mine, project, Role.VIEWER, 7, START)
    assert told(mine, None) == [
        ("", "account made", "Root", None, {"administrator": True}),
        ("", "account made", "Ben", None, {"administrator": False}),
        ("Ben", "password changed", "Ben", None, None),
        ("Root", "password changed", "Ben", None, None),
        ("Root", "administrator changed", "Ben", False, True),
        ("Root", "logins ended", "Ben", None, None),
        ("Root", "account disabled", "Ben", None, None),
        ("Root", "account enabled", "Ben", None, None),
    ]
    kept = repr([told(mine, None), told(mine, project)])
    assert not any(secret in kept for secret in ("password'", "argon2", token, token_of(path)))


@pytest.mark.parametrize("role", [Role.ADJUDICATOR, Role.ANNOTATOR, Role.VIEWER])
def test_only_administrators_read_events(engine: Engine, project: int, role: Role) -> None:
    _, mine = make_member(engine, project, role)
    _, administrator = make_member(engine, project, Role.ADMINISTRATOR)
    for which in (project, None):
        with pytest.raises(Refused):
            events(mine, which, 10)
    assert events(administrator, project, 1).total == 2  # both roles
    with pytest.raises(Refused):
        events(administrator, None, 10)
