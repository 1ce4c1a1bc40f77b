"""Addresses that stay on this machine."""

from ipaddress import IPv6Address, ip_address


def is_loopback(address: str | None) -> bool:
    """Return whether only programs on the same machine can reach the address; no address means all of them."""
    name = (address or "").strip("[]").rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        number = ip_address(name)
    except ValueError:
        return False
    mapped = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return (mapped or number).is_loopback
