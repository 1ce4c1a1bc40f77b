"""Uploads: from whom, to which page, how much, and when they are gone."""

import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from allpairs.annotate.frame.web import uploads
from allpairs.annotate.frame.web.sessions import Visit
from tests.helpers.people import make_person
from tests.helpers.web import SESSION, FakeSessions, Open, log_in


@pytest.fixture
def signed_in(open_site: Open, engine: Engine, sessions: FakeSessions) -> TestClient:
    """Anna at the page Data; others have other pages open."""
    anna, ben = make_person(engine, "Anna"), make_person(engine, "Ben")
    sessions.shown = {
        SESSION: Visit("data", anna), "second": Visit("new_project", anna), "label": Visit("label", anna),
        "ben": Visit("data", ben),
    }  # fmt: skip
    site = open_site()
    log_in(site)
    return site


def put(site: TestClient, file: str, size: int, session: str = SESSION) -> int:
    return site.put(f"/_stcore/upload_file/{session}/{file}", content=b"x" * size).status_code


def test_files_go_to_ones_own_page_that_takes_files(signed_in: TestClient) -> None:
    assert put(signed_in, "1", 10) == 200
    assert [put(signed_in, "1", 10, session) for session in ("label", "ben", "unknown")] == [403] * 3
    assert signed_in.delete("/_stcore/upload_file/ben/1").status_code == 403
    assert signed_in.put("/_stcore/upload_file/x").status_code == 403


def test_one_person_holds_so_much_over_all_their_pages(
    signed_in: TestClient, sessions: FakeSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "LIMIT", 100)
    assert [put(signed_in, "1", 60), put(signed_in, "2", 60), put(signed_in, "2", 40, "second")] == [200, 413, 200]
    assert put(signed_in, "3", 1) == 413
    assert signed_in.delete(f"/_stcore/upload_file/{SESSION}/1").status_code == 200
    assert signed_in.delete(f"/_stcore/upload_file/{SESSION}/2?fail=1").status_code == 500  # it is still there
    assert put(signed_in, "4", 100) == 413 and put(signed_in, "3", 60) == 200
    sessions.shown["second"] = Visit("label", sessions.shown["second"].person)  # they went to another page
    assert put(signed_in, "4", 40) == 200


def test_an_upload_that_fails_or_says_no_length_counts_nothing(
    signed_in: TestClient, sessions: FakeSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "LIMIT", 100)
    assert signed_in.put(f"/_stcore/upload_file/{SESSION}/1?fail=1", content=b"x" * 90).status_code == 500
    assert signed_in.put(f"/_stcore/upload_file/{SESSION}/1", content=iter([b"x" * 90])).status_code == 411
    false = {"Content-Length": "1", "Transfer-Encoding": "chunked"}  # the pieces count, and are no end
    assert signed_in.put(f"/_stcore/upload_file/{SESSION}/1", content=b"x" * 90, headers=false).status_code == 400
    assert signed_in.post("/login", content=b"name=x", headers=false).status_code == 400
    assert put(signed_in, "1", 90) == 200 and sessions.dropped == []
    assert signed_in.put(f"/_stcore/upload_file/{SESSION}/1?fail=1", content=b"x" * 10).status_code == 500
    assert put(signed_in, "2", 20) == 413  # the first one stays


def test_a_file_that_comes_after_its_page_is_freed(signed_in: TestClient, sessions: FakeSessions) -> None:
    once = iter([sessions.shown[SESSION]])
    sessions.visit = lambda session: next(once, None)  # type: ignore[method-assign]
    assert put(signed_in, "1", 5) == 200 and sessions.dropped == [(SESSION, "1")]


def test_nothing_else_of_streamlit_answers(signed_in: TestClient) -> None:
    for address in ("/_stcore/metrics", "/_stcore/agent/mcp", "/_stcore/script-health-check", "/_stcore/x"):
        assert signed_in.get(address).status_code == 404
    for address in ("/_stcore/health", "/_stcore/host-config", "/_stcore/bidi-components/card/x.js"):
        assert signed_in.get(address).status_code == 200
