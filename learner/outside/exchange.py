"""A request to an address and its answer, over within a deadline: however slowly the other side looks up or sends.

Redirects are not followed. The environment's proxies are not used, unless the caller names one.
"""

import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from urllib.parse import SplitResult, unquote

from allpairs.learner.outside.waiting import Poll, attend, no_poll

PORTS = {"http": 80, "https": 443}


class Unanswered(Exception):
    """There is no answer: nobody listens, the line broke, or the time is over. The words may quote the other side."""


@dataclass(frozen=True)
class Outgoing:
    """What is sent where: to the first of the addresses that answers, or for https through a proxy's tunnel.

    find_addresses: called at the start of the exchange, in its time; may raise. longest: bytes of an answer to read.
    """

    parts: SplitResult
    payload: bytes
    headers: Mapping[str, str] = field(repr=False)
    find_addresses: Callable[[], Sequence[str]]
    longest: int
    proxy: SplitResult | None = None


@dataclass(frozen=True)
class Incoming:
    """An answer: its status, its headers, and the first bytes of its body."""

    status: int
    headers: Message  # whose names may be written in any case
    body: bytes


def exchange(outgoing: Outgoing, seconds: float, poll: Poll = no_poll) -> Incoming:
    """Post the request and return the answer. poll: called every half second; what it raises ends the exchange.

    Raises Unanswered, and whatever `find_addresses` raises that is no error of the network.
    """
    line = _Line(outgoing, time.monotonic() + seconds)
    threads = ThreadPoolExecutor(1, "exchange")
    try:
        return attend(threads.submit(_talk, line), poll, seconds)
    except TimeoutError:
        raise Unanswered(f"no answer within {seconds:g} seconds") from None
    except (OSError, HTTPException) as error:
        raise Unanswered(f"{type(error).__name__}: {error}") from None
    except ValueError:  # whose words quote a header, and with it a key
        raise Unanswered("its address or its answer breaks the rules of HTTP") from None
    finally:
        line.cut()
        threads.shutdown(wait=False)


def _talk(line: "_Line") -> Incoming:
    outgoing = line.outgoing
    parts = outgoing.parts
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        line.request("POST", path, outgoing.payload, dict(outgoing.headers))
        with line.getresponse() as response:
            body = response.read(outgoing.longest)
            if response.length and len(body) < outgoing.longest:
                raise IncompleteRead(body, response.length)
            return Incoming(response.status, response.headers, body)
    finally:
        line.close()
        if line.socket is not None:  # the base class does not know it before the connection is there
            line.socket.close()


class _Line(HTTPConnection):
    """A connection to one of the addresses, whatever the name in the request is."""

    def __init__(self, outgoing: Outgoing, end: float) -> None:
        self.default_port = PORTS[outgoing.parts.scheme]  # the header Host names any other port
        super().__init__(str(outgoing.parts.hostname), outgoing.parts.port or self.default_port)
        self.outgoing = outgoing
        self.end = end
        self.is_cut = False
        self.socket: socket.socket | None = None  # the base class forgets it once an answer comes

    def connect(self) -> None:
        """Connect to the first address that answers, or through the proxy."""
        proxy = self.outgoing.proxy
        if proxy is None:
            self.socket = self._first(self.outgoing.find_addresses(), int(self.port))
        else:
            self.socket = self._first([str(proxy.hostname)], proxy.port or PORTS["http"])
            self._open_tunnel(self.socket, proxy)
        if self.outgoing.parts.scheme == "https":
            context = ssl.create_default_context()
            self.socket = context.wrap_socket(self.socket, server_hostname=self.host, do_handshake_on_connect=False)
        if self.is_cut:  # while it connected: nothing may be sent any more
            raise OSError("the exchange is over")
        if isinstance(self.socket, ssl.SSLSocket):
            self.socket.do_handshake()
        self.sock = self.socket

    def _first(self, addresses: Sequence[str], port: int) -> socket.socket:
        failure: OSError = OSError("the name has no address")
        for address in addresses:
            try:
                return socket.create_connection((address, port), max(self.end - time.monotonic(), 0.001))
            except OSError as error:
                failure = error
        raise failure

    def _open_tunnel(self, line: socket.socket, proxy: SplitResult) -> None:
        host = f"[{self.host}]" if ":" in self.host else self.host
        request = f"CONNECT {host}:{self.port} HTTP/1.1\r\nHost: {host}:{self.port}\r\n"
        if proxy.username:
            credentials = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
            request += f"Proxy-Authorization: Basic {b64encode(credentials.encode()).decode()}\r\n"
        line.sendall(f"{request}\r\n".encode())
        answer = HTTPResponse(line, method="CONNECT")
        answer.begin()
        if answer.status != 200:
            raise OSError(f"the proxy {proxy.hostname} refuses with status {answer.status}")

    def cut(self) -> None:
        """End the exchange: whoever connects, reads or writes gets an error."""
        self.is_cut = True
        if self.socket is not None:
            with suppress(OSError):  # it has just ended
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)
