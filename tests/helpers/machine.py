"""What tests need of the machine and of the run: paths, programs, ports, disks, files and numbers of examples."""

import errno
import os
import socket
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parents[2]


def examples(count: int) -> int:
    """Scale this count by the profile's number of examples out of a hundred; at least five."""
    return max(5, count * hypothesis.settings().max_examples // 100)


Require = Callable[[bool, str], None]  # whether a program is found, and what to say where it is not


def need(found: bool, message: str, required: bool) -> None:
    """End the test unless the program is found: as failed where the run requires programs, else as skipped."""
    if not found:
        (pytest.fail if required else pytest.skip)(message)


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


def is_alive(pid: int) -> bool:
    """Return whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def fill_disk(disk: Path) -> Path:
    """Write a file that takes the disk's remaining space, and return it."""
    path = disk / "filler"
    with path.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 4096)
            except OSError as error:
                assert error.errno == errno.ENOSPC
                return path


def flip_bit(path: Path) -> None:
    """Flip one bit in the middle of the file, keeping its size."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    before = path.stat().st_mtime_ns
    path.write_bytes(content)
    os.utime(path, ns=(before, before + 1))  # the clock of files may not have ticked since it was read
