"""No endpoint holds its caller: every wait ends at a deadline, and hears a cancel."""

import socket
import threading
import time

import pytest

from allpairs.learner.outside import waiting
from allpairs.learner.raters.endpoint import TRIES, Endpoint
from allpairs.learner.raters.rating import RaterError
from tests.helpers.raters import PROMPT, by_function, dripping, judge, judging


class Stop(Exception):
    """Somebody has cancelled."""


def cancel() -> None:
    raise Stop


def test_a_dripping_endpoint_is_left_at_the_deadline_or_a_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    with dripping() as url:
        began = time.monotonic()
        with pytest.raises(RaterError, match="no answer within"):
            Endpoint(url, "tiny", timeout=0.2, wait=lambda _: None).rate(PROMPT, "x", "y")
        assert time.monotonic() - began < 0.2 * TRIES + 2
        began = time.monotonic()
        with pytest.raises(Stop):
            Endpoint(url, "tiny").rate(PROMPT, "x", "y", cancel)
        assert time.monotonic() - began < 2


def test_a_cancel_is_heard_while_it_waits() -> None:
    began = time.monotonic()
    with judging(lambda *_: (429, {"Retry-After": "100"}, b"")) as found, pytest.raises(Stop):
        Endpoint(found.url, "tiny").rate(PROMPT, "x", "y", cancel)
    assert time.monotonic() - began < 2


def test_a_cancel_is_heard_while_a_function_works() -> None:
    began = time.monotonic()
    with pytest.raises(Stop):
        by_function("tests.learner.raters.judges:slow").rate(PROMPT, "a", "b", cancel)
    assert time.monotonic() - began < 2


def test_a_name_that_is_looked_up_for_ever_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(5) and [])
    with pytest.raises(RaterError, match="no answer within"):
        Endpoint("http://example.org/v1", "tiny", timeout=0.1, wait=lambda _: None).rate(PROMPT, "x", "y")
    over.set()


def test_what_is_cancelled_during_the_look_up_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    look_up, go_on = socket.getaddrinfo, threading.Event()

    def slow_look_up(*given: object, **more: object) -> object:
        go_on.wait(10)
        return look_up(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(waiting, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(socket, "getaddrinfo", slow_look_up)
    with judging(judge((), 1, 1)) as found:
        with pytest.raises(Stop):
            Endpoint(found.url, "tiny").rate(PROMPT, "x", "y", cancel)
        go_on.set()
        for thread in threading.enumerate():
            if thread.name.startswith("exchange"):
                thread.join()
        assert found.bodies == []
