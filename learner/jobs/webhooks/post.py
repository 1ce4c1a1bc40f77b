"""Send a message to an address on the internet that somebody else has entered.

The name is looked up once, all that it names is checked, and the connection goes to exactly that: a name that changes
between two look-ups leads nowhere else. Redirects are not followed, and the environment's proxies are not used, since a
proxy would look the name up again.
"""

import socket
from collections.abc import Mapping, Sequence
from urllib.parse import SplitResult

from allpairs.db.errors import InputError
from allpairs.db.projects.webhook_addresses import Network, address_parts, is_allowed_address, refusal
from allpairs.learner.outside.exchange import Incoming, Outgoing, Unanswered, exchange

TIMEOUT = 10.0  # seconds for the whole exchange, with the look-up of the name
LONGEST_REASON = 200  # characters kept of an answer that reports an error


class Failed(Exception):
    """A message that the receiver did not take. status: of its answer, if there was one."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


def post(
    url: str, payload: bytes, headers: Mapping[str, str], networks: Sequence[Network], timeout: float = TIMEOUT
) -> int:
    """Send the message and return the status, 200 to 299. networks: private ones that are allowed. Raises Failed."""
    try:
        parts = address_parts(url)
        outgoing = Outgoing(parts, payload, headers, lambda: _resolved(parts, networks), 4 * LONGEST_REASON)
        return _status(exchange(outgoing, timeout))
    except (InputError, Unanswered) as error:
        raise Failed(str(error)[:LONGEST_REASON]) from None


def _resolved(parts: SplitResult, networks: Sequence[Network]) -> list[str]:
    """Return the addresses that the name stands for. Raises Failed if one of them is private."""
    entries = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in entries))
    for address in addresses:
        if not is_allowed_address(address, networks):
            raise Failed(refusal(address))
    return addresses


def _status(answer: Incoming) -> int:
    if 200 <= answer.status < 300:
        return answer.status
    body = " ".join(answer.body.decode("utf-8", "replace").split())[:LONGEST_REASON]
    problem = f"HTTP {answer.status}"
    if 300 <= answer.status < 400:
        problem += ", and redirects are not followed: enter the address itself"
    raise Failed(f"{problem}: {body}" if body else problem, answer.status)
