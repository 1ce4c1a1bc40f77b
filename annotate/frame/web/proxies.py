"""Proxies between the app and its browsers: what is set wrong there, said to people and in the log."""

import logging

from starlette.requests import HTTPConnection

from allpairs.annotate.frame.access.addresses import is_own
from allpairs.annotate.frame.language.translator import ENGLISH_WORDS, Words, later

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
MOST = 100  # lines: anybody may send such headers
REPORT = "/proxy-report"  # followed by what does not work
LONGEST = 500  # characters of two hosts that the log repeats
STREAM = "/_stcore/stream"  # every page's websocket
UPGRADE = (
    'nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";'
)
NO_SOCKET = later(
    "This page has not opened. Allpairs may be busy: wait a minute, then open the page again. If it never opens, "
    "something between this browser and Allpairs blocks websockets. If you run Allpairs, let the proxy in front of it "
    "pass the header Upgrade on ({upgrade}). Otherwise tell your administrator."
)
OTHER_HOST = later(
    "This browser is at {origin}, but the request names the host {host}. If that is one site, the proxy in front of "
    "Allpairs changes the header Host: let it pass Host on (nginx: proxy_set_header Host $http_host;), or set "
    "ALLPAIRS_PUBLIC_URL={origin} where Allpairs runs."
)
FILE_TOO_LONG = later(
    "The proxy in front of Allpairs refuses files of this length. Ask whoever runs it to raise its limit (nginx: "
    "client_max_body_size 250m;), or send a shorter file."
)

log = logging.getLogger(__name__)


class FewLines:
    """A log of what anybody may cause: each line once, and not without end."""

    def __init__(self) -> None:
        self.logged: set[str] = set()

    def warn(self, line: str) -> None:
        """Log the line, unless it has been logged or the log has enough lines."""
        if line not in self.logged and len(self.logged) < MOST:
            self.logged.add(line)
            log.warning("%s", line)


class MisconfiguredProxies:
    """One line in the log for each proxy that is set wrong, as its requests show."""

    def __init__(self) -> None:
        self.log = FewLines()

    def look(self, asking: HTTPConnection) -> None:
        """Log what is wrong with the proxy that this request came through, once."""
        address = asking.client.host if asking.client is not None else "somebody"
        if _is_ignored(asking, address):
            self.log.warn(
                f"{address} sends X-Forwarded-For or X-Forwarded-Proto, but is not trusted: if it is your proxy, set "
                "FORWARDED_ALLOW_IPS to its address; until then cookies lack Secure, and all browsers behind it count "
                "as one when sign-ins fail"
            )
        elif _hides_tls(asking):
            self.log.warn(
                f"{address} speaks TLS with browsers, but does not send X-Forwarded-Proto: add it to your proxy "
                "(nginx: proxy_set_header X-Forwarded-Proto $scheme;); until then cookies lack Secure"
            )
        if asking.scope["path"] == STREAM and asking.scope["type"] == "http":
            self.log.warn(
                f"A websocket came from {address} as a plain request, so pages cannot open: let your proxy pass the "
                f"header Upgrade on ({UPGRADE})"
            )
        acts = asking.scope["path"] == STREAM or asking.scope.get("method") == "POST"
        if acts and (line := other_host(asking, ENGLISH_WORDS)):
            self.log.warn(line)


def other_host(asking: HTTPConnection, _: Words) -> str:
    """Return what to say of a request from a page of another host than it names; empty if there is nothing to say.

    Other sites' pages can send such requests, too: where the browser says that one did, no proxy is to blame.
    """
    origin = asking.headers.get("origin", "")
    host = asking.headers.get("host", "")
    if asking.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return ""
    if not origin.startswith(("http://", "https://")) or len(origin + host) > LONGEST or is_own(origin, host):
        return ""
    return _(OTHER_HOST, origin=origin, host=host)


def _is_ignored(asking: HTTPConnection, address: str) -> bool:
    """Return whether the request says for whom it asks and the server did not believe it."""
    for_whom = [name.strip() for name in asking.headers.get("x-forwarded-for", "").split(",")]
    forwarded_tls = asking.headers.get("x-forwarded-proto", "").partition(",")[0].strip() == "https"
    return (for_whom != [""] and address not in for_whom) or (forwarded_tls and not _is_tls(asking))


def _hides_tls(asking: HTTPConnection) -> bool:
    """Return whether the browser used TLS, which the request does not say."""
    from_tls = asking.headers.get("origin", "").startswith("https://")
    return from_tls and is_own(asking.headers.get("origin"), asking.headers.get("host")) and not _is_tls(asking)


def _is_tls(asking: HTTPConnection) -> bool:
    return asking.scope["scheme"] in ("https", "wss")
