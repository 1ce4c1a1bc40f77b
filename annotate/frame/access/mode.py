"""Whether users must sign in. Only somebody who works alone on their own machine need not."""

from sqlalchemy import Engine

from allpairs.db.errors import InputError
from allpairs.db.loopback import is_loopback
from allpairs.db.people.people import anybody, folded, known_names
from allpairs.db.schema.engine import reading

REQUIRED = "required"
ANNOTATOR = "me"  # the name that answers get where nobody signs in and no name is given
MAX_ANNOTATOR = 200
NO_ACCOUNTS = "users must sign in here, but no account exists yet: run allpairs people add NAME --administrator first"


def annotator_named(engine: Engine, name: str) -> str:
    """Return the name to store answers under, where nobody signs in and somebody gives this name.

    It is written as that person's answers have it, whatever the case and the Unicode form that was typed.
    """
    name = "".join(char for char in name if char.isprintable()).strip()[:MAX_ANNOTATOR] or ANNOTATOR
    with reading(engine) as session:
        return known_names(session).get(folded(name), name)


def host_without_port(header: str) -> str:
    """Return the host name or number in a Host header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def forced(variable: str | None, address: str | None) -> bool:
    """Return whether users must sign in even if there is no account: by the variable ALLPAIRS_LOGIN, or by the address.

    Raises InputError for any other value of the variable.
    """
    if variable not in (None, "", REQUIRED):
        raise InputError(f"ALLPAIRS_LOGIN is {variable!r}: set it to {REQUIRED!r}, or unset it")
    return variable == REQUIRED or not is_loopback(address)


def login_needed(engine: Engine, is_forced: bool) -> bool:
    """Return whether users must sign in: if that is forced, or if any account exists."""
    if is_forced:
        return True
    with reading(engine) as session:
        return anybody(session)


def check_start(engine: Engine, is_forced: bool) -> None:
    """Raise InputError if everybody must sign in but there is no account."""
    if not is_forced:
        return
    with reading(engine) as session:
        if not anybody(session):
            raise InputError(NO_ACCOUNTS)
