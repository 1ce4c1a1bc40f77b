"""Signing in and out. Each function is one transaction; callers pass the time, so that tests need not wait."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine

from allpairs.annotate.frame.access.passwords import hash_of, is_outdated, is_password
from allpairs.annotate.frame.language.translator import later
from allpairs.db.domain import EventKind
from allpairs.db.errors import InputError
from allpairs.db.people import logins
from allpairs.db.people.people import find_person, folded, person_by_subject
from allpairs.db.projects.events import add_event
from allpairs.db.schema.engine import as_system, reading, writing
from allpairs.db.schema.tables import Login, Person

WINDOW = timedelta(minutes=15)
PER_NAME = 5  # failures within the window before a name is blocked
PER_ADDRESS = 20  # failures within the window before an address is blocked
WRONG = later("the name or the password is wrong: check both and try again")
LOGIN_AGE = timedelta(days=30)  # ended logins are kept for so long


class TooMany(InputError):
    """Too many attempts to sign in failed; the message says how long to wait."""


@dataclass(frozen=True)
class Guest:
    """The person of a login, and what may change while their page is open."""

    login_id: int
    person_id: int
    name: str
    changed_at: datetime  # of the person's rights
    rotate: bool = False  # whether the token is due to be replaced
    unseen: bool = False  # whether the time they were last seen is due for an update


def log_in(engine: Engine, name: str, password: str, address: str, time: datetime, old: str | None = None) -> str:
    """Return the token of a new login, and end the login that this browser had (`old`).

    Raises TooMany after five failures for the name or twenty from the address within fifteen minutes, and InputError if
    the name or the password is wrong, without saying which.
    """
    key = folded(name)
    attempt = _attempt(engine, key, address, time)
    with reading(engine) as session:
        person = find_person(session, name)
    right = is_password(person.password if person else None, password)
    if person is None or not right or person.disabled_at is not None:
        raise InputError(WRONG)
    rehashed = hash_of(password) if is_outdated(person.password or "") else None
    with writing(engine) as session:
        known = session.get_one(Person, person.id)
        if known.disabled_at is not None or known.password != person.password:  # changed meanwhile
            raise InputError(WRONG)
        known.password = rehashed or known.password
        logins.forget_attempts(session, name=key, only=attempt)
        logins.forget_logins(session, before=time - LOGIN_AGE)
        if old is not None and (former := logins.login_of(session, old, time)):
            logins.end_login(session, former.id, time)
        return logins.add_login(session, person.id, time)


def _attempt(engine: Engine, name: str, address: str, time: datetime) -> int:
    """Store the attempt and return its id. It is stored before counting, so that parallel attempts cannot all pass."""
    with writing(engine) as session:
        logins.forget_attempts(session, before=time - WINDOW)
        attempt = logins.add_attempt(session, name, address, time)
    with writing(engine) as session:
        name_failures, first = logins.failures(session, time - WINDOW, name=name, excepted=attempt)
        address_failures, first_there = logins.failures(session, time - WINDOW, address=address, excepted=attempt)
        blocked_since = max(
            [first] * (name_failures >= PER_NAME) + [first_there] * (address_failures >= PER_ADDRESS), default=None
        )
        if blocked_since is None:
            return attempt
        logins.forget_attempts(session, only=attempt)
    minutes = minutes_until(blocked_since + WINDOW, time)
    if minutes == 1:
        raise TooMany("too many failed sign-in attempts: try again in 1 minute")
    raise TooMany("too many failed sign-in attempts: try again in {n} minutes", n=minutes)


def minutes_until(moment: datetime, time: datetime) -> int:
    """Return the whole minutes left until then, at least one."""
    return max(1, math.ceil((moment - time) / timedelta(minutes=1)))


def guest_of(engine: Engine, token: str, time: datetime) -> Guest | None:
    """Return whose login this token is; None if it is unknown, ended or expired, or if the person is disabled."""
    with reading(engine) as session:
        login = logins.login_of(session, token, time)
        person = session.get(Person, login.person_id) if login is not None else None
        if login is None or person is None or person.disabled_at is not None:
            return None
        due = login.token == logins.hashed(token) and time - login.rotated_at >= logins.ROTATED
        unseen = time - login.seen_at >= logins.SEEN_EVERY
        return Guest(login.id, person.id, person.name, person.changed_at, due, unseen)


def still(engine: Engine, guest: Guest, time: datetime) -> bool:
    """Return whether the login is still valid and the person's rights are unchanged."""
    with reading(engine) as session:
        login = logins.login_alive(session, guest.login_id, time)
        person = session.get(Person, guest.person_id)
        return bool(login and person and not person.disabled_at and person.changed_at == guest.changed_at)


def rotated(engine: Engine, guest: Guest, time: datetime) -> str | None:
    """Replace the login's token and return the new one; None if another request just did, or the login has ended."""
    with writing(engine) as session:
        login = logins.login_alive(session, guest.login_id, time)
        if login is None or time - login.rotated_at < logins.ROTATED:
            return None
        return logins.rotate(session, login, time)


def seen(engine: Engine, guest: Guest, time: datetime) -> None:
    """Record that the person was just here."""
    with writing(engine) as session:
        logins.see_login(session, guest.login_id, time)


def log_out(engine: Engine, guest: Guest, time: datetime, everywhere: bool = False) -> None:
    """End this login, or every login of the person."""
    with writing(as_system(engine)) as session:
        if everywhere:
            logins.end_logins(session, guest.person_id, time)
            add_event(session, guest.person_id, EventKind.LOGGED_OUT, subject=guest.name)
        else:
            logins.end_login(session, guest.login_id, time)


def change_own_password(engine: Engine, guest: Guest, old: str, new: str, address: str, time: datetime) -> None:
    """Change the person's password and end all their other logins.

    Raises InputError if the old password is wrong or the new one too short, and TooMany as `log_in` does.
    """
    engine = as_system(engine)
    key = folded(guest.name)
    attempt = _attempt(engine, key, address, time)
    with reading(engine) as session:
        stored = session.get_one(Person, guest.person_id).password
    if stored is None:
        raise InputError("you sign in with an external provider: change your password there")
    if not is_password(stored, old):
        raise InputError("the current password is wrong: type it again")
    new = hash_of(new)
    with writing(engine) as session:
        if logins.login_alive(session, guest.login_id, time) is None:
            raise InputError("you are no longer signed in: sign in again")
        logins.forget_attempts(session, only=attempt)
        session.get_one(Person, guest.person_id).password = new
        add_event(session, guest.person_id, EventKind.PASSWORD, subject=guest.name)
        logins.end_logins(session, guest.person_id, time, excepted=guest.login_id)
        session.get_one(Login, guest.login_id).rotated_at = time - logins.ROTATED  # the next page replaces the token


def ticket_for(engine: Engine, issuer: str, subject: str, browser: str, time: datetime) -> str | None:
    """Return a ticket with which this browser can sign in within a minute; None if the user has no account."""
    engine = as_system(engine)
    with writing(engine) as session:
        person = person_by_subject(session, issuer, subject)
        if person is None or person.disabled_at is not None:
            return None
        return logins.add_login(session, person.id, time, ticket_of=browser)


def redeem_ticket(engine: Engine, ticket: str, browser: str, time: datetime) -> str | None:
    """Return the token of the login that the ticket starts; None if it has expired or belongs to another browser."""
    with writing(engine) as session:
        return logins.redeem(session, ticket, browser, time)
