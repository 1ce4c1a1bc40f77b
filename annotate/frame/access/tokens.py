"""Tokens with which programs use the REST API in a person's name: made, revoked, checked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine

from allpairs.annotate.frame.access.logins import PER_ADDRESS, WINDOW, TooMany, minutes_until
from allpairs.db.domain import EventKind, Scope
from allpairs.db.errors import InputError
from allpairs.db.maintenance.error_messages import if_possible
from allpairs.db.people import logins, tokens
from allpairs.db.people.logins import SEEN_EVERY
from allpairs.db.projects.events import add_event
from allpairs.db.schema.engine import as_system, person_of, reading, writing
from allpairs.db.schema.tables import ApiToken, Person

LONGEST_PURPOSE = 80
LONGEST_LIFE = 3650  # days
USUAL = (Scope.READ, Scope.LABEL)  # the scopes of a token unless others are named
UNKNOWN = "this token is unknown, revoked or expired: make a new one on the page API"


@dataclass(frozen=True)
class Bearer:
    """The person in whose name a program asks, and what their token lets it do."""

    person_id: int
    name: str
    scopes: frozenset[Scope]


def make(
    engine: Engine,
    person_id: int,
    purpose: str,
    time: datetime,
    days: int | None = None,
    login_id: int | None = None,
    scopes: Collection[Scope] = USUAL,
) -> str:
    """Return a new token of this person, valid for `days` days or until it is revoked; only its hash is stored.

    login_id: the login of somebody who makes their own token; it must still be valid. Raises InputError for a purpose
    that is empty or too long, without a scope, for days out of range, for a login that has ended, and for a disabled
    person.
    """
    purpose = purpose.strip()
    if not 1 <= len(purpose) <= LONGEST_PURPOSE or not purpose.isprintable():
        raise InputError(f"say what the token is for, in 1 to {LONGEST_PURPOSE} printable characters")
    if not scopes:
        raise InputError(f"choose what the token may be used for: one or more of {', '.join(Scope)}")
    if days is not None and not 1 <= days <= LONGEST_LIFE:
        raise InputError(f"a token can be valid for 1 to {LONGEST_LIFE:,} days or indefinitely, not for {days:,}")
    with writing(as_system(engine)) as session:
        person = session.get_one(Person, person_id)
        if person.disabled_at is not None:
            raise InputError("this person is disabled: enable them first (people enable)")
        if login_id is not None and logins.login_alive(session, login_id, time) is None:
            raise InputError("you are no longer signed in: sign in again")
        expires_at = None if days is None else time + timedelta(days=days)
        new = {"purpose": purpose, "scopes": scopes_in_words(scopes)}
        add_event(session, person_of(engine), EventKind.TOKEN, subject=person.name, new=new)
        return tokens.add_token(session, person_id, purpose, scopes, time, expires_at)


def scopes_in_words(scopes: Collection[str]) -> str:
    """Return the scopes, always in the same order."""
    return ", ".join(scope for scope in Scope if scope in scopes)


def withdraw_token(engine: Engine, person_id: int, token_id: int) -> None:
    """Revoke the token. Raises InputError if the person has no token of this number."""
    with writing(as_system(engine)) as session:
        purpose = tokens.remove_token(session, person_id, token_id)
        if purpose is None:
            raise InputError(f"this person has no token number {token_id}: it may have been revoked; reload the page")
        name = session.get_one(Person, person_id).name
        add_event(session, person_of(engine), EventKind.TOKEN_WITHDRAWN, subject=name, old=purpose)


def list_tokens(engine: Engine, person_id: int) -> Sequence[ApiToken]:
    """Return the person's tokens, the newest first, expired ones included."""
    with reading(engine) as session:
        return tokens.api_tokens_of(session, person_id)


def bearer_of(engine: Engine, token: str, address: str, time: datetime) -> Bearer:
    """Return the person in whose name this token lets a program ask.

    Raises InputError for an invalid token, and TooMany after twenty invalid ones from the address within fifteen
    minutes. A valid token always passes: nobody can guess 256 bits, and one person's forgotten program must not lock
    out others who share its address.
    """
    with reading(engine) as session:
        row = tokens.token_row(session, token, time)
        person = session.get(Person, row.person_id) if row is not None else None
    if row is None or person is None or person.disabled_at is not None:
        _count(engine, f"token from {address}", time)
        raise InputError(UNKNOWN)
    if row.used_at is None or time - row.used_at >= SEEN_EVERY:
        with if_possible(), writing(engine) as session:
            tokens.use_token(session, row.id, time)
    return Bearer(person.id, person.name, frozenset(map(Scope, row.scopes)))


def _count(engine: Engine, source: str, time: datetime) -> None:
    """Count one more invalid token from this source. Raises TooMany if there were too many already."""
    with reading(engine) as session:
        number, first = logins.failures(session, time - WINDOW, address=source)
    if number >= PER_ADDRESS:
        minutes = minutes_until(first + WINDOW, time)
        wait = f"{minutes} minute{'s' if minutes > 1 else ''}"
        raise TooMany(f"too many invalid tokens came from your address: use a valid one, or try again in {wait}")
    with writing(engine) as session:
        logins.forget_attempts(session, before=time - WINDOW)
        logins.add_attempt(session, "", source, time)
