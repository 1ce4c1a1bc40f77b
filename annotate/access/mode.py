"""Whether a login is needed. Only somebody who is alone on their own machine needs none."""

from ipaddress import ip_address

from sqlalchemy import Engine

from db.errors import InputError
from db.people.people import anybody
from db.schema.engine import reading

REQUIRED = "required"
ANNOTATOR = "me"  # under which answers are stored where nobody logs in and no name is given
NO_ACCOUNTS = (
    "a login is needed here, and there is no account yet: run python -m annotate people add NAME --administrator first"
)


def is_loopback(address: str | None) -> bool:
    """Whether the address is one that only programs on the same machine reach; no address stands for all of them."""
    if address in (None, ""):
        return False
    if str(address).lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(str(address).strip("[]")).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """The name or number in a Host header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def forced(variable: str | None, address: str | None) -> bool:
    """Whether a login is needed even where there is no account: the variable ALLPAIRS_LOGIN says so, or the address.

    Raises InputError for another value of the variable.
    """
    if variable not in (None, "", REQUIRED):
        raise InputError(f"ALLPAIRS_LOGIN is {variable!r}: it can be {REQUIRED!r}, or not be there")
    return variable == REQUIRED or not is_loopback(address)


def login_needed(engine: Engine, is_forced: bool) -> bool:
    """Whether whoever comes must log in: where that is forced, and where there is any account."""
    if is_forced:
        return True
    with reading(engine) as session:
        return anybody(session)


def check_start(engine: Engine, is_forced: bool) -> None:
    """Nothing. Raises InputError where everybody must log in and nobody can."""
    if not is_forced:
        return
    with reading(engine) as session:
        if not anybody(session):
            raise InputError(NO_ACCOUNTS)
