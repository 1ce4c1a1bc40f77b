"""What a program that uses the client is told of its own mistakes, and of an app that does not answer."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from allpairs import Client, InputError
from allpairs.client import RemoteProject
from tests.helpers.machine import free_port


@pytest.fixture
def another_program() -> Iterator[str]:
    """Yield the address of a program that answers every request with a page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *about: object) -> None:
            return

    with HTTPServer(("localhost", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


def test_what_does_not_answer_as_the_app_is_one_error(another_program: str) -> None:
    for url in (another_program, f"http://localhost:{free_port()}", "http://local host"):
        with pytest.raises(ConnectionError, match="no app answers at"):
            Client(url, "token\n").projects()  # as a file of a token ends


def test_a_token_that_cannot_be_one_is_not_shown() -> None:
    with pytest.raises(InputError) as caught:
        Client(token="allpairs_sec\u2026ret")
    assert "sec" not in str(caught.value)


def test_a_text_is_no_list_of_ids() -> None:
    project = RemoteProject(Client(), 1, "Questions")
    with pytest.raises(InputError, match=r"list as ids.*\['12'\]"):
        project.withdraw_texts("12", dry_run=True)
    with pytest.raises(InputError, match="give a list"):
        project.match("a text")
