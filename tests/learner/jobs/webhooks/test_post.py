"""Messages to addresses that somebody else has entered: where they go, and what the receiver may do."""

import socket
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from allpairs.learner.jobs.webhooks import post as posting
from allpairs.learner.jobs.webhooks.post import LONGEST_REASON, Failed, post
from tests.helpers.services.webhooks import Receiver, receiving

HERE = [ip_network("127.0.0.0/8")]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


def test_a_message_arrives_as_it_is(receiver: Receiver) -> None:
    assert (
        post(f"{receiver.url}/a/b?key=1", b"{}", {"webhook-id": "x", "content-type": "application/json"}, HERE) == 204
    )
    (got,) = receiver.got
    assert (got.path, got.payload, got.headers["webhook-id"]) == ("/a/b?key=1", b"{}", "x")
    assert got.headers["host"] == receiver.url.removeprefix("http://")


def test_a_private_address_gets_nothing(receiver: Receiver) -> None:
    with pytest.raises(Failed, match="ALLPAIRS_WEBHOOK_NETWORKS"):
        post(receiver.url, b"", {}, [])
    assert receiver.got == []


def name(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every name stand for these addresses."""

    def look_up(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(posting.socket, "getaddrinfo", look_up)


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("8.8.8.8", "127.0.0.1"), ("::ffff:127.0.0.1",)])
def test_a_name_of_a_private_address_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver, addresses: tuple[str, ...]
) -> None:
    name(monkeypatch, *addresses)
    with pytest.raises(Failed, match="private address"):
        post("http://innocent.example/", b"", {}, [])


def test_the_connection_goes_to_the_address_that_was_checked(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    looked_up: list[str] = []
    look_up = socket.getaddrinfo

    def rebinding(host: str, *rest: Any, **more: Any) -> Any:
        if host == "innocent.example":
            looked_up.append(host)
            host = "127.0.0.1" if len(looked_up) == 1 else "127.0.0.2"
        return look_up(host, *rest, **more)

    monkeypatch.setattr(posting.socket, "getaddrinfo", rebinding)
    port = receiver.url.rpartition(":")[2]
    assert post(f"http://innocent.example:{port}/", b"", {}, HERE) == 204
    assert looked_up == ["innocent.example"] and receiver.got[0].headers["host"] == f"innocent.example:{port}"


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch, receiver: Receiver) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    assert post(receiver.url, b"", {}, HERE) == 204


def test_redirects_are_not_followed(receiver: Receiver) -> None:
    receiver.status, receiver.more = 302, {"location": f"{receiver.url}/elsewhere"}
    with pytest.raises(Failed, match="302") as failure:
        post(receiver.url, b"", {}, HERE)
    assert failure.value.status == 302 and len(receiver.got) == 1


def test_of_an_error_little_is_kept(receiver: Receiver) -> None:
    receiver.status, receiver.said = 500, b"\x00bad\xff " + b"x" * 100_000
    with pytest.raises(Failed) as failure:
        post(receiver.url, b"", {}, HERE)
    assert failure.value.status == 500 and "bad" in str(failure.value)
    assert len(str(failure.value)) <= LONGEST_REASON + 20


def test_where_nobody_answers_that_is_said() -> None:
    with pytest.raises(Failed, match="refused") as failure:
        post("http://127.0.0.1:1/", b"", {}, HERE)
    assert failure.value.status is None


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("piece", [b"", b"H"])
def test_a_receiver_that_takes_its_time_is_cut_off(scheme: str, piece: bytes) -> None:
    stop = threading.Event()

    def dribble(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            while not stop.wait(0.05):
                try:
                    connection.sendall(piece)
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=dribble, args=(listener,))
        thread.start()
        began = time.monotonic()
        with pytest.raises(Failed):
            post(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/", b"", {}, HERE, timeout=0.4)
        assert time.monotonic() - began < 3
        stop.set()
        thread.join()
