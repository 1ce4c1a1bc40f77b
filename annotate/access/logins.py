"""Logging in and out. Every function is one act; the time is handed in, so that tests need not wait."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine

from annotate.access.passwords import hash_of, is_outdated, is_password
from db.domain import EventKind
from db.errors import InputError
from db.people import logins
from db.people.people import find_person, folded, person_by_subject
from db.projects.events import add_event
from db.schema.engine import as_system, reading, writing
from db.schema.tables import Login, Person

WINDOW = timedelta(minutes=15)
PER_NAME, PER_ADDRESS = 5, 20  # failures within the window, after which a login waits
WRONG = "the name or the password is wrong"
KEPT = timedelta(days=30)  # logins that ended


class TooMany(InputError):
    """Too many logins failed; the message says how long to wait."""


@dataclass(frozen=True)
class Guest:
    """Who a login belongs to, and what of it may change while a page is open."""

    login_id: int
    person_id: int
    name: str
    changed_at: datetime  # of the person's rights
    rotate: bool = False  # whether the token is due to be replaced
    unseen: bool = False  # whether it is due to be written down that the person was here


def log_in(engine: Engine, name: str, password: str, address: str, at: datetime, old: str | None = None) -> str:
    """The token of a new login; the one that this browser had (`old`) is good no more.

    Raises TooMany after five failures of the name or twenty from the address within fifteen minutes, and InputError
    where name or password is wrong, whichever it is.
    """
    key = folded(name)
    attempt = _attempt(engine, key, address, at)
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
        logins.forget_logins(session, before=at - KEPT)
        if old is not None and (former := logins.login_of(session, old, at)):
            logins.end_login(session, former.id, at)
        return logins.add_login(session, person.id, at)


def _attempt(engine: Engine, name: str, address: str, at: datetime) -> int:
    """The id of the attempt. It is stored before it is counted, so that many at once do not all find room."""
    with writing(engine) as session:
        logins.forget_attempts(session, before=at - WINDOW)
        attempt = logins.add_attempt(session, name, address, at)
    with writing(engine) as session:
        mine, first = logins.failures(session, at - WINDOW, name=name, but=attempt)
        theirs, first_there = logins.failures(session, at - WINDOW, address=address, but=attempt)
        until = max([first] * (mine >= PER_NAME) + [first_there] * (theirs >= PER_ADDRESS), default=None)
        if until is None:
            return attempt
        logins.forget_attempts(session, only=attempt)
    raise TooMany(f"too many logins failed: try again in {minutes_until(until + WINDOW, at)}")


def minutes_until(moment: datetime, at: datetime) -> str:
    """How long it is until then, in whole minutes and in words."""
    minutes = max(1, math.ceil((moment - at) / timedelta(minutes=1)))
    return f"{minutes} minute{'s' if minutes > 1 else ''}"


def guest_of(engine: Engine, token: str, at: datetime) -> Guest | None:
    """Whose login this token is good for; nobody's where it is unknown, ended or too old, or the person disabled."""
    with reading(engine) as session:
        login = logins.login_of(session, token, at)
        person = session.get(Person, login.person_id) if login is not None else None
        if login is None or person is None or person.disabled_at is not None:
            return None
        due = login.token == logins.hashed(token) and at - login.rotated_at >= logins.ROTATED
        unseen = at - login.seen_at >= logins.SEEN_EVERY
        return Guest(login.id, person.id, person.name, person.changed_at, due, unseen)


def still(engine: Engine, guest: Guest, at: datetime) -> bool:
    """Whether the login is good, and the person's rights are what they were."""
    with reading(engine) as session:
        login = logins.login_alive(session, guest.login_id, at)
        person = session.get(Person, guest.person_id)
        return bool(login and person and not person.disabled_at and person.changed_at == guest.changed_at)


def rotated(engine: Engine, guest: Guest, at: datetime) -> str | None:
    """The new token of the login; nothing where another request has replaced it just now, or it has ended."""
    with writing(engine) as session:
        login = logins.login_alive(session, guest.login_id, at)
        if login is None or at - login.rotated_at < logins.ROTATED:
            return None
        return logins.rotate(session, login, at)


def seen(engine: Engine, guest: Guest, at: datetime) -> None:
    """Nothing; it is known that the person was here."""
    with writing(engine) as session:
        logins.see_login(session, guest.login_id, at)


def log_out(engine: Engine, guest: Guest, at: datetime, everywhere: bool = False) -> None:
    """Nothing; this login has ended, or every login of the person has."""
    with writing(as_system(engine)) as session:
        if everywhere:
            logins.end_logins(session, guest.person_id, at)
            add_event(session, guest.person_id, EventKind.LOGGED_OUT, about=guest.name)
        else:
            logins.end_login(session, guest.login_id, at)


def change_own_password(engine: Engine, guest: Guest, old: str, new: str, address: str, at: datetime) -> None:
    """Nothing; the person has a new password, and every other login of theirs has ended.

    Raises InputError where the old one is wrong or the new one too short, and TooMany as `log_in` does.
    """
    engine, key = as_system(engine), folded(guest.name)
    attempt = _attempt(engine, key, address, at)
    with reading(engine) as session:
        stored = session.get_one(Person, guest.person_id).password
    if stored is None:
        raise InputError("you have no password here: whom you log in with keeps it")
    if not is_password(stored, old):
        raise InputError("the old password is wrong")
    new = hash_of(new)
    with writing(engine) as session:
        if logins.login_alive(session, guest.login_id, at) is None:
            raise InputError("you are not logged in any more: log in again")
        logins.forget_attempts(session, only=attempt)
        session.get_one(Person, guest.person_id).password = new
        add_event(session, guest.person_id, EventKind.PASSWORD, about=guest.name)
        logins.end_logins(session, guest.person_id, at, but=guest.login_id)
        session.get_one(Login, guest.login_id).rotated_at = at - logins.ROTATED  # the next page replaces the token


def ticket_for(engine: Engine, issuer: str, subject: str, browser: str, at: datetime) -> str | None:
    """A ticket with which this browser can log in within a minute, for whom a provider vouches; nothing for others."""
    engine = as_system(engine)
    with writing(engine) as session:
        person = person_by_subject(session, issuer, subject)
        if person is None or person.disabled_at is not None:
            return None
        return logins.add_login(session, person.id, at, ticket_of=browser)


def redeem(engine: Engine, ticket: str, browser: str, at: datetime) -> str | None:
    """The token of the login that the ticket begins; nothing where it is too late, or another browser's."""
    with writing(engine) as session:
        return logins.redeem(session, ticket, browser, at)
