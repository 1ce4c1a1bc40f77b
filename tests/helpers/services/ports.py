"""Unused ports."""

import os
import socket
from itertools import islice


def free_port() -> int:
    """Return an unused port that no outgoing connection takes while the app is down."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return so many different ones."""
    ports = list(islice(filter(_is_free, range(20_000 + os.getpid() % 5_000, 30_000)), count))
    if len(ports) < count:
        raise RuntimeError(f"no {count} ports between 20000 and 30000 are free")
    return ports


def _is_free(port: int) -> bool:
    with socket.socket() as candidate:
        return candidate.connect_ex(("localhost", port)) != 0
