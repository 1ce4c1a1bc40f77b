"""Logins, invitations and attempts to sign in. Tokens are stored as SHA-256; callers pass the time."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from allpairs.db.domain import Role
from allpairs.db.schema.tables import ApiToken, Invitation, Login, LoginAttempt

LASTS = timedelta(days=14)  # lifetime of a login, however much it is used
ROTATED = timedelta(hours=12)  # age at which a token is replaced when the next page is opened
GRACE = timedelta(minutes=1)  # for requests that are under way while the token is replaced
SEEN_EVERY = timedelta(minutes=10)  # precision of the time when somebody was last seen
TICKET_LASTS = timedelta(minutes=1)


def hashed(token: str) -> str:
    """Return what is stored of a token: its SHA-256. A token has 256 random bits, so nobody can guess it."""
    return sha256(token.encode()).hexdigest()


def new_token() -> str:
    """Return 256 random bits as text for an address or a cookie."""
    return token_urlsafe(32)


def add_login(session: Session, person_id: int, time: datetime, ticket_of: str | None = None) -> str:
    """Add a login and return its token; with `ticket_of`, that browser must redeem it within a minute."""
    token = new_token()
    lasts = TICKET_LASTS if ticket_of else LASTS
    session.add(
        Login(
            person_id=person_id,
            token=hashed(token),
            ticket_of=ticket_of,
            created_at=time,
            rotated_at=time,
            seen_at=time,
            expires_at=time + lasts,
        )
    )
    session.flush()
    return token


def login_of(session: Session, token: str, time: datetime) -> Login | None:
    """Return the valid login of this token; a replaced token stays valid for a minute."""
    known = hashed(token)
    alive = _alive(time)
    just_now = (Login.rotated_at > time - GRACE) & (Login.rotated_at < time + GRACE)  # also if the clock was set back
    login = session.scalar(select(Login).where(Login.token == known, Login.ticket_of.is_(None), alive))
    return login or session.scalar(
        select(Login).where(Login.previous == known, just_now, Login.ticket_of.is_(None), alive)
    )


def login_alive(session: Session, login_id: int, time: datetime) -> Login | None:
    """Return the login of this id, if it is valid."""
    return session.scalar(select(Login).where(Login.id == login_id, _alive(time)))


def _alive(time: datetime) -> ColumnElement[bool]:
    return Login.ended_at.is_(None) & (Login.expires_at > time)


def rotate(session: Session, login: Login, time: datetime) -> str | None:
    """Replace the token and return the new one; None if another request was faster. The old one lasts a minute more."""
    token = new_token()
    statement = update(Login).where(Login.id == login.id, Login.token == login.token)
    new = {"previous": login.token, "token": hashed(token), "rotated_at": time, "seen_at": time}
    return token if session.execute(statement.values(new)).rowcount == 1 else None  # type: ignore[attr-defined]


def see_login(session: Session, login_id: int, time: datetime) -> None:
    """Record that the login was used at this time."""
    session.execute(update(Login).where(Login.id == login_id).values(seen_at=time))


def redeem(session: Session, ticket: str, browser: str, time: datetime) -> str | None:
    """Return the token of the login that this ticket starts; None for another browser or after it expired."""
    login = session.scalar(select(Login).where(Login.token == hashed(ticket), _alive(time)))
    if login is None or login.ticket_of is None or login.ticket_of != browser:
        return None
    token = new_token()
    login.token = hashed(token)
    login.ticket_of = None
    login.expires_at = time + LASTS
    login.rotated_at = login.seen_at = time
    session.flush()
    return token


def end_login(session: Session, login_id: int, time: datetime) -> None:
    """End this login."""
    session.execute(update(Login).where(Login.id == login_id, Login.ended_at.is_(None)).values(ended_at=time))


def end_logins(session: Session, person_id: int, time: datetime, excepted: int | None = None) -> int:
    """End all logins of this person, or all `excepted` one; return how many.

    This also deletes the person's API tokens: whoever got in by a login may have made one.
    """
    session.execute(delete(ApiToken).where(ApiToken.person_id == person_id))
    statement = update(Login).where(Login.person_id == person_id, _alive(time))
    if excepted is not None:
        statement = statement.where(Login.id != excepted)
    return session.execute(statement.values(ended_at=time)).rowcount  # type: ignore[attr-defined]


def logins_of(session: Session, person_id: int, time: datetime) -> Sequence[Login]:
    """Return the person's logins, the last seen first."""
    query = select(Login).where(Login.person_id == person_id, Login.ticket_of.is_(None), _alive(time))
    return session.scalars(query.order_by(Login.seen_at.desc(), Login.id.desc())).all()


def logins_seen(session: Session, time: datetime) -> dict[int, tuple[int, datetime]]:
    """Return, for each person who is signed in, in how many browsers, and when they were last seen."""
    open_logins = select(Login.person_id, func.count(), func.max(Login.seen_at)).where(
        Login.ticket_of.is_(None), _alive(time)
    )
    rows = session.execute(open_logins.group_by(Login.person_id))
    return {person_id: (count, seen_at) for person_id, count, seen_at in rows}


def forget_logins(session: Session, before: datetime) -> None:
    """Delete logins that ended or expired before this time."""
    session.execute(delete(Login).where((Login.ended_at < before) | (Login.expires_at < before)))


def add_invitation(
    session: Session, project_id: int, role: Role, made_by: int | None, time: datetime, lasts: timedelta
) -> str:
    """Add an invitation and return its token."""
    token = new_token()
    session.add(
        Invitation(
            token=hashed(token),
            project_id=project_id,
            role=role,
            made_by=made_by,
            created_at=time,
            expires_at=time + lasts,
        )
    )
    session.flush()
    return token


def invitation_of(session: Session, token: str) -> Invitation | None:
    """Return the invitation of this token, whatever became of it."""
    return session.scalar(select(Invitation).where(Invitation.token == hashed(token)))


def use_invitation(session: Session, invitation: Invitation, person_id: int, time: datetime) -> bool:
    """Mark the invitation as used; return False if somebody else has used it, since it is valid only once."""
    statement = update(Invitation).where(Invitation.id == invitation.id, Invitation.used_at.is_(None))
    return session.execute(statement.values(used_by=person_id, used_at=time)).rowcount == 1  # type: ignore[attr-defined]


def open_invitations(session: Session, project_id: int, time: datetime) -> Sequence[Invitation]:
    """Return the invitations that can still be used, the newest first."""
    query = select(Invitation).where(Invitation.project_id == project_id, Invitation.used_at.is_(None))
    return session.scalars(query.where(Invitation.expires_at > time).order_by(Invitation.id.desc())).all()


def add_attempt(session: Session, name: str, address: str, time: datetime) -> int:
    """Add an attempt to sign in and return its id; it counts as failed until it is removed."""
    attempt = LoginAttempt(name=name, address=address[:100], at=time)
    session.add(attempt)
    session.flush()
    return attempt.id


def failures(
    session: Session, since: datetime, name: str = "", address: str = "", excepted: int = 0
) -> tuple[int, datetime]:
    """Return how many attempts of this name, or from this address, failed since then, and when the first one was."""
    condition = LoginAttempt.name == name if name else LoginAttempt.address == address[:100]
    counted = select(func.count(), func.min(LoginAttempt.at)).where(condition, LoginAttempt.at > since)
    number, first = session.execute(counted.where(LoginAttempt.id != excepted)).one()
    return number, first or since


def forget_attempts(session: Session, before: datetime | None = None, name: str = "", only: int = 0) -> None:
    """Delete attempts before this time, or of this name, or this one."""
    if before is not None:
        session.execute(delete(LoginAttempt).where(LoginAttempt.at <= before))
    if name:
        session.execute(delete(LoginAttempt).where(LoginAttempt.name == name))
    if only:
        session.execute(delete(LoginAttempt).where(LoginAttempt.id == only))
