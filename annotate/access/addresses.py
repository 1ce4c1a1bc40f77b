"""The app's own addresses: where browsers may come from, where they are sent, and what invitations print."""

import os
import re
from urllib.parse import quote, urlsplit

from allpairs.db.errors import InputError

ADDRESS = re.compile(r"(https?)://([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?/?")  # names as browsers write them
USUAL = {"http": "80", "https": "443"}  # ports that browsers leave out


def public_urls() -> tuple[str, ...]:
    """Return the addresses at which people reach the app, without a slash at the end; the first one is for links.

    They are in `ALLPAIRS_PUBLIC_URL`, separated by spaces. Raises InputError for anything but `https://HOST[:PORT]`.
    """
    return tuple(_checked(url) for url in os.environ.get("ALLPAIRS_PUBLIC_URL", "").split())


def is_own(origin: str | None, host: str | None, ours: tuple[str, ...]) -> bool:
    """Return whether a page of this origin is the app's own: at the host that was asked, or at one of our addresses."""
    if not origin or not host:
        return False
    return origin.lower() in (*ours, f"http://{host.lower()}", f"https://{host.lower()}")


def local_path(wanted: str) -> str:
    """Return the address if it belongs to this app, else its start page, so that no link leads elsewhere."""
    plain = wanted.isprintable() and "\\" not in wanted  # browsers drop tabs and read \ as /
    if not plain or not wanted.startswith("/") or wanted.startswith("//"):
        return "/"
    parts = urlsplit(wanted)
    return quote(wanted, safe="/?&=%+:,;@!$'()*~-._#") if not parts.scheme and not parts.netloc else "/"


def _checked(url: str) -> str:
    found = ADDRESS.fullmatch(url.lower())
    if found is None:
        what = f"ALLPAIRS_PUBLIC_URL has {url!r}"
        raise InputError(
            f"{what}: give addresses such as https://pairs.example.org, without a path and separated by spaces"
        )
    scheme, host, port = found.groups()
    return f"{scheme}://{host}" + (f":{port}" if port and port != USUAL[scheme] else "")
