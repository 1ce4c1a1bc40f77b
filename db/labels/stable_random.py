"""Pseudo-random numbers determined by what they are for: the same at any time, in any process."""

from hashlib import blake2b


def chance(*parts: object) -> float:
    """Return a number from 0 (included) to 1 (excluded), uniformly distributed over different `parts`."""
    digest = blake2b("\0".join(map(str, parts)).encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53
