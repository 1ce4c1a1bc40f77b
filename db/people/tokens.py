"""API tokens: each stands for its person on the REST API, and is stored as SHA-256 only."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from allpairs.db.domain import Scope
from allpairs.db.people.logins import hashed, new_token
from allpairs.db.schema.tables import ApiToken

PREFIX = "allpairs_"  # makes leaked tokens recognisable


def add_token(
    session: Session,
    person_id: int,
    purpose: str,
    scopes: Collection[Scope],
    time: datetime,
    expires_at: datetime | None,
) -> str:
    """Add a token and return it; it cannot be shown again."""
    token = f"{PREFIX}{new_token()}"
    named = [scope.value for scope in Scope if scope in scopes]
    session.add(
        ApiToken(
            person_id=person_id,
            token=hashed(token),
            purpose=purpose,
            scopes=named,
            created_at=time,
            expires_at=expires_at,
        )
    )
    session.flush()
    return token


def token_row(session: Session, token: str, time: datetime) -> ApiToken | None:
    """Return the row of this token, if it is valid."""
    alive = or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > time)
    return session.scalar(select(ApiToken).where(ApiToken.token == hashed(token), alive))


def use_token(session: Session, token_id: int, time: datetime) -> None:
    """Record that the token was used at this time."""
    session.execute(update(ApiToken).where(ApiToken.id == token_id).values(used_at=time))


def api_tokens_of(session: Session, person_id: int) -> Sequence[ApiToken]:
    """Return the person's tokens, the newest first, expired ones included."""
    return session.scalars(select(ApiToken).where(ApiToken.person_id == person_id).order_by(ApiToken.id.desc())).all()


def remove_token(session: Session, person_id: int, token_id: int) -> str | None:
    """Delete this token of the person and return its purpose; None if there is none."""
    statement = delete(ApiToken).where(ApiToken.id == token_id, ApiToken.person_id == person_id)
    return session.scalar(statement.returning(ApiToken.purpose))
