"""Passwords. Only an argon2id hash of each is stored."""

from functools import cache
from secrets import token_urlsafe

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from allpairs.db.errors import InputError

SHORTEST = 10  # characters
LONGEST = 1_000  # characters
HASHER = PasswordHasher()  # argon2id, RFC 9106, low-memory parameters: 64 MiB, 3 passes, 4 lanes


def hash_of(password: str) -> str:
    """Return the hash of a password, with its salt and parameters.

    Raises InputError if the password is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError(
            "the password has {n} characters; it must have {shortest} to {longest}",
            n=len(password),
            shortest=SHORTEST,
            longest=f"{LONGEST:,}",
        )
    return HASHER.hash(password)


def is_password(stored: str | None, password: str) -> bool:
    """Return whether the password has this hash. Without a hash the check takes as long and fails."""
    try:
        right = HASHER.verify(stored or _nobodys(), password[:LONGEST])
        return right and stored is not None and len(password) <= LONGEST
    except (VerifyMismatchError, InvalidHashError):
        return False


def is_outdated(stored: str) -> bool:
    """Return whether the hash was made with parameters other than today's."""
    return HASHER.check_needs_rehash(stored)


@cache
def _nobodys() -> str:
    """Return the hash of a password that nobody knows, so that an unknown name takes as long as a known one."""
    return HASHER.hash(token_urlsafe(32))
