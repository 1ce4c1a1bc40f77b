"""Links that let one person join a project."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.passwords import hash_of
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.annotate.frame.language.translator import later
from allpairs.db.domain import EventKind, Role
from allpairs.db.errors import InputError
from allpairs.db.people import logins
from allpairs.db.people.people import add_person, anybody, checked_person_name, role_in, set_role
from allpairs.db.projects.events import add_event
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import as_system, person_of, reading, writing
from allpairs.db.schema.tables import Invitation, Person, Project

PATH = "invitation"  # followed by the token
LONGEST = 30  # days
UNKNOWN = later("there is no such invitation: check that the whole link was copied, or ask for a new one")
USED = later("this invitation was already used: if you used it, sign in; otherwise ask for a new one")
EXPIRED = later("this invitation expired on {day}: ask for a new one")
WITHDRAWN = later("this invitation was withdrawn: ask for a new one")
ARCHIVED = later("the project of this invitation is archived: ask an administrator to restore it")
IN_BIN = later("the project of this invitation is in the bin: ask an administrator to restore it")
NO_LONGER = later("whoever made this invitation may not invite people any more: ask an administrator for a new one")
DISABLED = later("your account is disabled: ask an administrator to enable it")
NOBODY = later("nobody signs in here yet: make an administrator first, with allpairs people add NAME --administrator")


class UsedError(InputError):
    """The invitation was used, perhaps by whoever opens it again."""


@dataclass(frozen=True)
class Offer:
    """What an invitation offers: a role in a project.

    gains: whether the person would get more rights. joined: whether they have used this invitation.
    """

    project: str
    role: Role
    expires_at: datetime
    current_role: Role | None
    gains: bool
    joined: bool


def invite(engine: Engine, project_id: int, role: Role, days: int, time: datetime) -> str:
    """Return the path of a link that lets one person join the project within `days` days. It is not stored.

    Raises Refused without the right to invite, and InputError for days out of range.
    """
    if not 1 <= days <= LONGEST:
        raise InputError(f"an invitation can be valid for 1 to {LONGEST} days, not {days}")
    with acting(engine, Right.PEOPLE, project_id) as session:
        token = logins.add_invitation(session, project_id, role, person_of(engine), time, timedelta(days=days))
        add_event(session, person_of(engine), EventKind.INVITED, project_id, new={"role": role, "days": days})
        return f"{PATH}/{token}"


def offer_of(engine: Engine, token: str, time: datetime, person_id: int = 0) -> Offer:
    """Return what the invitation offers to this person, if anybody is signed in.

    Raises InputError for a person who is disabled and, unless the person is in the project anyway, one that says why
    the invitation is not valid.
    """
    with reading(as_system(engine)) as session:
        invitation, project = _known(session, token)
        person = session.get(Person, person_id) if person_id else None
        if person is not None:
            _require_enabled(person)
        current_role = role_in(session, person, project.id) if person is not None else None
        problem = _why_closed(session, invitation, project, time)
        if problem is not None and (current_role is None or project.deleted_at is not None):
            raise problem
        role = Role(invitation.role)
        joined = person is not None and invitation.used_by == person.id
        gains = problem is None and _allows_more(role, current_role)
        return Offer(project.name, role, invitation.expires_at, current_role, gains, joined)


def accept(engine: Engine, token: str, person_id: int, time: datetime) -> str:
    """Add somebody who has an account to the project and return its name.

    Whoever would gain nothing keeps their role, and the invitation stays good for somebody else. Raises InputError if
    the invitation is not valid.
    """
    with writing(as_system(engine)) as session:
        return _enter(session, token, session.get_one(Person, person_id), time)


def accept_as_new(engine: Engine, token: str, name: str, password: str, time: datetime) -> str:
    """Add a new person to the project and return the token of their login.

    Raises InputError if the invitation is not valid, the name is invalid or taken, or the password is too short.
    """
    offer_of(engine, token, time)  # before the password is hashed, which takes time
    checked_person_name(name)
    hashed = hash_of(password)
    with writing(as_system(engine)) as session:
        person = _add_invited(session, name, time, password=hashed)
        _enter(session, token, person, time)
        return logins.add_login(session, person.id, time)


def accept_by_subject(engine: Engine, token: str, name: str, issuer: str, subject: str, time: datetime) -> None:
    """Add a new person, who signs in through a provider, to the project. Raises InputError as `accept_as_new` does."""
    offer_of(engine, token, time)
    with writing(as_system(engine)) as session:
        _enter(session, token, _add_invited(session, name, time, issuer=issuer, subject=subject), time)


def _add_invited(
    session: Session,
    name: str,
    time: datetime,
    password: str | None = None,
    issuer: str | None = None,
    subject: str | None = None,
) -> Person:
    person = add_person(session, name, password, time, issuer, subject, takes_over=False)
    add_event(session, person.id, EventKind.ACCOUNT, subject=person.name, new={"administrator": False})
    return person


def withdraw(engine: Engine, project_id: int, invitation_id: int, time: datetime) -> None:
    """Revoke the invitation. Raises Refused without the right to manage people."""
    with acting(engine, Right.PEOPLE, project_id, put_away=True) as session:
        invitation = session.get(Invitation, invitation_id)
        if invitation is not None and invitation.project_id == project_id and invitation.used_at is None:
            invitation.expires_at = min(time, invitation.created_at)  # over even if the clock is set back
            role = Role(invitation.role)
            add_event(session, person_of(engine), EventKind.WITHDRAWN, project_id, old={"role": role})


def _known(session: Session, token: str) -> tuple[Invitation, Project]:
    """Return the invitation and its project. Raises InputError if either is gone."""
    invitation = logins.invitation_of(session, token)
    if invitation is None:
        raise InputError(UNKNOWN)
    return invitation, project_of(session, invitation.project_id)


def _require_enabled(person: Person) -> None:
    if person.disabled_at is not None:  # since the page was opened: nobody who is disabled can sign in
        raise InputError(DISABLED)


def _why_closed(session: Session, invitation: Invitation, project: Project, time: datetime) -> InputError | None:
    """Return why nobody can accept the invitation; None if somebody can."""
    if project.deleted_at is not None:
        return InputError(IN_BIN)
    if invitation.used_at is not None:
        return UsedError(USED)
    if invitation.expires_at <= invitation.created_at:
        return InputError(WITHDRAWN)
    if invitation.expires_at <= time:
        return InputError(EXPIRED, day=f"{invitation.expires_at:%Y-%m-%d}")
    if project.archived_at is not None:
        return InputError(ARCHIVED)
    if not _maker_may_invite(session, invitation):
        return InputError(NO_LONGER)
    return None if anybody(session) else InputError(NOBODY)


def _maker_may_invite(session: Session, invitation: Invitation) -> bool:
    maker = session.get(Person, invitation.made_by) if invitation.made_by is not None else None
    if maker is None:
        return True
    return maker.disabled_at is None and role_in(session, maker, invitation.project_id) == Role.ADMINISTRATOR


def _allows_more(role: Role, current_role: Role | None) -> bool:
    order = list(Role)  # from most to fewest rights
    return current_role is None or order.index(role) < order.index(current_role)


def _enter(session: Session, token: str, person: Person, time: datetime) -> str:
    """Give the person the role if it allows more than theirs, which uses the invitation; return the project's name."""
    _require_enabled(person)
    invitation, project = _known(session, token)
    problem = _why_closed(session, invitation, project, time)
    if problem is not None:
        raise problem
    current_role = role_in(session, person, project.id)
    role = Role(invitation.role)
    if not _allows_more(role, current_role):
        return project.name
    if not logins.use_invitation(session, invitation, person.id, time):
        raise UsedError(USED)
    set_role(session, person, project.id, role, time)
    add_event(session, person.id, EventKind.INVITATION_USED, project.id, person.name, current_role, role)
    return project.name
