"""Which addresses a webhook may have: public ones, and those of networks that the operator allows."""

import os
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from allpairs.db.errors import InputError

VARIABLE = "ALLPAIRS_WEBHOOK_NETWORKS"
LONGEST = 2000  # characters of an address
_UNICAST = IPv6Network("2000::/3")  # all addresses of single machines that IPv6 has given out
_NAT64 = IPv6Network("64:ff9b::/96")  # the last 32 bits are an IPv4 address
_ODD = IPv4Network("192.0.0.0/24")  # for protocols; Python before 3.12.4 takes part of it for public

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def allowed_networks() -> list[Network]:
    """Return the networks of `ALLPAIRS_WEBHOOK_NETWORKS`, separated by commas. Raises InputError for anything else."""
    named = [name.strip() for name in os.environ.get("ALLPAIRS_WEBHOOK_NETWORKS", "").split(",")]
    try:
        return [ip_network(name) for name in named if name]
    except ValueError as error:
        raise InputError(f"{VARIABLE}: {error}; name networks such as 10.1.0.0/16, separated by commas") from None


def is_allowed_address(address: str, networks: Sequence[Network]) -> bool:
    """Return whether messages may go to this address: it is a public one of a single machine, or in a network."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip
    return any(ip in network for network in networks) or _is_public(ip)


def _is_public(address: Ip) -> bool:
    """Return whether the address is public, and so is the IPv4 address that it may stand for."""
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and address not in _ODD
    if address in _NAT64:
        return _is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    inside = address.sixtofour or (address.teredo[1] if address.teredo else None)
    return address in _UNICAST and address.is_global and (inside is None or _is_public(inside))


def checked_url(url: str, networks: Sequence[Network]) -> str:
    """Return the address of a webhook without the spaces around it.

    Raises InputError unless it is an http or https address without a user name, password or fragment, and if it names
    a private address; names are looked up when a message is sent.
    """
    url = url.strip()
    if not url or len(url) > LONGEST or not url.isascii() or any(char <= " " or char == "\x7f" for char in url):
        raise InputError(f"the address must have 1 to {LONGEST:,} ASCII characters, none of them a space")
    parts = address_parts(url)
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InputError("the address may have no user name, password or fragment: messages are signed instead")
    literal = _as_literal(str(parts.hostname))
    if literal is not None and not is_allowed_address(literal, networks):
        raise InputError(refusal(literal))
    return url


def address_parts(url: str) -> SplitResult:
    """Return the parts of an http or https address. Raises InputError for any other."""
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:  # a port that is no number, or brackets around no address
        wrong = True
    if wrong:
        raise InputError("the address must begin with https:// or http:// and name a machine")
    return parts


def refusal(address: str) -> str:
    """Return why no message is sent to this address, and what to do."""
    return f"{address} is a private address: the operator can allow its network by {VARIABLE}"


def _as_literal(host: str) -> str | None:
    """Return the address that the host states, or 127.0.0.1 for localhost; None for any other name."""
    if host.rstrip(".").lower() == "localhost" or host.rstrip(".").lower().endswith(".localhost"):
        return "127.0.0.1"
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return host
