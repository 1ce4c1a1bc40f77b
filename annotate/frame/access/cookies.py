"""The cookie that holds a login's token. Only the browser and the server see it: no script can read it."""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from starlette.responses import Response

from allpairs.db.people.logins import LASTS

# Browsers accept the second name only from this very host, and only over TLS.
NAME = "allpairs"
SECURE_NAME = "__Host-allpairs"
INVITED = "allpairs_invitation"  # kept while somebody signs in at their provider
DEVICE = "allpairs_device"  # a random name of the browser, so that each of a person's devices gets pairs of its own
PROVIDER = "_streamlit_user"  # set by Streamlit for users of an OpenID Connect provider; may be several


def cookie_name(secure: bool) -> str:
    """Return the cookie's name; secure: over TLS, where no other name is accepted."""
    return SECURE_NAME if secure else NAME


def token_in(cookies: Mapping[str, str], secure: bool) -> str | None:
    """Return the token that the browser sent, or None."""
    return cookies.get(cookie_name(secure))


def set_token(response: Response, token: str, secure: bool) -> None:
    """Store the token in the browser until the login expires, where no script can read it."""
    age = int(LASTS.total_seconds())
    response.set_cookie(cookie_name(secure), token, max_age=age, path="/", secure=secure, httponly=True, samesite="lax")


def browser_of(cookies: Mapping[str, str]) -> str:
    """Return a hash that identifies the browser of a provider's user; empty if there is no such cookie."""
    pieces = [cookies[name] for name in sorted(cookies) if name.startswith(PROVIDER)]
    return sha256("\n".join(pieces).encode()).hexdigest() if pieces else ""


def forget_provider(response: Response, cookies: Mapping[str, str]) -> None:
    """Delete what a provider said of this browser's user: it would sign them in again after their login has ended."""
    for name in cookies:
        if name.startswith(PROVIDER):
            response.delete_cookie(name, path="/")


def without_tokens(header: str) -> str:
    """Return the Cookie header without the cookies of this app."""
    remaining: Iterable[str] = (
        part for part in header.split(";") if part.partition("=")[0].strip() not in _OWN_COOKIES
    )
    return ";".join(remaining)


_OWN_COOKIES = (NAME, SECURE_NAME)
