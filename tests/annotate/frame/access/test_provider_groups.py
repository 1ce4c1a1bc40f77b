"""Groups of an identity provider: how they are written, and what they give."""

from typing import Any

import pytest
from sqlalchemy import Engine

from allpairs.annotate.frame.access import people
from allpairs.annotate.frame.access.provider_groups import follow, groups_from, join, wanted_roles
from allpairs.db.domain import Role
from allpairs.db.errors import InputError
from tests.helpers.factories import make_project
from tests.helpers.people import at, make_person

ISSUER = "https://id.example"


def entry(name: str, role: str = "annotator", project: str | None = "Mine", issuer: str = ISSUER) -> dict[str, Any]:
    return {"issuer": issuer, "name": name, "role": role} | ({} if project is None else {"project": project})


def test_the_highest_role_of_the_providers_own_groups_is_wanted() -> None:
    groups = groups_from([
        entry("a"), entry("b", "adjudicator"), entry("c", "viewer"), entry("d", project="Other"),
        entry("a", "administrator", issuer="https://another.example"),
    ])  # fmt: skip
    assert wanted_roles(groups, ISSUER, ["a", "b", "c"]) == {"Mine": Role.ADJUDICATOR, "Other": None}
    assert wanted_roles(groups, ISSUER, "d") == {"Mine": None, "Other": Role.ANNOTATOR}
    for nothing in (None, 7, {"a": 1}, []):
        assert wanted_roles(groups, ISSUER, nothing) == {"Mine": None, "Other": None}
    assert wanted_roles(groups, "https://unknown.example", ["a"]) == {}


@pytest.mark.parametrize(
    "wrong",
    [
        entry("a", "boss"),
        entry("a", "annotator", None),
        entry(""),
        entry("a", issuer=""),
        entry("a") | {"projekt": "x"},
    ],
)
def test_a_wrong_entry_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="entry 2 of"):
        groups_from([entry("a"), wrong])


def test_groups_decide_only_on_projects_that_they_name(engine: Engine) -> None:
    mine, other = make_project(engine, ["a", "b"], name="Mine"), make_project(engine, ["a", "b"], name="Other")
    make_person(engine, "Root", administrator=True)
    people.add_account(engine, "Olga", None, at(), subject=(ISSUER, "42"))
    olga = people.id_of(engine, "Olga")
    for project in (mine, other):
        people.set_role_of(engine, olga, project, Role.VIEWER, at())
    follow(engine, ISSUER, "42", {"Mine": Role.ANNOTATOR, "Gone": Role.VIEWER}, at())
    follow(engine, ISSUER, "another", {"Mine": Role.ADMINISTRATOR}, at())
    assert people.list_people(engine, at())[0].roles == {"Mine": Role.ANNOTATOR, "Other": Role.VIEWER}
    follow(engine, ISSUER, "42", {"Mine": None}, at())
    assert people.list_people(engine, at())[0].roles == {"Other": Role.VIEWER}


def test_no_group_takes_away_the_last_administrator(engine: Engine) -> None:
    people.add_account(engine, "Olga", None, at(), administrator=True, subject=(ISSUER, "42"))
    follow(engine, ISSUER, "42", {None: None}, at())
    assert people.list_people(engine, at())[0].administrator
    make_person(engine, "Root", administrator=True)
    follow(engine, ISSUER, "42", {None: None}, at())
    assert not people.list_people(engine, at())[0].administrator


def test_nobody_joins_without_a_group(engine: Engine) -> None:
    with pytest.raises(InputError, match="no group"):
        join(engine, "Olga", ISSUER, "42", {"Mine": None}, at())
    assert people.list_people(engine, at()) == []
