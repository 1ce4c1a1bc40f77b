"""An unused port."""

import os
import socket


def free_port() -> int:
    """Return an unused port that no outgoing connection takes while the app is down."""
    for port in range(20_000 + os.getpid() % 5_000, 30_000):
        with socket.socket() as candidate:
            if candidate.connect_ex(("localhost", port)) != 0:
                return port
    raise RuntimeError("no port between 20000 and 30000 is free")
