"""Streamlit's empty frame at the address of each page of ours, told at once where the app is.

From a page's address alone the frame would have to try out where the app begins, and would be refused at first.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import streamlit
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from allpairs.annotate.web.security_headers import APP_SCRIPT, FRAME_SCRIPT

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
SCRIPTS = [Path(__file__).with_name(name) for name in ("history.js", "unsent_answers.js", "connection.js")]


def routes(pages: Iterable[str]) -> list[Route]:
    """Return the routes of the start page, of these pages, and of the scripts that all of them run."""
    answer = _answer(framed(INDEX.read_text(encoding="utf-8")))
    scripts = [Route(f"/{script.name}", _script(script)) for script in SCRIPTS]
    return [*scripts, *(Route(f"/{page}", answer) for page in ("", *pages))]


def framed(index: str) -> str:
    """Return the frame with our scripts, and our name."""
    own = "".join(f'<script type="module" src="/{script.name}"></script>' for script in SCRIPTS)
    named = index.replace(FRAME_SCRIPT, APP_SCRIPT).replace("<title>Streamlit<", "<title>Allpairs<")
    return named.replace("</head>", f"{own}</head>")


def _script(script: Path) -> Callable[[Request], Response]:
    return lambda request: FileResponse(script, headers={"Cache-Control": "no-cache"})


def _answer(frame: str) -> Callable[[Request], Response]:
    return lambda request: HTMLResponse(frame, headers={"Cache-Control": "no-cache"})
