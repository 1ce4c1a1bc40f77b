"""Tokens with which programs use the REST API in somebody's name: made, withdrawn, recognised."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine

from annotate.access.logins import PER_ADDRESS, WINDOW, TooMany, minutes_until
from db.domain import EventKind
from db.errors import InputError
from db.people import logins, tokens
from db.people.logins import SEEN_EVERY
from db.projects.events import add_event
from db.schema.engine import as_system, person_of, reading, writing
from db.schema.tables import ApiToken, Person

LONGEST_PURPOSE = 80
LONGEST_LIFE = 3650  # days
UNKNOWN = "this token is not known, withdrawn or too old: make a new one on the page Account"


@dataclass(frozen=True)
class Bearer:
    """In whose name a program asks."""

    person_id: int
    name: str


def make(
    engine: Engine, person_id: int, purpose: str, at: datetime, days: int | None = None, login_id: int | None = None
) -> str:
    """A new token of this person, for so many days or until it is withdrawn; only its hash is kept.

    login_id: the login by which somebody makes their own, which must be good still. Raises InputError for a purpose
    that is none or too long, for days out of range, for a login that has ended, and for who is disabled.
    """
    purpose = purpose.strip()
    if not 1 <= len(purpose) <= LONGEST_PURPOSE or not purpose.isprintable():
        raise InputError(f"say in 1 to {LONGEST_PURPOSE} characters that can be shown what the token is for")
    if days is not None and not 1 <= days <= LONGEST_LIFE:
        raise InputError(f"a token is good for 1 to {LONGEST_LIFE:,} days, or until it is withdrawn; not for {days:,}")
    with writing(as_system(engine)) as session:
        person = session.get_one(Person, person_id)
        if person.disabled_at is not None:
            raise InputError("this person is disabled: let them in again first (people enable)")
        if login_id is not None and logins.login_alive(session, login_id, at) is None:
            raise InputError("you are not logged in any more: log in again")
        until = None if days is None else at + timedelta(days=days)
        add_event(session, person_of(engine), EventKind.TOKEN, about=person.name, new=purpose)
        return tokens.add_token(session, person_id, purpose, at, until)


def withdraw(engine: Engine, person_id: int, token_id: int) -> None:
    """Nothing; the token is good for nothing any more. Raises InputError where the person has none of this number."""
    with writing(as_system(engine)) as session:
        purpose = tokens.remove_token(session, person_id, token_id)
        if purpose is None:
            raise InputError(f"there is no token number {token_id} of this person: it may have been withdrawn")
        name = session.get_one(Person, person_id).name
        add_event(session, person_of(engine), EventKind.TOKEN_WITHDRAWN, about=name, old=purpose)


def list_tokens(engine: Engine, person_id: int) -> Sequence[ApiToken]:
    """The person's tokens, the newest first; those that ran out too."""
    with reading(engine) as session:
        return tokens.tokens_of(session, person_id)


def bearer_of(engine: Engine, token: str, address: str, at: datetime) -> Bearer:
    """In whose name this token lets a program ask.

    Raises InputError for a token that is not good, and TooMany where twenty such came from the address within fifteen
    minutes. A good one is let in all the same: nobody can try 256 bits, and the forgotten program of one person must
    not lock out the others behind its address.
    """
    with reading(engine) as session:
        row = tokens.token_row(session, token, at)
        person = session.get(Person, row.person_id) if row is not None else None
    if row is None or person is None or person.disabled_at is not None:
        _count(engine, f"token from {address}", at)
        raise InputError(UNKNOWN)
    if row.used_at is None or at - row.used_at >= SEEN_EVERY:
        with writing(engine) as session:
            tokens.use_token(session, row.id, at)
    return Bearer(person.id, person.name)


def _count(engine: Engine, source: str, at: datetime) -> None:
    """Nothing; one more bad token has come from there. Raises TooMany where there were too many already."""
    with reading(engine) as session:
        number, first = logins.failures(session, at - WINDOW, address=source)
    if number >= PER_ADDRESS:
        wait = minutes_until(first + WINDOW, at)
        raise TooMany(f"too many bad tokens came from your address: use a good one, or try again in {wait}")
    with writing(engine) as session:
        logins.forget_attempts(session, before=at - WINDOW)
        logins.add_attempt(session, "", source, at)
