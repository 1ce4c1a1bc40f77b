"""Passwords: what is stored of one is its argon2id hash."""

from functools import cache
from secrets import token_urlsafe

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from db.errors import InputError

SHORTEST, LONGEST = 10, 1_000  # characters
HASHER = PasswordHasher()  # argon2id, RFC 9106's parameters for little memory: 64 MiB, 3 passes, 4 lanes


def hash_of(password: str) -> str:
    """The hash of a password, with its salt and parameters.

    Raises InputError for one that is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError(f"the password has {len(password)} characters; it must have {SHORTEST} to {LONGEST:,}")
    return HASHER.hash(password)


def is_password(stored: str | None, password: str) -> bool:
    """Whether the password has this hash. Where there is none it is always wrong, and takes as long."""
    try:
        right = HASHER.verify(stored or _nobodys(), password[:LONGEST])
        return right and stored is not None and len(password) <= LONGEST
    except (VerifyMismatchError, InvalidHashError):
        return False


def is_outdated(stored: str) -> bool:
    """Whether the hash was made with other parameters than today's."""
    return HASHER.check_needs_rehash(stored)


@cache
def _nobodys() -> str:
    """The hash of a password that nobody knows: an unknown name must not be told from a known one by the time taken."""
    return HASHER.hash(token_urlsafe(32))
