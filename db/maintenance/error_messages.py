"""Faults of the disk or the database, recognised in one place and put into a sentence that says what to do."""

import errno
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError, OperationalError

from allpairs.db.errors import InputError
from allpairs.db.schema.engine import home

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, "53100")  # numbers of the system, and the code of PostgreSQL
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM, "25006")
_NO_ROOM = 2**20  # bytes; SQLite calls it an I/O error when it finds no room for the files beside the database

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fault:
    """What happened, without any path, and what whoever runs Allpairs can do about it."""

    problem: str
    remedy: str
    full: bool = False  # whether there is no room
    passes: bool = False  # whether it may pass without anybody's doing

    def __str__(self) -> str:
        return f"{self.problem}: {self.remedy}."


def in_words(error: BaseException) -> str | None:
    """Return the sentence; None for an error that is not about the disk or the database."""
    fault = fault_of(error)
    return str(fault) if fault else None


def fault_of(error: BaseException) -> Fault | None:
    """Return the fault that the error tells of, also one of input that was caused by it; None for any other error."""
    return next((fault for cause in _causes(error) if (fault := _fault_of(cause))), None)


@contextmanager
def if_possible() -> Iterator[None]:
    """Log a fault instead of raising it, for a write that no request should fail by, such as when somebody was here."""
    try:
        yield
    except (DBAPIError, OSError) as error:
        if (fault := fault_of(error)) is None:
            raise
        log.warning("%s (%s)", fault, error)


def _causes(error: BaseException) -> Iterator[BaseException]:
    yield error
    while isinstance(error, InputError) and error.__context__ is not None:
        error = error.__context__
        yield error


def _fault_of(error: BaseException) -> Fault | None:
    if not isinstance(error, DBAPIError | OSError):
        return None
    code, message, place = _parts(error)
    if (
        code in _FULL
        or "is full" in message
        or "no space left" in message
        or ("disk i/o error" in message and _no_room())
    ):
        return Fault("The disk is full, and nothing was stored", f"free space for {place} and the database", full=True)
    if code in _FORBIDDEN or "readonly database" in message or "read-only" in message or "unable to open" in message:
        remedy = f"give the user that runs Allpairs write permission for {place} and the database"
        return Fault("Cannot write to the disk or the database, and nothing was stored", remedy, passes=code == "25006")
    if "malformed" in message or "not a database" in message:
        return Fault("The database is damaged", "run `allpairs db check`, and restore a back-up")
    if "disk i/o error" in message:
        return Fault("The disk reports an error, and nothing was stored", f"check the disk of {home()}")
    if "locked" in message:
        return Fault("The database was locked for too long, and nothing was stored", "try again", passes=True)
    if isinstance(error, DBAPIError) and (error.connection_invalidated or _is_away(error)):
        remedy = "check that it is running, and try again"
        return Fault("The database does not answer, and nothing was stored", remedy, passes=True)
    return None


def _parts(error: DBAPIError | OSError) -> tuple[object, str, object]:
    """Return the error's code, what the database says in small letters, and the place that it is about."""
    if isinstance(error, OSError):
        return error.errno, "", error.filename or home()
    return getattr(error.orig, "sqlstate", None), str(error.orig).lower(), home()


def _no_room() -> bool:
    """Return whether the disk of the database is full."""
    try:
        return shutil.disk_usage(home()).free < _NO_ROOM
    except OSError:
        return False


def _is_away(error: DBAPIError) -> bool:
    """Return whether a server does not answer; on SQLite every wrong statement raises this type."""
    return isinstance(error, OperationalError) and not isinstance(error.orig, sqlite3.Error)
