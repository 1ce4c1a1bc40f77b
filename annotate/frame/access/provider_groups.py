"""Groups of an identity provider give roles here: at each sign-in, what the provider says holds."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.people import require_another
from allpairs.db.domain import EventKind, Role
from allpairs.db.errors import InputError
from allpairs.db.people.people import add_person, person_by_subject, roles_of, set_role
from allpairs.db.projects.events import add_event
from allpairs.db.projects.projects import project_named
from allpairs.db.schema.engine import as_system, writing
from allpairs.db.schema.tables import Person

FIELDS = {"issuer", "name", "role", "project"}
GroupRoles = Mapping[str | None, Role | None]  # the role in each project that groups decide on; None: the installation

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProviderGroup:
    """A group of a provider, and the role that it gives in a project; without one, in the installation."""

    issuer: str
    name: str
    role: Role
    project: str | None = None


def groups_from(entries: Iterable[Mapping[str, Any]]) -> tuple[ProviderGroup, ...]:
    """Return the groups of `[[groups]]` in Streamlit's secrets. Raises InputError for an entry that is wrong."""
    return tuple(_group(number, entry) for number, entry in enumerate(entries, 1))


def _group(number: int, entry: Mapping[str, Any]) -> ProviderGroup:
    place = f"secrets.toml, entry {number} of [[groups]]"
    if unknown := sorted(set(entry) - FIELDS):
        raise InputError(f"{place}: unknown {', '.join(unknown)}; it has {', '.join(sorted(FIELDS))}")
    if not entry.get("issuer") or not entry.get("name"):
        raise InputError(f"{place}: give the provider's issuer and the group's name")
    if entry.get("role") not in list(Role):
        raise InputError(f"{place}: the role is {entry.get('role')!r}; choose {', '.join(Role)}")
    role = Role(entry["role"])
    project = entry.get("project")
    if project is None and role != Role.ADMINISTRATOR:
        raise InputError(f"{place}: only the role administrator can be of the whole installation: name a project")
    return ProviderGroup(str(entry["issuer"]), str(entry["name"]), role, project and str(project))


def wanted_roles(groups: Iterable[ProviderGroup], issuer: str, claim: Any) -> GroupRoles:
    """Return the highest role that somebody's groups give in each project that this provider's groups decide on.

    claim: the provider's claim `groups`, a name or several.
    """
    names = {claim} if isinstance(claim, str) else set(claim) if isinstance(claim, list | tuple) else set()
    order = list(Role)
    roles = dict[str | None, Role | None]()
    for group in groups:
        if group.issuer == issuer:
            role_before = roles.setdefault(group.project, None)
            if group.name in names and (role_before is None or order.index(group.role) < order.index(role_before)):
                roles[group.project] = group.role
    return roles


def follow(engine: Engine, issuer: str, subject: str, roles: GroupRoles, time: datetime) -> None:
    """Give the person the roles that their groups give, and take away those that they give no more."""
    with writing(as_system(engine)) as session:
        person = person_by_subject(session, issuer, subject)
        if person is not None and person.disabled_at is None:
            _follow(session, person, roles, time)


def join(engine: Engine, name: str, issuer: str, subject: str, roles: GroupRoles, time: datetime) -> None:
    """Make an account for somebody whose groups give a role. Raises InputError for a name that is invalid or taken."""
    if not any(roles.values()):
        raise InputError("no group of yours has a role here: ask an administrator")
    with writing(as_system(engine)) as session:
        person = add_person(session, name, None, time, issuer, subject, takes_over=False)
        add_event(session, person.id, EventKind.ACCOUNT, subject=person.name, new={"administrator": False})
        _follow(session, person, roles, time)


def _follow(session: Session, person: Person, roles: GroupRoles, time: datetime) -> None:
    for name, role in sorted(
        roles.items(), key=lambda name_and_role: name_and_role[0] is not None
    ):  # what locks, before any change
        try:
            if name is None:
                _set_administrator(session, person, role is not None, time)
            else:
                _set_role(session, person, project_named(session, name).id, role, time)
        except InputError as error:  # a project that is gone, or the last administrator, must keep nobody out
            log.warning("a group of the provider gives no role to person %s: %s", person.id, error)


def _set_role(session: Session, person: Person, project_id: int, role: Role | None, time: datetime) -> None:
    role_before = roles_of(session, person.id).get(project_id)
    if role != role_before:
        set_role(session, person, project_id, role, time)
        add_event(session, None, EventKind.ROLE, project_id, person.name, role_before, role)


def _set_administrator(session: Session, person: Person, administrator: bool, time: datetime) -> None:
    if administrator != person.administrator:
        if not administrator:
            require_another(session, person)
        person.administrator = administrator
        person.changed_at = time
        add_event(session, None, EventKind.ADMINISTRATOR, None, person.name, not administrator, administrator)
