"""The cookie that says who somebody is. Only the browser and the server see it: no script can read it."""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from starlette.responses import Response

from db.people.logins import LASTS

# The browser takes the second one from this very host only, and by TLS.
NAME, SECURE_NAME = "allpairs", "__Host-allpairs"
INVITED = "allpairs_invitation"  # while somebody is away at their provider
PROVIDER = "_streamlit_user"  # Streamlit's own, where a provider vouches for somebody; may come in several pieces


def name_of(secure: bool) -> str:
    """The cookie's name; secure: over TLS, where no other name is looked at."""
    return SECURE_NAME if secure else NAME


def token_in(cookies: Mapping[str, str], secure: bool) -> str | None:
    """The token that the browser sent."""
    return cookies.get(name_of(secure))


def set_token(response: Response, token: str, secure: bool) -> None:
    """Nothing; the browser has the token until it is too old, and no script there can read it."""
    age = int(LASTS.total_seconds())
    response.set_cookie(name_of(secure), token, max_age=age, path="/", secure=secure, httponly=True, samesite="lax")


def browser_of(cookies: Mapping[str, str]) -> str:
    """What stands for a browser in which a provider vouches for somebody; empty where none does."""
    pieces = [cookies[name] for name in sorted(cookies) if name.startswith(PROVIDER)]
    return sha256("\n".join(pieces).encode()).hexdigest() if pieces else ""


def without_tokens(header: str) -> str:
    """The Cookie header without ours."""
    kept: Iterable[str] = (part for part in header.split(";") if part.partition("=")[0].strip() not in _OURS)
    return ";".join(kept)


_OURS = (NAME, SECURE_NAME)
