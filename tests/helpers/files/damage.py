"""Damage to files."""

from pathlib import Path


def harm(path: Path) -> None:
    """Nothing; one bit in the middle of the file is another one, its size and time are as before."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
