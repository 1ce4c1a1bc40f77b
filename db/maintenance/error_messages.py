"""Errors of the disk or the database, in a sentence that says what to do."""

import errno
import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError

from allpairs.db.schema.engine import home

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


def in_words(error: BaseException) -> str | None:
    """Return the sentence; None for an error that is not about the disk or the database."""
    said = str(error.orig).lower() if isinstance(error, DBAPIError) else ""
    number, place = (error.errno, error.filename or home()) if isinstance(error, OSError) else (None, home())
    if number in _FULL or "is full" in said or "no space left" in said:
        return f"The disk is full, and nothing was stored: free space for {place} and the database."
    if number in _FORBIDDEN or "readonly database" in said or "read-only" in said or "unable to open" in said:
        return f"Cannot write to {place} or the database: give write permission to the user that runs Allpairs."
    if "malformed" in said or "not a database" in said:
        return "The database is damaged: run `allpairs db check`, and restore a back-up."
    if "disk i/o error" in said:
        return f"The disk reports an error, and nothing was stored: check the disk of {home()}."
    if "locked" in said:
        return "The database was locked for too long, and nothing was stored: try again."
    if isinstance(error, DBAPIError) and (error.connection_invalidated or _is_away(error)):
        return "The database does not answer, and nothing was stored: check that it is running, and try again."
    return None


def _is_away(error: DBAPIError) -> bool:
    """Return whether a server does not answer; on SQLite every wrong statement raises this type."""
    return isinstance(error, OperationalError) and not isinstance(error.orig, sqlite3.Error)
