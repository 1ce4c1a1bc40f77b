"""The websocket of an open page: who opens it, what passes, when it ends, and what is left."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import requests
from sqlalchemy import Engine
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from allpairs.annotate.frame.access import people
from allpairs.annotate.frame.web import sockets
from allpairs.annotate.frame.web.sessions import Visit
from allpairs.annotate.frame.web.sockets import PageSocket
from allpairs.db.domain import Role
from tests.helpers.factories import make_project
from tests.helpers.people import at, make_person
from tests.helpers.web import COOKIE, SESSION, FakeSessions, Open, connect, log_in, opened


def message(kind: str, **more: Any) -> bytes:
    value = more if more or kind in ("rerun_script", "file_urls_request") else True
    return BackMsg(**{kind: value}).SerializeToString()


def passing(socket: WebSocketTestSession, *kinds: str) -> list[str]:
    """Return which messages the script gets to see; the last one always does."""
    sent = [message("backend_operation_request", **{kind: {}}) if "_" in kind and kind in PAYLOADS else message(kind)
            for kind in (*kinds, "rerun_script")]  # fmt: skip
    for one in sent:
        socket.send_bytes(one)
    seen = []
    while (kind := socket.receive_text()) != "rerun_script":
        seen.append(kind)
    return seen


PAYLOADS = ("deferred_file", "install_skills", "dismiss_skills_nudge", "dataframe_chunk")
HARMFUL = ("clear_cache", "set_run_on_save", "load_git_info", "debug_disconnect_websocket", "debug_shutdown_runtime",
           "install_skills", "dismiss_skills_nudge")  # fmt: skip


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://localhost:9999",
        "null",
        None,
        "https://pairs.example.org:444",
        "x",
        "http://[",
        "ftp://localhost:8501",
        "http://localhost:8501/path",
    ],
)
@pytest.mark.parametrize("forced", [True, False])
def test_no_page_of_another_site_opens_a_socket(open_site: Open, engine: Engine, origin: str, forced: bool) -> None:
    site = open_site("https://pairs.example.org" if forced else "http://localhost:8501", forced=forced)
    if forced:
        make_person(engine, "Anna")
        log_in(site)
    with pytest.raises(WebSocketDisconnect), connect(site, Origin=origin):
        pass
    with connect(site) as socket:
        assert opened(socket)["protocols"] == ""


def test_a_page_at_the_public_address_is_ours_without_streamlit(
    open_site: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_person(engine, "Anna")
    site = open_site("http://app:8501")
    with pytest.raises(WebSocketDisconnect), connect(site, Origin="https://pairs.example.org"):
        pass
    monkeypatch.setenv("ALLPAIRS_PUBLIC_URL", "https://pairs.example.org https://other.example.org:8443/")
    for origin in ("https://pairs.example.org", "https://other.example.org:8443"):
        with connect(site, Origin=origin) as socket:
            # Streamlit compares both: where they differ, it asks another server for its own address.
            assert opened(socket)["host"] == origin.removeprefix("https://")


def test_streamlit_never_asks_an_outside_address(open_site: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(requests, "get", lambda url, **options: asked.append(url))
    from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed

    assert not _is_origin_allowed("https://evil.example", "localhost:8501") and asked  # what a handshake would start
    asked.clear()
    site = open_site("http://localhost:8501", forced=False)
    with connect(site) as socket:
        seen = opened(socket)["host"]
    assert _is_origin_allowed("http://localhost:8501", seen) and not asked


def test_only_what_a_page_sends_passes(site: TestClient, engine: Engine, sessions: FakeSessions) -> None:
    make_person(engine, "Anna")
    log_in(site)
    with connect(site) as socket:
        opened(socket)
        wanted = ("stop_script", "deferred_file", "dataframe_chunk")
        assert passing(socket, *HARMFUL, *wanted) == ["stop_script"] + ["backend_operation_request"] * 2
        socket.send_text("no bytes")
        socket.send_bytes(b"\xff not a message")
        assert passing(socket, "file_urls_request") == []
        sessions.shown[SESSION] = Visit("data")
        assert passing(socket, "file_urls_request") == ["file_urls_request"]


def test_before_a_login_only_the_page_itself_is_drawn(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Anna")
    with connect(site) as socket:
        opened(socket)
        assert passing(socket, *HARMFUL, "stop_script", "file_urls_request", "deferred_file", "dataframe_chunk") == []


def test_nothing_is_kept_of_a_page_that_is_closed(site: TestClient, engine: Engine, sessions: FakeSessions) -> None:
    make_person(engine, "Anna")
    folder = sessions.shown[SESSION].folder = TemporaryDirectory()
    with connect(site) as socket:
        opened(socket)
        assert sessions.closed == [] and Path(folder.name).exists()
    assert sessions.closed == [SESSION] and not Path(folder.name).exists()


def test_an_open_untouched_page_ends_with_its_login(site: TestClient, engine: Engine) -> None:
    person_id = make_person(engine, "Anna")
    log_in(site)
    with connect(site) as socket:
        assert COOKIE in opened(socket)["cookies"]
        assert passing(socket, "stop_script") == ["stop_script"]
        people.end_all_logins(engine, person_id, at())
        with pytest.raises(WebSocketDisconnect) as ended:
            socket.receive_text()
        assert ended.value.code == 1008


def test_an_open_page_begins_anew_when_rights_change(site: TestClient, engine: Engine) -> None:
    person_id, project = make_person(engine, "Anna"), make_project(engine, ["a", "b"])
    log_in(site)
    with connect(site) as socket:
        opened(socket)
        people.set_role_of(engine, person_id, project, Role.VIEWER, at(1))
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()
    with connect(site) as socket:
        assert COOKIE in opened(socket)["cookies"]


def test_a_page_without_login_sees_no_cookie(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Anna")
    site.cookies.set(COOKIE, "stale")
    site.cookies.set("other", "kept")
    with connect(site, Sec_WebSocket_Protocol="streamlit, xsrf, session-of-anna") as socket:
        seen = opened(socket)
        assert (seen["protocols"], seen["cookies"]) == ("streamlit, xsrf", {"other": "kept"})
    log_in(site)
    with connect(site, Sec_WebSocket_Protocol="streamlit, xsrf, session-of-ben") as socket:
        assert opened(socket)["protocols"] == "streamlit, xsrf"


def test_a_message_that_came_after_the_end_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    monkeypatch.setattr(sockets, "LOOK_EVERY", 0.05)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (came := await receive())["type"] != "websocket.disconnect":
            heard.append(came)

    async def run() -> None:
        sent: list[Any] = []
        messages = iter([{"type": "websocket.receive", "bytes": message("rerun_script")}])

        async def receive() -> Any:
            await asyncio.sleep(0.1)  # the login ended meanwhile
            return next(messages)

        async def send(message: Any) -> None:
            sent.append(message)

        await PageSocket(app, lambda: False, True, FakeSessions()).run({}, receive, send)
        assert sent == [{"type": "websocket.close", "code": 1008}]

    asyncio.run(run())
    assert heard == []


def test_no_part_of_a_page_that_was_left_is_drawn_into_the_next() -> None:
    heard: list[tuple[str, str]] = []

    def sent(message: ForwardMsg) -> Any:
        return {"type": "websocket.send", "bytes": message.SerializeToString()}

    def run_begins(page: str, *fragments: str) -> Any:
        message = ForwardMsg()
        message.new_session.page_script_hash = page
        message.metadata.run.fragment_ids.extend(fragments)
        return sent(message)

    def menu_of(page: str) -> Any:
        message = ForwardMsg()
        message.navigation.page_script_hash = page
        return sent(message)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (came := await receive())["type"] != "websocket.disconnect":
            request = BackMsg.FromString(came["bytes"]).rerun_script
            heard.append((request.page_script_hash, request.fragment_id))
            page = "label" if request.page_script_hash == "start" else request.page_script_hash
            await send(run_begins(page or "unknown", *filter(None, [request.fragment_id])))
            if not page:
                await send(menu_of("label"))

    requests = [("", ""), ("label", "card"), ("monitor", ""), ("label", "card"), ("monitor", "chart"),
                ("start", ""), ("start", "news"), ("label", "card")]  # fmt: skip
    messages = iter([
        *({"type": "websocket.receive", "bytes": message("rerun_script", page_script_hash=page, fragment_id=part)}
          for page, part in requests),
        {"type": "websocket.disconnect"},
    ])  # fmt: skip

    async def receive() -> Any:
        return next(messages)

    async def send(_: Any) -> None:
        pass

    asyncio.run(PageSocket(app, lambda: True, True, FakeSessions()).run({}, receive, send))
    late = 3, 6
    assert heard == [request for place, request in enumerate(requests) if place not in late]
