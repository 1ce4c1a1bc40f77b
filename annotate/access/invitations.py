"""Links that let one person join a project."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.access.passwords import hash_of
from allpairs.annotate.access.roles import Right
from allpairs.annotate.access.transactions import acting
from allpairs.annotate.language.translator import later
from allpairs.db.domain import EventKind, Role
from allpairs.db.errors import InputError
from allpairs.db.people import logins
from allpairs.db.people.people import add_person, checked_person_name, role_in, set_role
from allpairs.db.projects.events import add_event
from allpairs.db.projects.projects import live_project
from allpairs.db.schema.engine import as_system, person_of, reading, writing
from allpairs.db.schema.tables import Invitation, Person, Project

PATH = "invitation"  # followed by the token
LONGEST = 30  # days
SPENT = later("this invitation was already used, has expired, or never existed: ask for a new one")


@dataclass(frozen=True)
class Offer:
    """What an invitation offers: a role in a project."""

    project: str
    role: Role
    until: datetime


def invite(engine: Engine, project_id: int, role: Role, days: int, at: datetime) -> str:
    """Return the path of a link that lets one person join the project within `days` days. It is not stored.

    Raises Refused without the right to invite, and InputError for days out of range.
    """
    if not 1 <= days <= LONGEST:
        raise InputError(f"an invitation can be valid for 1 to {LONGEST} days, not {days}")
    with acting(engine, Right.PEOPLE, project_id) as session:
        live_project(session, project_id)
        token = logins.add_invitation(session, project_id, role, person_of(engine), at, timedelta(days=days))
        add_event(session, person_of(engine), EventKind.INVITED, project_id, new={"role": role, "days": days})
        return f"{PATH}/{token}"


def offer_of(engine: Engine, token: str, at: datetime) -> Offer:
    """Return what the invitation offers.

    Raises InputError if it is not valid.
    """
    with reading(as_system(engine)) as session:
        invitation, project = _open(session, token, at)
        return Offer(project.name, Role(invitation.role), invitation.expires_at)


def accept(engine: Engine, token: str, person_id: int, at: datetime) -> None:
    """Add somebody who has an account to the project. A role that allows more is kept.

    Raises InputError if the invitation is not valid.
    """
    with writing(as_system(engine)) as session:
        _enter(session, token, session.get_one(Person, person_id), at)


def accept_as_new(engine: Engine, token: str, name: str, password: str, at: datetime) -> str:
    """Add a new person to the project and return the token of their login.

    Raises InputError if the invitation is not valid, the name is invalid or taken, or the password is too short.
    """
    offer_of(engine, token, at)  # before the password is hashed, which takes time
    checked_person_name(name)
    hashed = hash_of(password)
    with writing(as_system(engine)) as session:
        person = _add_invited(session, name, at, password=hashed)
        _enter(session, token, person, at)
        return logins.add_login(session, person.id, at)


def accept_by_subject(engine: Engine, token: str, name: str, issuer: str, subject: str, at: datetime) -> None:
    """Add a new person, who signs in through a provider, to the project. Raises InputError as `accept_as_new` does."""
    with writing(as_system(engine)) as session:
        _enter(session, token, _add_invited(session, name, at, issuer=issuer, subject=subject), at)


def _add_invited(
    session: Session,
    name: str,
    at: datetime,
    password: str | None = None,
    issuer: str | None = None,
    subject: str | None = None,
) -> Person:
    person = add_person(session, name, password, at, issuer, subject, takes_over=False)
    add_event(session, person.id, EventKind.ACCOUNT, about=person.name, new={"administrator": False})
    return person


def withdraw(engine: Engine, project_id: int, invitation_id: int, at: datetime) -> None:
    """Revoke the invitation. Raises Refused without the right to manage people."""
    with acting(engine, Right.PEOPLE, project_id) as session:
        invitation = session.get(Invitation, invitation_id)
        if invitation is not None and invitation.project_id == project_id and invitation.used_at is None:
            invitation.expires_at = min(at, invitation.created_at)  # over even if the clock is set back
            role = Role(invitation.role)
            add_event(session, person_of(engine), EventKind.WITHDRAWN, project_id, old={"role": role})


def _open(session: Session, token: str, at: datetime) -> tuple[Invitation, Project]:
    """Return the invitation and its project. Raises InputError if it is not valid, or if its maker may not invite."""
    invitation = logins.invitation_of(session, token, at)
    project = session.get(Project, invitation.project_id) if invitation is not None else None
    if invitation is None or project is None or project.deleted_at is not None or project.archived_at is not None:
        raise InputError(SPENT)
    maker = session.get(Person, invitation.made_by) if invitation.made_by is not None else None
    if maker is not None and (maker.disabled_at or role_in(session, maker, project.id) != Role.ADMINISTRATOR):
        raise InputError(SPENT)
    return invitation, project


def _enter(session: Session, token: str, person: Person, at: datetime) -> None:
    invitation, project = _open(session, token, at)
    if person.disabled_at is not None or not logins.use_invitation(session, invitation, person.id, at):
        raise InputError(SPENT)
    order = list(Role)  # from most to fewest rights
    had, role = role_in(session, person, project.id), Role(invitation.role)
    if had is None or order.index(role) < order.index(had):
        set_role(session, person, project.id, role, at)
    now_has = role_in(session, person, project.id)
    add_event(session, person.id, EventKind.INVITATION_USED, project.id, person.name, had, now_has)
