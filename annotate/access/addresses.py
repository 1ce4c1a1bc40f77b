"""The app's own addresses: where browsers may come from, and what invitations print."""

import os
from urllib.parse import urlsplit

from allpairs.db.errors import InputError


def public_urls() -> tuple[str, ...]:
    """Return the addresses at which people reach the app, without a slash at the end; the first one is for links.

    They are in `ALLPAIRS_PUBLIC_URL`, separated by spaces. Raises InputError for anything but `https://HOST[:PORT]`.
    """
    return tuple(_checked(url) for url in os.environ.get("ALLPAIRS_PUBLIC_URL", "").split())


def is_own(origin: str | None, host: str | None, ours: tuple[str, ...]) -> bool:
    """Return whether a page of this origin is the app's own: at the host that was asked, or at one of our addresses."""
    if not origin:
        return False
    return origin.lower() in ours or urlsplit(origin).netloc.lower() == (host or "").lower() != ""


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/") or parts.query:
        raise InputError(
            f"ALLPAIRS_PUBLIC_URL has {url!r}: give addresses such as https://pairs.example.org, without a path"
        )
    return f"{parts.scheme}://{parts.netloc}".lower()
