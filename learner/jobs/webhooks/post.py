"""Send a message to an address on the internet that somebody else has entered.

The name is looked up once, all that it names is checked, and the connection goes to exactly that: a name that changes
between two look-ups leads nowhere else. Redirects are not followed, and the environment's proxies are not used, since a
proxy would look the name up again.
"""

import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Timer
from urllib.parse import SplitResult

from allpairs.db.errors import InputError
from allpairs.db.projects.webhook_addresses import Network, is_allowed, parts_of, refusal

TIMEOUT = 10.0  # seconds for the whole exchange, without the look-up of the name
TOLD = 200  # characters of an answer that is kept if it reports an error


class Failed(Exception):
    """A message that the receiver did not take. status: of its answer, if there was one."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class _Pinned(HTTPConnection):
    """A connection to one of these addresses, whatever the name in the request is, for a number of seconds."""

    def __init__(self, parts: SplitResult, addresses: Sequence[str], seconds: float) -> None:
        self.secure = parts.scheme == "https"
        self.default_port = 443 if self.secure else 80  # the header Host names any other port
        super().__init__(str(parts.hostname), parts.port or self.default_port)
        self.addresses, self.end = addresses, time.monotonic() + seconds
        self.line: socket.socket | None = None  # the base class forgets it once an answer comes

    def connect(self) -> None:
        """Connect to the first address that answers."""
        for at, address in enumerate(self.addresses):
            try:
                self.line = socket.create_connection((address, self.port), max(self.end - time.monotonic(), 0.001))
                break
            except OSError:
                if at == len(self.addresses) - 1:
                    raise
        assert self.line is not None
        if self.secure:
            context = ssl.create_default_context()
            self.line = context.wrap_socket(self.line, server_hostname=self.host, do_handshake_on_connect=False)
            self.line.do_handshake()
        self.sock = self.line

    def cut(self) -> None:
        """End the exchange: whoever reads or writes gets an error."""
        if self.line is not None:
            with suppress(OSError):  # it has just ended
                socket.socket.shutdown(self.line, socket.SHUT_RDWR)


def post(
    url: str, payload: bytes, headers: Mapping[str, str], networks: Sequence[Network], timeout: float = TIMEOUT
) -> int:
    """Send the message and return the status, 200 to 299. networks: private ones that are allowed. Raises Failed."""
    try:
        parts = parts_of(url)
        connection = _Pinned(parts, _resolved(parts, networks), timeout)
        with _deadline(connection, timeout):
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", path, payload, dict(headers))
            return _status(connection.getresponse())
    except InputError as error:
        raise Failed(str(error)) from None
    except TimeoutError:
        raise Failed(f"no answer within {timeout:g} seconds") from None
    except (OSError, HTTPException, UnicodeError) as error:
        raise Failed(f"{type(error).__name__}: {error}"[:TOLD]) from None


def _resolved(parts: SplitResult, networks: Sequence[Network]) -> list[str]:
    """Return the addresses that the name stands for. Raises Failed if one of them is private."""
    found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    for address in addresses:
        if not is_allowed(address, networks):
            raise Failed(refusal(address))
    return addresses


@contextmanager
def _deadline(connection: _Pinned, seconds: float) -> Iterator[None]:
    """Cut the connection when the time is over: a receiver that sends byte by byte lets each read succeed."""
    timer = Timer(seconds, connection.cut)
    timer.start()
    try:
        yield
    except (OSError, HTTPException) as error:
        raise (TimeoutError() if time.monotonic() >= connection.end else error) from None
    finally:
        timer.cancel()
        connection.close()


def _status(answer: HTTPResponse) -> int:
    if 200 <= answer.status < 300:
        return answer.status
    said = " ".join(answer.read(4 * TOLD).decode("utf-8", "replace").split())[:TOLD].replace("\0", "")
    what = f"HTTP {answer.status}"
    if 300 <= answer.status < 400:
        what += ", and redirects are not followed: enter the address itself"
    raise Failed(f"{what}: {said}" if said else what, answer.status)
