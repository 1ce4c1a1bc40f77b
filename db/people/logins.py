"""Logins, invitations and attempts to log in. Tokens are compared by their SHA-256; the time is always handed in."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from db.domain import Role
from db.schema.tables import ApiToken, Invitation, Login, LoginAttempt

LASTS = timedelta(days=14)  # a login, however much it is used
ROTATED = timedelta(hours=12)  # age at which a token is replaced at the next page that is opened
GRACE = timedelta(minutes=1)  # for requests under way while the token is replaced
SEEN_EVERY = timedelta(minutes=10)  # how exactly it is known when somebody was here last
TICKET_LASTS = timedelta(minutes=1)


def hashed(token: str) -> str:
    """What is stored of a token: its SHA-256. A token is 256 random bits, so nobody can try them all."""
    return sha256(token.encode()).hexdigest()


def new_token() -> str:
    """256 random bits as text for an address or a cookie."""
    return token_urlsafe(32)


def add_login(session: Session, person_id: int, at: datetime, ticket_of: str | None = None) -> str:
    """The token of a new login; with `ticket_of` it must be redeemed within a minute, by that browser."""
    token = new_token()
    lasts = TICKET_LASTS if ticket_of else LASTS
    session.add(
        Login(person_id=person_id, token=hashed(token), ticket_of=ticket_of, created_at=at, rotated_at=at, seen_at=at,
              expires_at=at + lasts)
    )  # fmt: skip
    session.flush()
    return token


def login_of(session: Session, token: str, at: datetime) -> Login | None:
    """The login that this token is good for at this time; a replaced one is good for a minute more."""
    known, alive = hashed(token), _alive(at)
    found = session.scalar(select(Login).where(Login.token == known, Login.ticket_of.is_(None), alive))
    return found or session.scalar(
        select(Login).where(Login.previous == known, Login.rotated_at > at - GRACE, Login.ticket_of.is_(None), alive)
    )


def login_alive(session: Session, login_id: int, at: datetime) -> Login | None:
    """The login of this id, while it is good."""
    return session.scalar(select(Login).where(Login.id == login_id, _alive(at)))


def _alive(at: datetime) -> ColumnElement[bool]:
    return Login.ended_at.is_(None) & (Login.expires_at > at)


def rotate(session: Session, login: Login, at: datetime) -> str | None:
    """The new token; the old one is good for a minute more. Nothing where another request was faster."""
    token = new_token()
    mine = update(Login).where(Login.id == login.id, Login.token == login.token)
    new = {"previous": login.token, "token": hashed(token), "rotated_at": at, "seen_at": at}
    return token if session.execute(mine.values(new)).rowcount == 1 else None  # type: ignore[attr-defined]


def see_login(session: Session, login_id: int, at: datetime) -> None:
    """Nothing; the login was used at this time."""
    session.execute(update(Login).where(Login.id == login_id).values(seen_at=at))


def redeem(session: Session, ticket: str, browser: str, at: datetime) -> str | None:
    """The token of the login that this ticket begins; nothing where it is not this browser's, or too late."""
    login = session.scalar(select(Login).where(Login.token == hashed(ticket), _alive(at)))
    if login is None or login.ticket_of is None or login.ticket_of != browser:
        return None
    token = new_token()
    login.token, login.ticket_of, login.expires_at = hashed(token), None, at + LASTS
    login.rotated_at = login.seen_at = at
    session.flush()
    return token


def end_login(session: Session, login_id: int, at: datetime) -> None:
    """Nothing; nobody is logged in by this login any more."""
    session.execute(update(Login).where(Login.id == login_id, Login.ended_at.is_(None)).values(ended_at=at))


def end_logins(session: Session, person_id: int, at: datetime, but: int | None = None) -> int:
    """The number of logins of this person that were ended: all of them, or all `but` one.

    The tokens of their programs are withdrawn as well: who got in by a login may have made one.
    """
    session.execute(delete(ApiToken).where(ApiToken.person_id == person_id))
    mine = update(Login).where(Login.person_id == person_id, _alive(at))
    if but is not None:
        mine = mine.where(Login.id != but)
    return session.execute(mine.values(ended_at=at)).rowcount  # type: ignore[attr-defined]


def logins_of(session: Session, person_id: int, at: datetime) -> Sequence[Login]:
    """Where the person is logged in, the last seen first."""
    mine = select(Login).where(Login.person_id == person_id, Login.ticket_of.is_(None), _alive(at))
    return session.scalars(mine.order_by(Login.seen_at.desc(), Login.id.desc())).all()


def forget_logins(session: Session, before: datetime) -> None:
    """Nothing; logins that ended or ran out before this time are gone."""
    session.execute(delete(Login).where((Login.ended_at < before) | (Login.expires_at < before)))


def add_invitation(
    session: Session, project_id: int, role: Role, made_by: int | None, at: datetime, lasts: timedelta
) -> str:
    """The token of a new invitation."""
    token = new_token()
    session.add(
        Invitation(token=hashed(token), project_id=project_id, role=role, made_by=made_by, created_at=at,
                   expires_at=at + lasts)
    )  # fmt: skip
    session.flush()
    return token


def invitation_of(session: Session, token: str, at: datetime) -> Invitation | None:
    """The invitation that this token is good for: neither used nor too old."""
    mine = select(Invitation).where(Invitation.token == hashed(token), Invitation.used_at.is_(None))
    return session.scalar(mine.where(Invitation.expires_at > at))


def use_invitation(session: Session, invitation: Invitation, person_id: int, at: datetime) -> bool:
    """Whether this person was the one to use it: an invitation is good once."""
    mine = update(Invitation).where(Invitation.id == invitation.id, Invitation.used_at.is_(None))
    return session.execute(mine.values(used_by=person_id, used_at=at)).rowcount == 1  # type: ignore[attr-defined]


def open_invitations(session: Session, project_id: int, at: datetime) -> Sequence[Invitation]:
    """Those that can still be used, the newest first."""
    mine = select(Invitation).where(Invitation.project_id == project_id, Invitation.used_at.is_(None))
    return session.scalars(mine.where(Invitation.expires_at > at).order_by(Invitation.id.desc())).all()


def add_attempt(session: Session, name: str, address: str, at: datetime) -> int:
    """The id of a new attempt to log in; it counts as failed until it is removed."""
    attempt = LoginAttempt(name=name, address=address[:100], at=at)
    session.add(attempt)
    session.flush()
    return attempt.id


def failures(
    session: Session, since: datetime, name: str = "", address: str = "", but: int = 0
) -> tuple[int, datetime]:
    """How many attempts of this name, or else from this address, failed since then, and when the first of them was."""
    mine = LoginAttempt.name == name if name else LoginAttempt.address == address[:100]
    counted = select(func.count(), func.min(LoginAttempt.at)).where(mine, LoginAttempt.at > since)
    number, first = session.execute(counted.where(LoginAttempt.id != but)).one()
    return number, first or since


def forget_attempts(session: Session, before: datetime | None = None, name: str = "", only: int = 0) -> None:
    """Nothing; attempts before this time, or of this name, or this one, are gone."""
    if before is not None:
        session.execute(delete(LoginAttempt).where(LoginAttempt.at <= before))
    if name:
        session.execute(delete(LoginAttempt).where(LoginAttempt.name == name))
    if only:
        session.execute(delete(LoginAttempt).where(LoginAttempt.id == only))
