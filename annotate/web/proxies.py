"""Proxies that announce their browsers to an app that does not trust them."""

import logging

from starlette.requests import HTTPConnection

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
MOST = 100  # addresses to tell of: anybody may send such headers

log = logging.getLogger(__name__)


class UntrustedProxies:
    """A line in the log for each address whose forwarded headers the server ignored."""

    def __init__(self) -> None:
        self.told: set[str] = set()

    def look(self, asking: HTTPConnection) -> None:
        """Log the address of whoever asks, once, if it says for whom it asks and the server did not believe it."""
        headers, address = asking.headers, asking.client.host if asking.client is not None else ""
        for_whom = [one.strip() for one in headers.get("x-forwarded-for", "").split(",")]
        ignored = for_whom != [""] and address not in for_whom
        if headers.get("x-forwarded-proto", "").partition(",")[0].strip() == "https":
            ignored = ignored or asking.scope["scheme"] in ("http", "ws")
        if ignored and address not in self.told and len(self.told) < MOST:
            self.told.add(address)
            log.warning(
                "%s sends X-Forwarded-For or X-Forwarded-Proto, but is not trusted: if it is your proxy, set "
                "FORWARDED_ALLOW_IPS to its address; until then cookies lack Secure, and all browsers behind it count "
                "as one when sign-ins fail",
                address or "somebody",
            )
