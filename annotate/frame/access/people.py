"""People and their roles, as administrators manage them. Each function is one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.passwords import hash_of
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.domain import EventKind, Role
from allpairs.db.errors import InputError
from allpairs.db.people import people
from allpairs.db.people.logins import end_logins, logins_of, logins_seen, open_invitations
from allpairs.db.projects.events import add_event
from allpairs.db.projects.projects import project_named
from allpairs.db.schema.engine import person_of, reading
from allpairs.db.schema.tables import Login, Person, Project


@dataclass(frozen=True)
class PersonRow:
    """A person, with their role in each project by its name."""

    id: int
    name: str
    administrator: bool
    disabled: bool
    roles: dict[str, Role]
    browsers: int  # in which they are signed in
    seen_at: datetime | None


@dataclass(frozen=True)
class OpenInvitation:
    """An invitation that nobody has used yet."""

    id: int
    role: Role
    made_by: str
    expires_at: datetime


def add_account(
    engine: Engine,
    name: str,
    password: str | None,
    time: datetime,
    administrator: bool = False,
    subject: tuple[str, str] | None = None,
) -> None:
    """Add an account. subject: issuer and id of a person who signs in through an OpenID Connect provider.

    Raises InputError for a name that is invalid or taken, and for a password that is too short.
    """
    people.checked_person_name(name)
    hashed = None if password is None else hash_of(password)
    with acting(engine, Right.INSTALL) as session:
        _add(session, name, hashed, time, administrator, subject)


def add_first(engine: Engine, name: str, password: str, time: datetime) -> None:
    """Add the first account, an administrator of the installation: from then on everybody signs in.

    Raises InputError for a name or a password that is invalid, and if there is an account already: of two people who
    do this at once, one is refused.
    """
    people.checked_person_name(name)
    hashed = hash_of(password)
    with acting(engine, Right.INSTALL) as session:
        people.require_nobody(session)
        _add(session, name, hashed, time, administrator=True)


def _add(
    session: Session,
    name: str,
    hashed: str | None,
    time: datetime,
    administrator: bool,
    subject: tuple[str, str] | None = None,
) -> None:
    issuer, at_issuer = subject or (None, None)
    person = people.add_person(session, name, hashed, time, issuer, at_issuer, administrator)
    new = {"administrator": administrator}
    add_event(session, person_of(session.connection()), EventKind.ACCOUNT, subject=person.name, new=new)


def set_password(engine: Engine, name: str, password: str, time: datetime) -> None:
    """Set the person's password and end all their logins."""
    hashed = hash_of(password)
    with acting(engine, Right.INSTALL) as session:
        person = people.person_named(session, name)
        person.password = hashed
        end_logins(session, person.id, time)
        add_event(session, person_of(engine), EventKind.PASSWORD, subject=person.name)


def set_role_of(engine: Engine, person_id: int, project_id: int, role: Role | None, time: datetime) -> None:
    """Give the person this role in the project, or remove them from it (None).

    Raises Refused without the right, and InputError for one's own role, so that nobody locks themselves out.
    """
    with acting(engine, Right.PEOPLE, project_id, put_away=True) as session:
        if person_of(engine) == person_id:
            raise InputError("you cannot change your own role: ask another administrator")
        person = _person(session, person_id)
        role_before = people.roles_of(session, person_id).get(project_id)
        people.set_role(session, person, project_id, role, time)
        if role != role_before:
            add_event(session, person_of(engine), EventKind.ROLE, project_id, person.name, role_before, role)


def set_role_by_name(engine: Engine, name: str, project: str, role: Role | None, time: datetime) -> None:
    """Give the named person this role in the named project. Raises InputError if either does not exist."""
    with reading(engine) as session:
        person_id = people.person_named(session, name).id
        project_id = project_named(session, project).id
    set_role_of(engine, person_id, project_id, role, time)


def set_administrator(engine: Engine, name: str, administrator: bool, time: datetime) -> None:
    """Make the person an administrator of the whole installation, or not. Raises InputError for the last one."""
    with acting(engine, Right.INSTALL) as session:
        person = people.person_named(session, name)
        if not administrator:
            require_another(session, person)
        was_administrator = person.administrator
        person.administrator = administrator
        person.changed_at = time
        add_event(
            session, person_of(engine), EventKind.ADMINISTRATOR, None, person.name, was_administrator, administrator
        )


def disable(engine: Engine, person_id: int, time: datetime) -> None:
    """Disable the person: all their logins end at once. Their answers stay, and their name stays taken.

    Raises Refused without the right, and InputError for the last administrator of the installation.
    """
    with acting(engine, Right.INSTALL) as session:
        person = _person(session, person_id)
        require_another(session, person)
        person.disabled_at = person.changed_at = time
        end_logins(session, person.id, time)
        add_event(session, person_of(engine), EventKind.DISABLED, subject=person.name)


def enable(engine: Engine, person_id: int, time: datetime) -> None:
    """Let the person sign in again, with the roles they had. Raises Refused without the right."""
    with acting(engine, Right.INSTALL) as session:
        person = _person(session, person_id)
        person.disabled_at = None
        person.changed_at = time
        add_event(session, person_of(engine), EventKind.ENABLED, subject=person.name)


def end_all_logins(engine: Engine, person_id: int, time: datetime) -> int:
    """End all logins of the person and return how many there were. Raises Refused without the right."""
    with acting(engine, Right.INSTALL) as session:
        person = _person(session, person_id)
        add_event(session, person_of(engine), EventKind.LOGGED_OUT, subject=person.name)
        return end_logins(session, person.id, time)


def has_password(engine: Engine, person_id: int) -> bool:
    """Return whether the person signs in with a password that is stored here."""
    with reading(engine) as session:
        return _person(session, person_id).password is not None


def where_logged_in(engine: Engine, person_id: int, time: datetime) -> Sequence[Login]:
    """Return the person's logins, the newest first."""
    with reading(engine) as session:
        return logins_of(session, person_id, time)


def id_of(engine: Engine, name: str) -> int:
    """Return the id of the person of this name. Raises InputError if there is none."""
    with reading(engine) as session:
        return people.person_named(session, name).id


def list_people(engine: Engine, time: datetime) -> list[PersonRow]:
    """Return everybody, by name."""
    with reading(engine) as session:
        names: dict[int, str] = dict(session.execute(select(Project.id, Project.name)).tuples().all())
        roles = people.all_roles(session)
        login_times = logins_seen(session, time)
        return [_row(person, roles[person.id], names, login_times) for person in people.all_people(session)]


def members(engine: Engine, project_id: int, time: datetime) -> list[tuple[PersonRow, Role]]:
    """Return who has a role in the project, by name, with the role."""
    with reading(engine) as session:
        login_times = logins_seen(session, time)
        return [(_row(person, {}, {}, login_times), role) for person, role in people.members_of(session, project_id)]


def invitations(engine: Engine, project_id: int, time: datetime) -> list[OpenInvitation]:
    """Return the project's unused invitations, the newest first."""
    with reading(engine) as session:
        open_rows = open_invitations(session, project_id, time)
        return [
            OpenInvitation(
                invitation.id, Role(invitation.role), _maker(session, invitation.made_by), invitation.expires_at
            )
            for invitation in open_rows
        ]


def _maker(session: Session, person_id: int | None) -> str:
    person = session.get(Person, person_id) if person_id is not None else None
    return person.name if person is not None else "the command line"


def _row(
    person: Person, roles: dict[int, Role], names: dict[int, str], login_times: dict[int, tuple[int, datetime]]
) -> PersonRow:
    logins, last_seen = login_times.get(person.id, (0, None))
    in_projects = {names[project_id]: role for project_id, role in roles.items() if project_id in names}
    disabled = person.disabled_at is not None
    return PersonRow(person.id, person.name, person.administrator, disabled, in_projects, logins, last_seen)


def _person(session: Session, person_id: int) -> Person:
    person = session.get(Person, person_id)
    if person is None:
        raise InputError(f"there is no person number {person_id}: reload the page")
    return person


def require_another(session: Session, person: Person) -> None:
    """Raise InputError for the last administrator of the installation: without one, nobody could be let in.

    Until this transaction ends, nobody else can change an administrator.
    """
    people.people_alone(session)
    other_administrators = select(func.count()).where(
        Person.administrator, Person.disabled_at.is_(None), Person.id != person.id
    )
    if person.administrator and person.disabled_at is None and not session.scalar(other_administrators):
        raise InputError(f"{person.name!r} is the last administrator of the installation: appoint another one first")
