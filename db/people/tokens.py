"""Tokens of programs: each stands for its person on the REST API, and is known by its SHA-256 alone."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from db.people.logins import hashed, new_token
from db.schema.tables import ApiToken

PREFIX = "allpairs_"  # so that a token is recognised where it should not be


def add_token(session: Session, person_id: int, purpose: str, at: datetime, expires_at: datetime | None) -> str:
    """The new token, which nothing can show again."""
    token = f"{PREFIX}{new_token()}"
    session.add(
        ApiToken(person_id=person_id, token=hashed(token), purpose=purpose, created_at=at, expires_at=expires_at)
    )
    session.flush()
    return token


def token_row(session: Session, token: str, at: datetime) -> ApiToken | None:
    """The row of this token, while it is good."""
    alive = or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > at)
    return session.scalar(select(ApiToken).where(ApiToken.token == hashed(token), alive))


def use_token(session: Session, token_id: int, at: datetime) -> None:
    """Nothing; the token was used at this time."""
    session.execute(update(ApiToken).where(ApiToken.id == token_id).values(used_at=at))


def tokens_of(session: Session, person_id: int) -> Sequence[ApiToken]:
    """The person's tokens, the newest first; those that ran out too."""
    return session.scalars(select(ApiToken).where(ApiToken.person_id == person_id).order_by(ApiToken.id.desc())).all()


def remove_token(session: Session, person_id: int, token_id: int) -> str | None:
    """What this token of the person was for, which is good for nothing any more; nothing where they had none."""
    mine = delete(ApiToken).where(ApiToken.id == token_id, ApiToken.person_id == person_id)
    return session.scalar(mine.returning(ApiToken.purpose))
