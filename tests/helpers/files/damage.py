"""Damage to files."""

from pathlib import Path


def harm(path: Path) -> None:
    """Flip one bit in the middle of the file, keeping size and time."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
