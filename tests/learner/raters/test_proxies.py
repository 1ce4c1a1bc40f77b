"""What is sent unencrypted, and what stays on this machine, is seen by no proxy of the environment."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from allpairs.client import ApiError, Client
from allpairs.db.domain import Verdict
from allpairs.learner.raters.endpoint import TRIES, Endpoint, proxy_to
from allpairs.learner.raters.rating import RaterError
from tests.helpers.raters import PROMPT, SECRET, judge, judging
from tests.helpers.services.servers import make_certificate


def test_a_key_leaves_this_machine_only_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name says localhost, and the look-up says otherwise."""
    with judging(judge((), 1, 1)) as found:
        port = int(found.url.split(":")[2].removesuffix("/v1"))
        elsewhere = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: elsewhere)
        with pytest.raises(RaterError, match="unencrypted"):
            Endpoint(f"http://localhost:{port}/v1", "tiny", SECRET, wait=lambda _: None).rate(PROMPT, "x", "y")


@contextmanager
def proxying(to: int | None = None) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the address of a proxy, and what it was sent. to: the port to which each tunnel leads; None: it refuses."""
    seen: list[bytes] = []
    stop = threading.Event()

    def listen(listener: socket.socket) -> None:
        while not stop.is_set():
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    seen.append(connection.recv(65_536))
                    if to is None:
                        connection.sendall(b"HTTP/1.1 502 no\r\ncontent-length: 0\r\n\r\n")
                        continue
                    connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    with socket.create_connection(("127.0.0.1", to)) as beyond:
                        back = threading.Thread(target=hand_on, args=(beyond, connection, []))
                        back.start()
                        hand_on(connection, beyond, seen)
                        back.join()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        thread = threading.Thread(target=listen, args=(listener,))
        thread.start()
        yield f"http://me:word@127.0.0.1:{listener.getsockname()[1]}", seen
        stop.set()
        thread.join()


def hand_on(giver: socket.socket, taker: socket.socket, seen: list[bytes]) -> None:
    """Send what one side sends to the other, until it ends."""
    with suppress(OSError):
        while piece := giver.recv(65_536):
            seen.append(piece)
            taker.sendall(piece)
        taker.shutdown(socket.SHUT_WR)


PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize("case", [str.upper, str.lower])
@pytest.mark.parametrize("excepted", [None, "", "example.org", "*.example.org,localhost"])
def test_a_proxy_sees_nothing_of_what_stays_here(
    monkeypatch: pytest.MonkeyPatch, case: Callable[[str], str], excepted: str | None
) -> None:
    with proxying() as (proxy, seen), judging(judge((), 1, 1)) as found:
        for name in PROXIES[:3]:
            monkeypatch.setenv(case(name), proxy)
        if excepted is not None:
            monkeypatch.setenv(case("NO_PROXY"), excepted)
        for host in ("127.0.0.1", "localhost"):
            url = found.url.replace("127.0.0.1", host)
            assert Endpoint(url, "tiny", SECRET).rate(PROMPT, "x", "y").verdict == Verdict.NO
            with pytest.raises((ApiError, ConnectionError)):  # the judge has no projects
                Client(url.removesuffix("/v1"), "token").projects()
        assert seen == []


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.5.5.5", "[::1]", "[::ffff:127.0.0.1]"])
def test_this_machine_has_no_proxy_whatever_it_is_called(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert proxy_to(urlsplit(f"https://{host}:11434/v1")) is None
    assert proxy_to(urlsplit("https://localhost.example.org/v1")) is not None
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(RaterError, match="HTTPS_PROXY"):
        proxy_to(urlsplit("https://models.example.org/v1"))


def test_a_tunnel_is_read_by_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither is its end: a certificate that nobody trusts ends the exchange."""
    make_certificate(tmp_path, "models.example.org")
    with judging(judge((), 1, 1), tmp_path) as found:
        port = int(found.url.split(":")[2].removesuffix("/v1"))
        with proxying(port) as (proxy, seen):
            monkeypatch.setenv("HTTPS_PROXY", proxy)
            endpoint = Endpoint("https://models.example.org/v1", "tiny", SECRET, wait=lambda _: None)
            with pytest.raises(RaterError, match="CERTIFICATE_VERIFY_FAILED"):
                endpoint.rate(PROMPT, "x", "y")
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
            assert endpoint.rate(PROMPT, "left text", "y").verdict == Verdict.NO
    assert found.headers[-1]["Authorization"] == f"Bearer {SECRET}"
    assert found.headers[-1]["Host"] == "models.example.org"
    sent = b"".join(seen)
    assert b"CONNECT models.example.org:443" in sent and SECRET.encode() not in sent and b"left text" not in sent


def test_an_endpoint_elsewhere_is_reached_through_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy sees the name of the host; what is sent unencrypted, it never sees."""
    with proxying() as (proxy, seen):
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        monkeypatch.setenv("HTTP_PROXY", proxy)
        with pytest.raises(RaterError, match=r"proxy 127\.0\.0\.1 .* 502"):
            Endpoint("https://models.example.org/v1", "tiny", SECRET, wait=lambda _: None).rate(PROMPT, "x", "y")
        assert len(seen) == TRIES and all(one.startswith(b"CONNECT models.example.org:443 HTTP/1.1") for one in seen)
        assert all(b"Proxy-Authorization: Basic bWU6d29yZA==" in one for one in seen)
        assert not any(SECRET.encode() in one for one in seen)
        seen.clear()
        with pytest.raises(RaterError):
            Endpoint("http://192.0.2.1/v1", "tiny", timeout=0.1, wait=lambda _: None).rate(PROMPT, "x", "y")
        monkeypatch.setenv("NO_PROXY", "example.org")
        with pytest.raises(RaterError):
            Endpoint("https://models.example.org/v1", "tiny", timeout=0.1, wait=lambda _: None).rate(PROMPT, "x", "y")
        assert seen == []
