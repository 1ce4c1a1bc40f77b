"""The app's own addresses: where browsers may come from, where they are sent, and what invitations print."""

import os
import re
from urllib.parse import quote, urlsplit

from allpairs.db.errors import InputError

HOST = r"([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?"  # names as browsers write them
ADDRESS = re.compile(rf"(https?)://{HOST}((?:/[\w.~-]+)*)/?", re.ASCII | re.IGNORECASE)
LAST_PORT = 65_535
USUAL = {"http": "80", "https": "443"}  # ports that browsers leave out


def public_urls() -> tuple[str, ...]:
    """Return the addresses at which people reach the app, without a slash at the end; the first one is for links.

    They are in `ALLPAIRS_PUBLIC_URL`, separated by spaces. Raises InputError for anything but
    `https://HOST[:PORT][/PATH]`, and for different paths.
    """
    urls = tuple(_checked(url) for url in os.environ.get("ALLPAIRS_PUBLIC_URL", "").split())
    paths = {urlsplit(url).path for url in urls}
    if len(paths) > 1:
        raise InputError(f"ALLPAIRS_PUBLIC_URL has the paths {sorted(paths)}: give all addresses the same path")
    return urls


def base_path() -> str:
    """Return the path below which people reach the app, such as `/pairs`; empty where it has a host of its own."""
    return urlsplit(next(iter(public_urls()), "")).path


def is_own(origin: str | None, host: str | None) -> bool:
    """Return whether a page of this origin is the app's own: at the host that was asked, or at one of our addresses."""
    if not origin or not host:
        return False
    own_addresses = [f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, public_urls())]
    return origin.lower() in (*own_addresses, f"http://{host.lower()}", f"https://{host.lower()}")


def local_path(address: str) -> str:
    """Return the address if it belongs to this app, else its start page, so that no link leads elsewhere."""
    plain = address.isprintable() and "\\" not in address  # browsers drop tabs and read \ as /
    if not plain or not address.startswith("/") or address.startswith("//"):
        return "/"
    parts = urlsplit(address)
    return quote(address, safe="/?&=%+:,;@!$'()*~-._#") if not parts.scheme and not parts.netloc else "/"


def _checked(url: str) -> str:
    parts = ADDRESS.fullmatch(url)
    if parts is None or int(parts[3] or 0) > LAST_PORT:
        raise InputError(
            f"ALLPAIRS_PUBLIC_URL has {url!r}: give addresses such as https://pairs.example.org or "
            "https://example.org/pairs, separated by spaces"
        )
    scheme = parts[1].lower()
    host = parts[2].lower()
    port = parts[3]
    path = parts[4]
    return f"{scheme}://{host}" + (f":{port}" if port and port != USUAL[scheme] else "") + path
