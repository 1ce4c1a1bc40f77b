"""Streamlit's empty frame at the address of each page of ours, told at once where the app is.

From a page's address alone the frame would have to try out where the app begins, and would be refused at first.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import streamlit
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from allpairs.annotate.web.security_headers import APP_SCRIPT, FRAME_SCRIPT

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"


def routes(pages: Iterable[str]) -> list[Route]:
    """Return the routes of the start page and of these pages."""
    answer = _answer(framed(INDEX.read_text(encoding="utf-8")))
    return [Route(f"/{page}", answer) for page in ("", *pages)]


def framed(index: str) -> str:
    """Return the frame with our script in place of Streamlit's, and our name."""
    return index.replace(FRAME_SCRIPT, APP_SCRIPT).replace("<title>Streamlit<", "<title>Allpairs<")


def _answer(frame: str) -> Callable[[Request], Response]:
    return lambda request: HTMLResponse(frame, headers={"Cache-Control": "no-cache"})
