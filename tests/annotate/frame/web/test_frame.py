"""The addresses of pages: by file, by title, and wrong ones."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from allpairs.annotate.frame.web import frame
from allpairs.annotate.shell.menu import ENTRIES

PAGES = {entry.file: entry.title for entry in ENTRIES}


def address_of(client: TestClient, path: str) -> str:
    """Return the path and query that the browser ends at."""
    answer = client.get(path)
    assert answer.status_code == 200
    return str(answer.url).removeprefix(str(client.base_url))


@pytest.mark.parametrize("base", ["", "/pairs"])
def test_each_page_is_found_by_its_file_and_by_its_title(base: str) -> None:
    inner = [*frame.frame_routes(PAGES), Route("/{path:path}", lambda request: PlainTextResponse("Streamlit"))]
    client = TestClient(Starlette(routes=[Mount(base, routes=inner)] if base else inner))
    for page, title in PAGES.items():
        for name in (page, title, title.lower().replace(" ", "-"), f"{title}/"):
            assert address_of(client, f"{base}/{name}") == f"{base}/{page}", name
    assert address_of(client, f"{base}/export?project=A%20B&x=1") == f"{base}/data?project=A+B&x=1"
    assert address_of(client, f"{base}/no/such?project=A") == f"{base}/?project=A&missing=no%2Fsuch"
    # Browsers count each slash as a step; the client of these tests does not.
    for path, steps in {"//label": 1, "///label": 2, "/label//": 2, "/label/": 1}.items():
        answer = client.get(f"{client.base_url}{base}{path}", follow_redirects=False)
        assert answer.headers["location"] == "../" * steps + "label", path
    for path in ("/_stcore/health", "/favicon.png", "/media/1", "/static/a", "/oauth2callback"):
        assert client.get(base + path).text == "Streamlit", path
