"""What the setup of a machine rater may name: an endpoint's address, and functions and keys that the operator allows.

The app checks a setup when it is stored, and the worker again before it uses one: a row of the database is no
permission.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from allpairs.db.domain import RaterKind, RaterSetup
from allpairs.db.errors import InputError
from allpairs.db.loopback import is_loopback

FUNCTION = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"  # module:function


def require_usable(setup: RaterSetup, environment: Mapping[str, str]) -> None:
    """Raise InputError unless the setup is complete and names no function or key that the operator has not named.

    environment: of this process, where the operator names them.
    """
    if setup.kind == RaterKind.FUNCTION:
        if not re.fullmatch(FUNCTION, setup.function):
            raise InputError("machine rater: name the function as module:function")
        if setup.function not in _names(environment.get("ALLPAIRS_RATER_FUNCTIONS", "")):
            raise InputError(_not_allowed("function", setup.function, "ALLPAIRS_RATER_FUNCTIONS"))
        return
    host = _host_of_endpoint(setup.url)
    if not setup.model:
        raise InputError("machine rater: name the model, as its endpoint calls it")
    if setup.key_name:
        _require_key(setup, host, environment)


def _require_key(setup: RaterSetup, host: str, environment: Mapping[str, str]) -> None:
    if urlsplit(setup.url).scheme == "http" and not is_loopback(host):
        raise InputError(f"machine rater: the key would travel to {host} unencrypted: use https")
    key = f"{setup.key_name}@{host}"
    if key not in _names(environment.get("ALLPAIRS_RATER_KEYS", "")):
        raise InputError(_not_allowed("key", key, "ALLPAIRS_RATER_KEYS"))


def _not_allowed(what: str, name: str, variable: str) -> str:
    return (
        f"machine rater: the operator has not allowed the {what} {name}: add {name} to the environment variable "
        f"{variable} of the app and of its workers, and start them again"
    )


def _names(listed: str) -> set[str]:
    return {name.strip() for name in listed.split(",")}


def _host_of_endpoint(url: str) -> str:
    """Return the host of an endpoint. Raises InputError unless this is an address without anything secret."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:  # a port beyond 65535, or an address of IPv6 that is none
        is_address = False
    if not is_address or not parts.hostname:
        raise InputError("machine rater: give the endpoint's address up to /v1, such as http://localhost:11434/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InputError("machine rater: the address may hold no user name, password or key: name the variable with it")
    return parts.hostname
